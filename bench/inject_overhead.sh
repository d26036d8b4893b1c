#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What libretally.so costs a program: `true`, many times, without it, with it but no plan, and with plans of one
# software counter and 1, 2 and 4 passes. Milliseconds a run; a pass includes the run of the program itself.
# usage: inject_overhead.sh BUILD [RUNS]
set -u
build=$(cd "$1" && pwd)
runs=${2:-200}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work" || exit 1
program=$(type -P true)
measure() { # NAME COMMAND...
	local name=$1 begin end i
	shift
	begin=$(date +%s%N)
	for ((i = 0; i < runs; i++)); do "$@"; done
	end=$(date +%s%N)
	rm -rf true.retally
	awk -v name="$name" -v ns=$((end - begin)) -v n="$runs" 'BEGIN { printf "%-28s %8.3f ms\n", name, ns / n / 1e6 }'
}
library=$build/src/inject/libretally.so
measure 'true' "$program"
measure 'env true' env "$program"
measure 'preloaded, no plan' env LD_PRELOAD="$library" "$program"
passes=
for n in 1 2 4; do
	while [ "$(wc -w <<<"$passes")" -lt $n ]; do passes="$passes page-faults"; done
	# shellcheck disable=SC2086 # a list of words
	"$build/tests/programs/make_plan" plan$n.json $passes
	measure "plan of $n" env LD_PRELOAD="$library" RETALLY_PLAN=plan$n.json RETALLY_OUT=true.retally "$program"
done
