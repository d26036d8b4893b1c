#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ranges of a PyTorch program on this GPU, as units of --replay range and as the filter --range: same output, as many
# rows as the program has ranges or kernels in them, and the same instructions whichever way they are counted. Needs a
# GPU, PyTorch, and leave to read its counters.
#   tests/gpu/ranges.sh RETALLY OUT-DIR
set -u
retally=${1:?use: tests/gpu/ranges.sh RETALLY OUT-DIR} out=${2:?the directory for what it leaves}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/gpu/lib.sh
. "$here/lib.sh"
mkdir -p "$out" && cd "$out" || exit 1
machine_torch || exit 1
counters=smsp__inst_executed.sum,sm__cycles_active.avg,gpu__time_duration.sum
timeout 120 python3 "$here/ranges.py" >plain
check $? 'runs without retally'
counted() { # RUN OPTION...: same output, and the rows into RUN.csv
	local run=$1
	shift
	rm -rf "$run"
	timeout 120 "$retally" run --source cuda -e "$counters" "$@" -o "$run" -- python3 "$here/ranges.py" >"$run.out" 2>"$run.err"
	check $? "$run: ends with status 0"
	[ -s plain ] && cmp -s plain "$run.out"
	check $? "$run: same output"
	"$retally" report "$run" --by dispatch --format csv --wide >"$run.csv" 2>/dev/null
}
rows() { # RUN [NAME]: how many, and the sum of their instructions
	python3 -c 'import csv, sys
rows = [r for r in csv.DictReader(open(sys.argv[1])) if not sys.argv[2] or r["kernel"] == sys.argv[2]]
values = [r["smsp__inst_executed.sum"] for r in rows]
print(len(rows), "" if "" in values else sum(map(float, values)))' "$1.csv" "${2:-}"
}
compare() { # RUN RUN NAME: the kernels of the first have together the instructions of the second's ranges
	local kernels ranges
	kernels=$(rows "$1") ranges=$(rows "$2" "$3")
	[ -n "${kernels#* }" ] && [ "${kernels%% *}" -gt 0 ] && [ "${kernels#* }" = "${ranges#* }" ]
	check $? "$1 against $2: ${kernels% *} kernels, ${kernels#* } instructions; ${ranges% *} ranges, ${ranges#* }"
}
counted units --replay range
check "$([ "$(rows units step | cut -d' ' -f1)/$(rows units other | cut -d' ' -f1)/$(rows units cuProfilerStart | cut -d' ' -f1)" = 2/2/1 ]; echo $?)" \
	'units: two steps, two others, one of the profiler'
counted step --replay range --range exact:step
check "$([ "$(rows step | cut -d' ' -f1)/$(rows step step | cut -d' ' -f1)" = 2/2 ]; echo $?)" 'step: nothing but the two steps'
for mode in window kernel; do
	counted "$mode-step" --replay $mode --range exact:step
	compare "$mode-step" step step
	counted "$mode-profiler" --replay $mode --range cuProfilerStart
	compare "$mode-profiler" units cuProfilerStart
done
ended
