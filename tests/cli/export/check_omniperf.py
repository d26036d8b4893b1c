#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Is a directory one that `rocprof-compute analyze -p` reads as it is meant?

Written from the rules of docs/export.md, not from the exporter. Prints each violated rule as
"RULE: sentence" and exits 1; exits 0 and prints the form when there is none.
"""
import csv
import os
import re
import sys

SYSINFO = """version gpu_arch ip_blocks se_per_gpu pipes_per_gpu cu_per_gpu simd_per_cu sqc_per_gpu
lds_banks_per_cu cur_sclk cur_mclk max_sclk max_mclk max_waves_per_cu num_hbm_channels
total_l2_chan num_xcd wave_size""".split()
HEAD = """Dispatch_ID GPU_ID Grid_Size Workgroup_Size LDS_Per_Workgroup Scratch_Per_Workitem
Arch_VGPR Accum_VGPR SGPR Kernel_Name Start_Timestamp End_Timestamp""".split()
LONG = HEAD + ["Kernel_ID", "Counter_Name", "Counter_Value"]
ARCHS = ["gfx908", "gfx90a", "gfx940", "gfx941", "gfx942", "gfx950"]
LEVELS = """SQ_IFETCH_LEVEL SQ_INST_LEVEL_LDS SQ_INST_LEVEL_SMEM SQ_INST_LEVEL_VMEM SQ_LEVEL_WAVES
SQC_DCACHE_INFLIGHT_LEVEL""".split()
# Read as "no value" where a name stands.
NO_VALUE = {"", "NA", "N/A", "n/a", "nan", "NaN", "-nan", "-NaN", "NULL", "null", "None", "<NA>", "#N/A"}
SUMMED = re.compile(r"^(TA|TD|TCP|TCC|TCA)_")
bad = 0


def fail(rule, text):
    global bad
    bad += 1
    print(f"{rule}: {text}")


def read(path):
    with open(path, newline="", encoding="utf-8") as f:
        rows = list(csv.reader(f))
    if not rows:
        fail("empty-file", path)
        return [], []
    for i, r in enumerate(rows[1:], 2):
        if len(r) != len(rows[0]):
            fail("ragged-row", f"{path}:{i} has {len(r)} fields, the header {len(rows[0])}")
    if len(set(rows[0])) != len(rows[0]):
        twice = sorted({c for c in rows[0] if rows[0].count(c) > 1})
        fail("column-twice", f"{path}: {', '.join(twice[:3])}")
    return rows[0], [dict(zip(rows[0], r)) for r in rows[1:]]


def is_number(text):
    try:
        return float(text) == float(text)
    except ValueError:
        return False


def check_sysinfo(path):
    if not os.path.exists(path):
        fail("sysinfo-missing", path)
        return
    head, rows = read(path)
    if len(rows) != 1:
        fail("sysinfo-one-row", f"{path} has {len(rows)} rows")
        return
    for name in SYSINFO:
        if name not in head or rows[0].get(name, "") in NO_VALUE:
            fail("sysinfo-column", f"{name} is missing")
    for name in SYSINFO[3:]:
        if name in head and not (is_number(rows[0][name]) and float(rows[0][name]) > 0):
            fail("sysinfo-number", f"{name} is '{rows[0][name]}'")
    if rows[0].get("gpu_arch") not in ARCHS:
        fail("sysinfo-arch", f"'{rows[0].get('gpu_arch')}' has no analysis")
    if "SQ" not in rows[0].get("ip_blocks", "").split("|"):
        fail("sysinfo-blocks", "ip_blocks is a list with bars between")


def check_row(where, r):
    for name in HEAD:
        if name == "Kernel_Name":
            if r.get(name, "") in NO_VALUE:
                fail("kernel-name", f"{where}: '{r.get(name)}' reads as no value")
        elif not is_number(r.get(name, "")):
            fail("head-value", f"{where}: {name} is '{r.get(name)}'")
    if is_number(r.get("Start_Timestamp", "")) and is_number(r.get("End_Timestamp", "")):
        if float(r["End_Timestamp"]) < float(r["Start_Timestamp"]):
            fail("time-order", f"{where} ends before it starts")
    if is_number(r.get("Grid_Size", "")) and is_number(r.get("Workgroup_Size", "")):
        if float(r["Workgroup_Size"]) < 1 or float(r["Grid_Size"]) % float(r["Workgroup_Size"]):
            fail("grid-items", f"{where}: Grid_Size is in work-items, a multiple of Workgroup_Size")


def check_ids(where, rows):
    ids = [r.get("Dispatch_ID") for r in rows]
    if ids != [str(i) for i in range(len(ids))]:
        fail("dispatch-id", f"{where}: not 0, 1, 2, ... with one row a dispatch")


def check_names(where, names):
    for name in names:
        if SUMMED.match(name) and not name.endswith("_sum") and not re.search(r"\[\d+\]$", name):
            fail("counter-name", f"{where}: {name} is NAME_sum or NAME[channel] there")
    channels = {}
    for name in names:
        m = re.match(r"(.*)\[(\d+)\]$", name)
        if m:
            channels.setdefault(m[1], set()).add(int(m[2]))
    for name, seen in channels.items():
        if seen != set(range(len(seen))):
            fail("channels", f"{where}: {name} lacks channels below {max(seen)}")


def check_active(where, values):
    if any(is_number(v) and float(v) == 0 for v in values):
        fail("idle-dispatch", f"{where}: GRBM_GUI_ACTIVE is 0, at which the analysis stops")


def check_wide(directory, head, rows):
    where = "pmc_perf.csv"
    for name in HEAD:
        if name not in head:
            fail("head-column", f"{where}: {name} is missing")
    check_ids(where, rows)
    names = [c for c in head if c not in HEAD]
    check_names(where, names)
    for i, r in enumerate(rows):
        check_row(f"{where}:{i + 2}", r)
        for c in names:
            if r.get(c, "") != "" and not is_number(r[c]):
                fail("counter-value", f"{where}:{i + 2}: {c} is '{r[c]}'")
    if not any(all(v not in NO_VALUE for v in r.values()) for r in rows):
        fail("no-whole-row", f"{where} has no row without an empty cell")
    check_active(where, [r.get("GRBM_GUI_ACTIVE", "1") for r in rows])
    for f in sorted(os.listdir(directory)):
        if f.startswith("SQ") and f.endswith(".csv"):
            check_level(directory, f, rows)


def check_level(directory, f, rows):
    if f[:-4] not in LEVELS:
        fail("level-name", f"{f} is no level counter with a formula")
    head, own = read(os.path.join(directory, f))
    if "SQ_ACCUM_PREV_HIRES" not in head:
        fail("accumulator", f"{f} has no SQ_ACCUM_PREV_HIRES")
    for name in HEAD:
        if name not in head:
            fail("head-column", f"{f}: {name} is missing")
    if len(own) != len(rows):
        fail("row-count", f"{f} has {len(own)} rows, pmc_perf.csv {len(rows)}: dispatches vanish")
    for i, (a, b) in enumerate(zip(own, rows)):
        if any(a.get(c) != b.get(c) for c in ("Dispatch_ID", "Kernel_Name", "Grid_Size", "GPU_ID")):
            fail("row-order", f"{f}:{i + 2} is another dispatch than that row of pmc_perf.csv")
            break
    check_names(f, [c for c in head if c not in HEAD])


def check_long(directory, head, rows):
    where = "pmc_perf.csv"
    for name in LONG:
        if name not in head:
            fail("head-column", f"{where}: {name} is missing")
    config = os.path.join(directory, "profiling_config.yaml")
    text = open(config, encoding="utf-8").read() if os.path.exists(config) else ""
    if not re.search(r"^format_rocprof_output: *rocpd *$", text, re.M):
        fail("long-config", "profiling_config.yaml does not say format_rocprof_output: rocpd")
    seen, last, names = {}, {}, set()
    for i, r in enumerate(rows):
        check_row(f"{where}:{i + 2}", r)
        key = (r.get("Dispatch_ID"), r.get("Counter_Name"))
        if key in seen:
            fail("counter-twice", f"{where}:{i + 2}: {key[1]} of dispatch {key[0]}; the last would win")
        seen[key] = True
        names.add(r.get("Counter_Name", ""))
        if not is_number(r.get("Counter_Value", "")):
            fail("counter-value", f"{where}:{i + 2}: '{r.get('Counter_Value')}'")
        group = tuple(r.get(c) for c in ("Kernel_Name", "Grid_Size", "Workgroup_Size", "LDS_Per_Workgroup"))
        if last.setdefault(r.get("Dispatch_ID"), group) != group:
            fail("dispatch-id", f"{where}:{i + 2}: dispatch {r.get('Dispatch_ID')} is two kernels")
    check_names(where, sorted(names))
    if "SQ_ACCUM_PREV_HIRES" in names:
        fail("accumulator", "the long form has NAME_ACCUM, not SQ_ACCUM_PREV_HIRES")
    check_active(where, [r["Counter_Value"] for r in rows if r.get("Counter_Name") == "GRBM_GUI_ACTIVE"])
    if any(f.startswith("SQ") and f.endswith(".csv") for f in os.listdir(directory)):
        fail("long-level", "the long form has no SQ*.csv")


def main(directory):
    for where, dirs, files in os.walk(directory):
        for f in files:
            if where != directory and (f == "pmc_perf.csv" or (f.startswith("SQ") and f.endswith(".csv"))):
                fail("sub-directory", f"{where}/{f} would be read, too")
            if f == "timestamps.csv":
                fail("timestamps", "its times overwrite those of all files by row")
    check_sysinfo(os.path.join(directory, "sysinfo.csv"))
    path = os.path.join(directory, "pmc_perf.csv")
    if not os.path.exists(path):
        fail("pmc-missing", path)
        return "no"
    head, rows = read(path)
    if not rows:
        fail("no-rows", path)
    if "Counter_Name" in head:
        check_long(directory, head, rows)
        return "long"
    if os.path.exists(os.path.join(directory, "profiling_config.yaml")):
        text = open(os.path.join(directory, "profiling_config.yaml"), encoding="utf-8").read()
        if "rocpd" in text:
            fail("wide-config", "profiling_config.yaml says rocpd, the file is wide")
    check_wide(directory, head, rows)
    return "wide"


form = main(sys.argv[1])
if not bad:
    print(f"{form} form, no rule violated")
sys.exit(bad != 0)
