#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Regions of a process whose devices are replayed meanwhile, or counted live: what each counts is what the program did in
# it, exactly, with the kernels of devices and without their replays. Uprobes count calls of the host's work(), groups
# that an OpenCL CPU device ran, and kernels that the simulated device ran.
# shellcheck disable=SC1091,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/region/region.sh" || exit 99
export POCL_CACHE_DIR=$sandbox/pocl
mkdir pocl
# SYMBOL OBJECT NAME: NAME+OBJECT+OFFSET, or nothing. Its code is at the same offset in the file as in memory.
probe_at() {
	local at
	at=$({ nm "$2" || true; nm -D "$2"; } 2>/dev/null | sed -n "s/^\([0-9a-f]*\) [tT] $1\$/\1/p" | head -1)
	[ -n "$at" ] && printf "%s+%s+0x%x\n" "$3" "$2" $((16#$at))
}
# OPTION... -- PROGRAM...: plain.out, out, rc, records, dir
beside() {
	local options=()
	runs=$((runs + 1))
	dir=$sandbox/run-$runs.retally
	while [ "$1" != -- ]; do options+=("$1") && shift; done
	shift
	"$@" >plain.out 2>/dev/null
	plain_rc=$?
	timeout 120 "$retally" run --plan plan.json -o "$dir" "${options[@]}" -- "$@" >out 2>err
	rc=$?
	records=$("$programs/dump_spool" "$dir" 2>&1)
	"$retally" report "$dir" --by reason >reasons.txt 2>&1
}
same_program() {
	is "$rc $(cat out)" "$plain_rc $(cat plain.out)" "$1: output and status"
	unlike "$records" '^bad' "$1: whole records"
}
# REGION: PASS:FIRST/SECOND of each of its records
both_counts() {
	awk -v name="$1" '/^range/ { n = 0; on = 0; sub(/^range [0-9]+ /, ""); sub(/ queue .*/, ""); if ($0 == name) on = 1; next }
		/^value/ && on { v = NF == 4 ? $4 : "-"; if (++n == 1) a = v; else if (n == 2) { printf "%s%s:%s/%s", sep, $2, a, v; sep = " " }; next }
		{ on = 0 }' <<<"$records"
}
both_are() { # REGION WANTED NAME
	if [ $exact = yes ]; then is "$(both_counts "$1")" "$2" "$3"; else skip 'no uprobes here' "$3"; fi
}
# The same of passes that take turns from any one on: sorted.
turns_are() {
	if [ $exact = yes ]; then is "$(both_counts "$1" | tr ' ' '\n' | sort | paste -sd ' ')" "$2" "$3"; else skip 'no uprobes here' "$3"; fi
}
# Of the regions NAME one after the other in JSON, but the last: how many had replays ("BEGIN|TIME", stdin) before the
# next one began, and in how many no room is left for them between this one's end, as it is told, and that begin.
left_out() { # JSON NAME
	python3 -c 'import json, sys
replays = [tuple(map(int, line.split("|"))) for line in sys.stdin]
regions = [(e["ts"] * 1e3, e["dur"] * 1e3) for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X" and e["name"] == sys.argv[2]]
times = [(begin + time, after, sum(t for b, t in replays if begin < b < after))
	for (begin, time), (after, _) in zip(regions, regions[1:])]
print(sum(r > 0 for _, _, r in times), sum(end + r > after for end, after, r in times))' "$@"
}

# ---- the simulated device: six ranges of three kernels each, and a wait ----
sim=("$programs/sim_program" 6 named a a a a a a)
kernels=$(probe_at execute_kernel "${RETALLY_BUILD:-}/src/simdev/libretallysim.so" runs)
work=$(probe_at work_round "$programs/sim_program" rounds)
if [ $exact = yes ] && [ -n "$kernels" ] && [ -n "$work" ]; then
	"$programs/make_plan" plan.json "$work,$kernels,DEV_DISPATCHES=41" "$work,$kernels,DEV_DISPATCHES=41" "$work,$kernels,DEV_DISPATCHES=41"
else
	"$programs/make_plan" plan.json page-faults,task-clock,DEV_DISPATCHES=41 page-faults,task-clock,DEV_DISPATCHES=41 page-faults,task-clock,DEV_DISPATCHES=41
	has_uprobes=$exact exact=no
fi
for mode in kernel window auto none; do
	beside --replay $mode -- "${sim[@]}"
	same_program "sim, $mode"
	turns_are a '1:1/3 1:1/3 2:1/3 2:1/3 3:1/3 3:1/3' "sim, $mode: one round and three kernels in each region"
	[ $mode = none ] || [ "$(grep -c '^window [1-9]' <<<"$records")" -gt 0 ]
	ok $? "sim, $mode: kernels are replayed meanwhile"
	[ $mode = none ] && continue
	exits 0 "sim, $mode: times" "$retally" export --to perfetto "$dir" -o "times-$mode.json"
	is "$(sqlite3 "$dir/retally.db" 'SELECT begin_ns, run_ns FROM replay_window' | left_out "times-$mode.json" a)" '5 0' \
		"sim, $mode: the time of replays is none of a region's"
done
beside --replay window --pass 2 -- "${sim[@]}"
both_are a '2:1/3 2:1/3 2:1/3 2:1/3 2:1/3 2:1/3' 'sim, --pass 2'
is "$(grep -c '^range [13] ' <<<"$records")" 0 'sim, --pass 2: of no other'
exact=${has_uprobes:-$exact}
# Without counters that could count them they are declined, by name.
for mode in kernel window auto none; do
	exits 0 "sim, $mode, its counters alone" "$retally" run --source sim --replay $mode -o only-$mode -- "${sim[@]}"
	like "$("$retally" report only-$mode --by reason)" '6 +a +not counted +no counter of the plan is of source perf' "sim, $mode: declined by name, six times"
done

# ---- OpenCL on the process's own threads ----
opencl=$programs/opencl_regions
if ! [ -x "$opencl" ] || ! "$opencl" >/dev/null 2>&1; then
	skip 'no OpenCL device' 'OpenCL'
	done_testing
	exit
fi
object=$(find "$POCL_CACHE_DIR" -name 'advance.so' | head -1)
groups=$([ -n "$object" ] && probe_at _pocl_kernel_advance_workgroup "$object" groups)
[ -n "$groups" ] || exact=no
plan_of() { # PROGRAM
	local w
	w=$(probe_at work "$1" work)
	if [ $exact = yes ]; then "$programs/make_plan" plan.json "$w,$groups" "$w,$groups" "$w,$groups"
	else "$programs/make_plan" plan.json page-faults task-clock context-switches; fi
}
plan_of "$opencl"
for mode in '--replay kernel' '--replay window' '--replay none' '--distribute dispatch'; do
	# shellcheck disable=SC2086
	beside $mode -- "$opencl"
	same_program "OpenCL, $mode"
	turns_are both '1:15/128 1:15/128 2:15/128 2:15/128 3:15/128 3:15/128' "OpenCL, $mode: work and groups"
	turns_are host '1:7/0 2:7/0 3:7/0' "OpenCL, $mode: a region without kernels"
	[ $exact = yes ] && like "$(both_counts once)" '^[123]:0/64$' "OpenCL, $mode: a region that comes once"
	turns_are thread '1:3/0 2:3/0 3:3/0' "OpenCL, $mode: of another thread its own work"
	if [ $exact = yes ]; then
		is "$(both_counts before | tr ' ' '\n' | awk -F/ '$2 > 64' | wc -l)" 0 "OpenCL, $mode: of a launch before it no replay"
		is "$(both_counts inner | tr ' ' '\n' | awk -F'[:/]' '$2 != 0 || $3 < 64 || $3 > 128' | wc -l)" 0 "OpenCL, $mode: a region inside another"
	fi
	like "$records" "region 'once' ended 1 times, which gives no more than so many of the 3 passes" "OpenCL, $mode: what has not all passes is said"
	case $mode in
	*kernel | *window) like "$(cat reasons.txt)" '6 +both +one pass each, live +the process is not run again' "OpenCL, $mode: why in one pass" ;;
	*) unlike "$(cat reasons.txt)" 'the process is not run again' "OpenCL, $mode: nothing is declined" ;;
	esac
done
beside --replay window --range exact:host -- "$opencl"
both_are host '1:7/0 2:7/0 3:7/0' 'OpenCL, --range: that region'
is "$(both_counts both)" '' 'OpenCL, --range: no other'
beside --distribute dispatch:random --seed 5 -- "$opencl"
first=$(both_counts both)
beside --distribute dispatch:random --seed 5 -- "$opencl"
is "$(both_counts both)" "$first" 'OpenCL, random: the same passes again'

# Marks of a library that the program opens later: counted from the first one on, and said.
plan_of "$programs/opencl_no_marks"
beside --replay window -- "$programs/opencl_no_marks" "$RETALLY_BUILD/tests/programs/libregion_library.so"
same_program 'marks of a library'
both_are library '1:4/0 2:4/0' 'marks of a library: of the first thread, in turn'
like "$records" 'the marks of regions are in a library that was opened later' 'marks of a library: what is missing is said'
done_testing
