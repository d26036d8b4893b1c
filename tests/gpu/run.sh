#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The programs of traps.cu under retally on this GPU: same output and status as without, with one pass and with
# several, in kernel, window and auto mode; every dispatch counted or declined by name. Needs a GPU, nvcc, and leave
# to read its counters.
#   tests/gpu/run.sh RETALLY OUT-DIR [MODE...]          CASES='surfaces slices': these alone
set -u
retally=$1 out=$2
shift 2
[ $# -gt 0 ] && modes=("$@") || modes=(window kernel auto)
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/gpu/lib.sh
. "$here/lib.sh"
mkdir -p "$out" && cd "$out" || exit 1
nvcc -O2 -arch=native -o traps "$here/traps.cu" -lcuda || exit 1
machine
many=$(counters | paste -sd,)
for name in ${CASES:-$(./traps list)}; do
	timeout 60 ./traps "$name" >"$name.plain"
	plain=$?
	for mode in "${modes[@]}"; do
		for list in smsp__inst_executed.sum "$many"; do
			case $list in *,*) passes=many ;; *) passes=one ;; esac
			run=$name.$mode.$passes
			rm -rf "$run"
			timeout 120 "$retally" run --source cuda -e "$list" --replay "$mode" -o "$run" -- ./traps "$name" >"$run.out" 2>"$run.err"
			status=$?
			[ $status = $plain ] && cmp -s "$name.plain" "$run.out"
			check $? "$name, $mode, $passes: same output and status ($status)"
			accounted "$run"
			check $? "$name, $mode, $passes: $accounted"
		done
	done
done
ended
