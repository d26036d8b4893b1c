#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the report says of replays, for each source and mode: dispatches, passes, what was declined and why, bytes
# saved and restored, times of dispatches and windows, cost against the plain run. All sums must agree
# (check_accounts.py), and the numbers are those that follow from the programs, whose memory is known.
# shellcheck disable=SC1091,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
check=$RETALLY_SOURCE/tests/cli/report/check_accounts.py
export POCL_CACHE_DIR=$sandbox/pocl
mkdir pocl
# NAME PASSES[xREPEATS] KEYS OPTION... -- PROGRAM...
account() {
	local name=$1 passes=$2 keys=$3 options=()
	shift 3
	while [ "$1" != -- ]; do options+=("$1") && shift; done
	shift
	rm -rf r
	"$@" >plain 2>/dev/null
	exits 0 "$name: ends well" timeout 120 "$retally" run "${options[@]}" -o r -- "$@"
	cmp -s plain out
	ok $? "$name: same output"
	"$retally" report r >report.txt
	"$retally" report r --format json >report.json
	"$retally" report r --by dispatch --long --format csv >dispatches.csv
	"$retally" report r --by reason --format csv >reasons.csv
	# shellcheck disable=SC2086
	is "$(/usr/bin/python3 "$check" report.json dispatches.csv reasons.csv report.txt "$passes" $keys 2>&1)" '' "$name: all sums agree"
}

# sim: nine rounds, every fourth waits, of update (16384 bytes in place), vector_add (reads that and as much, writes as
# much) and walk (528 bytes in place); four passes. What is written is saved before and after; vector_add only writes,
# so that nothing of its is put back.
sim=("$programs/sim_program" 8 return)
written=$((16384 + 16384 + 528)) in_place=$((16384 + 528))
account 'sim, kernel' 4 "dispatches=27 replayed=27 in_windows=27 windows=27 live=0 declined=0 uncounted=0 \
	reach=$((9 * (16384 + 3 * 16384 + 528))) saved=$((9 * 2 * written)) restored=$((9 * 4 * in_place)) spared=$((9 * 4 * 16384))" \
	--source sim --replay kernel -- "${sim[@]}"
account 'sim, window' 4 "dispatches=27 replayed=27 in_windows=27 windows=3 live=0 declined=0 uncounted=0 \
	reach=$((3 * (3 * 16384 + 528))) saved=$((3 * 2 * written)) restored=$((3 * 4 * in_place)) spared=$((3 * 4 * 16384))" \
	--source sim --replay window --verify never -- "${sim[@]}"
account 'sim, auto' 4 'dispatches=27 replayed=27 in_windows=27 live=0 declined=0 uncounted=0' --source sim --replay auto -- "${sim[@]}"
account 'sim, none' 4 'dispatches=27 replayed=0 windows=0 live=27 declined=0 uncounted=0 saved=0' --source sim --replay none -- "${sim[@]}"
account 'sim, range' 4 "dispatches=8 replayed=8 in_windows=24 windows=8 live=0 declined=0 uncounted=0 \
	saved=$((8 * 2 * written)) restored=$((8 * 4 * in_place)) spared=$((8 * 4 * 16384))" \
	--source sim --replay range -- "$programs/sim_program" 8 range
account 'sim, --repeat' 4x2 "dispatches=27 replayed=27 passes=$((3 * 4 * 2)) restored=$((3 * 2 * 4 * in_place))" \
	--source sim --replay window --verify never --repeat 2 -- "${sim[@]}"
account 'sim, --window' 4 "dispatches=27 replayed=27 in_windows=27 windows=$((6 + 6 + 2))" --source sim --replay window --window 2 -- "${sim[@]}"
account 'sim, --max-snapshot' 4 "replayed=9 declined=18 uncounted=0 live=18 saved=$((9 * 2 * 528)) restored=$((9 * 4 * 528))" \
	--source sim --replay kernel --max-snapshot 2K -- "${sim[@]}"
like "$(cat report.txt)" '9 +update +one pass each, live +more than --max-snapshot to save' 'sim, --max-snapshot: why, in the report'
account 'sim, a filter' 4 "dispatches=9 replayed=9 windows=9 saved=$((9 * 2 * 528))" --source sim --replay kernel -k walk -- "${sim[@]}"

# OpenCL: three times grow (16384 bytes in place) and add (reads these, changes as much), three passes after one that
# warms up. Five regions, one inside another, are counted beside them as they run, in one pass each.
"$programs/make_plan" plan.json page-faults task-clock context-switches
if [ -x "$programs/opencl_ranges" ] && "$programs/opencl_ranges" >/dev/null 2>&1; then
	opencl=("$programs/opencl_ranges")
	a=16384
	account 'OpenCL, kernel' 3 "dispatches=11 replayed=6 in_windows=6 windows=6 live=5 declined=4 uncounted=0 \
		reach=$((3 * 3 * a)) saved=$((3 * (2 + 3) * a)) restored=$((3 * 2 * 4 * a)) spared=$((3 * 4 * a))" \
		--plan plan.json --replay kernel -- "${opencl[@]}"
	account 'OpenCL, window' 3 "dispatches=11 replayed=6 in_windows=6 windows=3 live=5 declined=4 uncounted=0 \
		reach=$((3 * 2 * a)) saved=$((3 * 4 * a)) restored=$((3 * 2 * 4 * a)) spared=0" \
		--plan plan.json --replay window -- "${opencl[@]}"
	# The second of three pairs ends where "inner" begins, around its add.
	account 'OpenCL, range' 3 "dispatches=5 replayed=4 in_windows=6 windows=4 live=1 declined=1 uncounted=0 \
		saved=$((2 * 4 * a + (2 + 3) * a)) restored=$((2 * 2 * 4 * a + 2 * 4 * a)) spared=$((4 * a))" \
		--plan plan.json --replay range -- "${opencl[@]}"
	like "$(cat report.txt)" 'marks are ranges of the OpenCL device' 'OpenCL, range: the report says whose the marks are'
	account 'OpenCL, none' 3 'dispatches=11 replayed=0 windows=0 live=11 declined=0 uncounted=0 saved=0' --plan plan.json --replay none -- \
		"${opencl[@]}"
	account 'OpenCL, declined' 3 'replayed=9 declined=7 uncounted=0 live=7' --plan plan.json --replay window -- \
		"$programs/opencl_shared" argument pointers
	account 'OpenCL, auto, which is application mode' 3 'dispatches=15 replayed=0 windows=0 live=15 declined=0' --plan plan.json --replay auto -- \
		"${opencl[@]}"
else
	skip 'no OpenCL device' 'OpenCL'
fi

# Regions: a copy of the process for every pass but the last. (Its size is the process's; nothing is put back.)
account 'region, range' 3 'dispatches=2 replayed=2 in_windows=2 windows=2 live=0 declined=0 restored=0' --plan plan.json --replay range -- \
	"$programs/region_c" memory
is "$(/usr/bin/python3 -c 'import json; w = json.load(open("report.json"))["windows"]
print(sum(x["saved_bytes"] - 2 * x["reach_bytes"] for x in w), all(x["reach_bytes"] for x in w))')" '0 True' \
	'region, range: a copy for each of two passes was made'
account 'region, range, one in another' 3 'dispatches=6 replayed=6 in_windows=3 windows=3 live=0 declined=0' --plan plan.json \
	--replay range -- "$programs/region_c" plain
account 'region, declined' 3 'dispatches=4 replayed=0 windows=0 live=4 declined=4 uncounted=0' --plan plan.json --replay range -- \
	"$programs/region_c" output
like "$(cat report.txt)" 'one pass each, live +it makes the system call' 'region, declined: why, in the report'
account 'region, application mode' 3 'dispatches=18 live=18 replayed=0 windows=0 declined=0' --plan plan.json -- "$programs/region_c" plain
done_testing
