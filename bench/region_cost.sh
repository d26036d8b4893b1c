#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a replayed region costs per pass: a process of 64 MiB that changes all of them in place, four passes.
# Prints, as medians of ROUNDS: preparing a copy (fork, copied pages, OpenMP threads), processor time of the
# region in the copies and in the program, page faults of a copy.
#   bench/region_cost.sh BUILD [ROUNDS]
set -u
build=${1:-build} rounds=${2:-9}
here=$(cd "$(dirname "$0")/.." && pwd)
case $build in /*) ;; *) build=$here/$build ;; esac
export RETALLY_DATA=${RETALLY_DATA:-$here/data} RETALLY_LIBRARY=$build/src/inject/libretally.so
[ -x "$build/tests/programs/region_c" ] || { echo "no $build/tests/programs/region_c: build first"; exit 0; }
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
"$build/tests/programs/make_plan" plan.json task-clock,page-faults task-clock task-clock task-clock
for r in $(seq "$rounds"); do
	"$build/src/cli/retally" run --replay range --plan plan.json -o "d$r" -- "$build/tests/programs/region_c" memory \
		>/dev/null 2>&1 || exit 1
	"$build/tests/programs/dump_spool" "d$r" >records
	awk '/^value [123] 0 / { print $4 }' records >>copies
	awk '/^value 4 0 / { print $4 }' records >>program
	awk '/^value 1 1 / { print $4 }' records >>faults
	"$build/src/cli/retally" report "d$r" --format json >/dev/null # the database
	sqlite3 "d$r/retally.db" 'SELECT save_ns / 3 FROM replay_window' >>save 2>/dev/null
done
median() { sort -n "$1" 2>/dev/null | awk '{ v[NR] = $1 } END { print NR ? v[int((NR + 1) / 2)] : "-" }'; }
echo "one copy, prepared:        $(median save) ns"
echo "region in a copy:          $(median copies) ns of processor time"
echo "region in the program:     $(median program) ns"
echo "page faults in a copy:     $(median faults)"
