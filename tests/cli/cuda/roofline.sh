#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# NVIDIA's set `roofline` from the command to the page: ceilings and marks are what one gets by hand from what the
# stand-in's kernels do (tests/standins/cuda/gpu.c) and its chip can do in a cycle (metrics.c).
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
command -v python3 >/dev/null || skip_all 'no python3'
export PYTHONDONTWRITEBYTECODE=1
exits 0 'planned' "$retally" plan --source cuda --set roofline --count
like "$(cat out)" '^[2-9]$' 'several passes'
"$traps" update >want
for mode in window kernel; do
	rm -rf o "$RETALLY_STANDIN_LOG"
	timeout 200 "$retally" run --source cuda --set roofline --replay "$mode" -o o -- "$traps" update >out 2>err
	same $? want "$mode"
	clean "$mode"
	like "$(cat err)" ' ([0-9]+) of \1 passes, ([0-9]+) of \2 counters' "$mode: nothing is missing"
	"$retally" report o --format html >page.html
	"$retally" report o --format json >report.json
	# update(a, 5000) on 20 x 256 threads: 5000 loads and stores, 5120 threads; so 2 * 10000 + 5120 = 25120 instructions,
	# 1000 + 25120 / 4 = 7280 cycles, 3640 ns. Two cycles of an SM and three of the memory pass in a nanosecond.
	# 64 bits: additions = loads, products = 2 * loads, both at once = 3 * loads, and so on. 2 * 625 sectors of 32 bytes.
	# Peaks in a cycle: 4 SMs * 64, 128, 256 of both at once, which are two operations each; 48 bytes.
	python3 "$RETALLY_SOURCE/tests/cli/report/roofline.py" page.html update >lines
	is "$(cat lines)" "64-bit floats|1024 GFLOP/s|measured
32-bit floats|2048 GFLOP/s|measured
16-bit floats|4096 GFLOP/s|measured
Device memory|144 GB/s|measured
64-bit floats|$(awk 'BEGIN { r = (5000 + 10000 + 2 * 15000) / 7280 * 2; printf "%.6g", r }')
32-bit floats|$(awk 'BEGIN { r = (25000 + 35000 + 2 * 55000) / 7280 * 2; printf "%.6g", r }')
16-bit floats|$(awk 'BEGIN { r = (13 + 17 + 2 * 19) * 5120 / 7280 * 2; printf "%.6g", r }')
Device memory|$(awk 'BEGIN { printf "%.6g", 40000 / 3640 }')" "$mode: ceilings and marks of the page are those by hand"
	python3 - report.json >values <<'END'
import json, sys
rows = {v["name"]: v["value"] for v in json.load(open(sys.argv[1]))["values"] if v["kernel"] == "update"}
sass = "smsp__sass_thread_inst_executed_op_%s_pred_on.sum.per_cycle_elapsed"
for name in [sass % op for op in ("dadd", "dmul", "dfma", "fadd", "fmul", "ffma", "hadd", "hmul", "hfma")]:
    print("%.6g" % (rows[name] * 7280))
for name in ("smsp__cycles_elapsed.avg.per_second", "dram__cycles_elapsed.avg.per_second", "dram__bytes.sum.per_second",
             "dram__bytes.sum.peak_sustained", "sm__sass_thread_inst_executed_op_dfma_pred_on.sum.peak_sustained"):
    print("%.6g" % rows[name])
END
	is "$(tr '\n' ' ' <values)" '5000 10000 15000 25000 35000 55000 66560 87040 97280 2e+09 3e+09 1.0989e+10 48 256 ' \
		"$mode: the counters of the report as JSON, too"
done
# Without the peaks a ceiling is no limit of the hardware, and is not called one.
run o dram__bytes.sum.per_second --replay window -- "$traps" update
"$retally" report o --format html >page.html
like "$(python3 "$RETALLY_SOURCE/tests/cli/report/roofline.py" page.html)" '^Device memory\|GB/s\|the highest of this run$' \
	'without counters of the peak there is none'
done_testing
