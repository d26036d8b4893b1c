#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What it costs to run a program under retally: a plan of one pass, of `true`, against `perf stat true`
# with the same two software events (the aim is a ratio of at most 2), and against `true` alone.
#   bench/run_overhead.sh BUILD [ROUNDS]
# Rounds alternate, so that whatever else the machine does meets all alike; medians are printed.
set -u
build=${1:-build} rounds=${2:-101}
here=$(cd "$(dirname "$0")/.." && pwd)
case $build in /*) ;; *) build=$here/$build ;; esac
driver=$build/tests/programs/run_driver
retally=$build/src/cli/retally
export RETALLY_DATA=${RETALLY_DATA:-$here/data}
[ -x "$driver" ] || { echo "no $driver: build first"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
true=$(command -v -p env >/dev/null && PATH=/usr/bin:/bin type -P true)
measure() { # NAME COMMAND...: one time in microseconds, appended to NAME
	local name=$1 begin end
	shift
	begin=${EPOCHREALTIME/./}
	"$@" >/dev/null 2>&1
	end=${EPOCHREALTIME/./}
	echo $((end - begin)) >>"$name"
}
median() { sort -n "$1" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)]}'; }
for _ in $(seq "$rounds"); do
	measure alone "$true"
	if command -v perf >/dev/null; then measure perf perf stat -e task-clock,page-faults "$true"; fi
	measure supervisor "$driver" -o supervisor.d "$true"
	rm -rf supervisor.d retally.d
	if [ -x "$retally" ]; then measure retally "$retally" run -e task-clock,page-faults -o retally.d -- "$true"; fi
done
for name in alone perf supervisor retally; do
	[ -s $name ] || continue
	printf '%-11s %6d us' "$name" "$(median $name)"
	if [ -s perf ] && [ $name != perf ]; then
		awk -v a="$(median $name)" -v b="$(median perf)" 'BEGIN {printf "   %.2f of perf stat", a / b}'
	fi
	echo
done
