# SPDX-License-Identifier: Apache-2.0
"""How long a browser needs to open HTML reports, from the start of the navigation to the load event (all
scripts have run by then) and to the frame after it; and the CPU time of the page's thread, which other work on the
machine changes less. usage: html_load.py RUNS FILE..."""
import os
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests", "browser"))
sys.dont_write_bytecode = True
import devtools

runs = int(sys.argv[1])
for path in sys.argv[2:]:
    load, frame, search, cpu = [], [], [], []
    for _ in range(runs):
        browser = devtools.Browser()
        try:
            browser.size(1280)
            browser.send("Performance.enable", timeDomain="threadTicks")
            browser.open(path)
            cpu.append(1000 * next(m["value"] for m in browser.send("Performance.getMetrics")["metrics"] if m["name"] == "TaskDuration"))
            frame.append(browser.run("new Promise(f => requestAnimationFrame(() => requestAnimationFrame(() => f(performance.now()))))"))
            load.append(browser.run("performance.getEntriesByType('navigation')[0].loadEventEnd"))
            search.append(browser.run("""(() => { const i = document.getElementById('search-dispatches'), t = performance.now();
                i.value = 'kernel_7<'; i.dispatchEvent(new Event('input')); return performance.now() - t; })()"""))
            size = browser.run("[dispatches.n, performance.memory ? performance.memory.usedJSHeapSize : 0]")
        finally:
            browser.close()
    print(f"{os.path.basename(path)}: {os.path.getsize(path) / 1e6:.1f} MB, {size[0]} dispatches, heap {size[1] / 1e6:.0f} MB; "
          f"thread of the page {statistics.median(cpu):.0f} ms of CPU ({min(cpu):.0f} to {max(cpu):.0f}), load event {statistics.median(load):.0f} ms (median of {runs}; {min(load):.0f} to {max(load):.0f}), "
          f"then drawn {statistics.median(frame):.0f} ms, search of all rows {statistics.median(search):.0f} ms", flush=True)
