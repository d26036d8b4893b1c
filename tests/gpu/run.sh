#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The programs of traps.cu, traps_launches.cu and traps_shared.cu under retally on this GPU: same output and status as
# without, with one pass and with several, in kernel, window and auto mode; every dispatch counted or declined by name.
# Needs a GPU, nvcc, and leave to read its counters.
#   tests/gpu/run.sh RETALLY OUT-DIR [MODE...]
# From the environment: CASES='traps:slices traps_shared:exported', these alone; PASSES=one or PASSES=many, that alone.
set -u
retally=${1:?use: tests/gpu/run.sh RETALLY OUT-DIR} out=${2:?the directory for what it leaves}
shift 2
[ $# -gt 0 ] && modes=("$@") || modes=(window kernel auto)
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/gpu/lib.sh
. "$here/lib.sh"
mkdir -p "$out" && cd "$out" || exit 1
machine
programs=(traps traps_launches traps_shared)
for program in "${programs[@]}"; do
	nvcc -O2 -arch=native -o "$program" "$here/$program.cu" -lcuda || exit 1
done
many=$(counters | paste -sd,)
all=$(for program in "${programs[@]}"; do "./$program" list | sed "s/^/$program:/"; done)
for one in ${CASES:-$all}; do
	program=${one%%:*} name=${one#*:}
	timeout 60 "./$program" "$name" >"$name.plain"
	plain=$?
	for mode in "${modes[@]}"; do
		for passes in ${PASSES:-one many}; do
			case $passes in one) list=smsp__inst_executed.sum ;; *) list=$many ;; esac
			run=$name.$mode.$passes
			rm -rf "$run"
			timeout 120 "$retally" run --source cuda -e "$list" --replay "$mode" -o "$run" -- "./$program" "$name" >"$run.out" 2>"$run.err"
			status=$?
			[ $status = $plain ] && cmp -s "$name.plain" "$run.out"
			check $? "$name, $mode, $passes: same output and status ($status)"
			accounted "$run"
			check $? "$name, $mode, $passes: $accounted"
		done
	done
done
ended
