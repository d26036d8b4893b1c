#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shared virtual memory, which PoCL 3.1 has in buffers, and what it has not, which a layer below ours adds
# (tests/standins/opencl/shared.c): kernels that reach all memory of the process, pipes, queues on the device. None of
# it can be saved: such dispatches are declined by name and run once, with the same output; those before and after that
# reach nothing of the kind are replayed.
# shellcheck disable=SC1091,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
unset LD_LIBRARY_PATH # meson's, in which the stand-in of libOpenCL is first
program=$programs/opencl_shared
below=$RETALLY_BUILD/tests/standins/opencl/libopencl_shared.so
layer=$programs/libopencl_test.so
if [ ! -x "$program" ] || [ ! -e "$layer" ]; then skip_all 'built without OpenCL'; fi
export POCL_CACHE_DIR=$sandbox/pocl
mkdir pocl
timeout 60 "$program" >plain || skip_all "$(tail -1 plain)"

# CASE REASON DISPATCHES LATER: declined are DISPATCHES; LATER: whether the dispatches that follow are replayed
try() {
	local name=$1 reason=$2 declined=$3 later=$4
	env OPENCL_LAYERS="$layers" timeout 60 "$program" "$name" >plain
	if grep -q 'has none' plain; then skip 'the device has none' "$name" && return; fi
	for window in 1 64; do
		for passes in 1 3 13; do
			rm -f log
			exits 0 "$name, $passes passes, windows of $window: ends well" env OPENCL_LAYERS="$layers${layers:+:}$layer" OCLT_LOG="$PWD/log" \
				OCLT_PASSES=$passes OCLT_WINDOW=$window timeout 120 "$program" "$name"
			cmp -s plain out
			ok $? "$name, $passes passes, windows of $window: same output"
			is "$(awk '/^declined/ { sub(":", "", $2); print $2 }' log)" "$declined" "$name, $passes passes, windows of $window: declined"
		done
	done
	like "$(cat log)" "^declined $declined: $reason" "$name: by its name"
	is "$(awk '/^dispatches/ { print $2 - $4 }' log)" "$declined" "$name: all others are replayed"
	# The control: what is replayed breaks, what is declined does not.
	env OPENCL_LAYERS="$layers${layers:+:}$layer" OCLT_PASSES=1 OCLT_RESTORE=0 timeout 60 "$program" "$name" >broken
	is "$(grep -v ordinary broken)" "$(grep -v ordinary plain)" "$name, without restoring: what is declined is as it was"
	[ "$(grep ordinary broken | head -1)" != "$(grep ordinary plain | head -1)" ]
	ok $? "$name, without restoring: what is replayed before it is not"
	[ "$(grep ordinary broken | tail -1)" != "$(grep ordinary plain | tail -1)" ]
	is $? "$later" "$name, without restoring: what comes after it is $([ "$later" = 0 ] && echo replayed || echo declined, too)"
}
layers=
try argument 'reaches shared virtual memory' 4 0
try pointers 'reaches shared virtual memory .clSetKernelExecInfo' 3 0
layers=$below
try pipe 'reaches a pipe' 3 0
try queue 'kernels may enqueue kernels' 6 1
try system 'the program may use shared virtual memory of the whole process' 6 1

# By the command, with counters.
by_command() { # MODE LAYERS DISPATCHES CASE...: DISPATCHES are replayed
	local mode=$1 layers=$2 replayed=$3
	shift 3
	rm -rf r
	env OPENCL_LAYERS="$layers" timeout 60 "$program" "$@" >plain
	exits 0 "retally run --replay $mode, $*: ends well" "$retally" run --replay "$mode" -e task-clock,page-faults -o r -- \
		env OPENCL_LAYERS="$layers${layers:+:}$libretally" "$program" "$@"
	cmp -s plain out
	ok $? "$mode, $*: same output"
	is "$("$retally" report r --by window --format csv | awk -F, 'NR > 1 && $3 == "true" { d += $5 } END { print d + 0 }')" \
		"$replayed" "$mode, $*: the others are replayed"
}
for mode in kernel window; do
	by_command $mode '' 9 argument pointers
	like "$(cat err)" 'declined: 4 dispatches of inc: reaches shared virtual memory' "$mode: shared virtual memory is declined by name"
	by_command $mode "$below" 6 pipe
	like "$(cat err)" 'declined: 3 dispatches of inc: reaches a pipe' "$mode: a pipe is declined by name"
done
done_testing
