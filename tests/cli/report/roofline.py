#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The roofline of a page as lines of text, for tests: roofline.py PAGE [KERNEL [done]].
A line for each ceiling, TITLE|PEAK UNIT|where the peak is from, then one for each mark of KERNEL, TITLE|RATE. With `done`
behind KERNEL the rate is multiplied by its mean time in ns, as the page's table of kernels has it: what was done."""
import json
import sys


def document(path):
    text = open(path, encoding="utf-8").read()
    begin = text.index(">", text.index('<script type="application/json" id="document"')) + 1
    return json.loads(text[begin:text.index("</script>", begin)])


def cells(table, name):
    """Those of a column (docs/report.md)."""
    column = next(c for c in table["columns"] if c["id"] == name)
    values = column["cells"] if "cells" in column else [column["all"]] * table["n"]
    if column["type"] == "string":
        values = [None if v is None else table["strings"][v] for v in values]
    return values


def main():
    page = document(sys.argv[1])
    for line in page["roofline"]:
        if line["peak"] is None:
            source, peak = "the highest of this run", ""
        else:
            source, peak = "measured" if line["measured"] else "chip file", "%.9g " % line["peak"]
        print("%s|%s%s|%s" % (line["title"], peak, line["unit"], source))
    if len(sys.argv) < 3:
        return
    times = dict(zip(cells(page["kernels"], "kernel"), cells(page["kernels"], "mean_ns")))
    for line in page["roofline"]:
        for group, rate in line["kernels"]:
            if page["groups"][group][0] == sys.argv[2]:
                times_ns = times[sys.argv[2]] if sys.argv[3:] == ["done"] else 1
                print("%s|%.6g" % (line["title"], rate * times_ns))


main()
