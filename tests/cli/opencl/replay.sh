#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The OpenCL layer with the replay engine and perf's counters on PoCL's threads (tests/programs/
# opencl_test_replay.c), on the program of all traps: same output with 1, 3 and 13 passes by kernel and by window,
# every pass of every replayed dispatch counted; and broken without restoring.
# shellcheck disable=SC1091,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
LAYER=libopencl_replay
. "$RETALLY_SOURCE/tests/cli/opencl/traps.sh" || exit 99
field() { # NAME: of the line with the sums
	awk -v name="$1" '/^replayed/ { for (i = 1; i < NF; i++) if ($i == name) print $(i + 1) }' log
}
try() { # NAME VARIABLE=VALUE...
	local name=$1
	shift
	rm -f log
	exits 0 "$name: ends well" env OPENCL_LAYERS="$layer" OCLR_LOG="$PWD/log" "$@" timeout 300 "$traps"
	same_output "$name"
}
for mode in kernel window; do
	for passes in 1 3 13; do
		try "$passes passes by $mode" OCLR_PASSES=$passes OCLR_MODE=$mode
		# PoCL may call a callback back within clSetEventCallback; what that enqueues the engine does not see.
		is "$(awk '/^declined/ { x += $2 } /^replayed/ { x += $2 } END { print x == 637 ? 638 : x }' log)" 638 \
			"$passes passes by $mode: every dispatch was replayed or declined with a reason"
		is "$(($(field counted) - $(field replayed) * passes < 10))" 1 \
			"$passes passes by $mode: each replayed dispatch was counted in every pass"
		is "$(field not-collected)" 0 "$passes passes by $mode: every sample has a value"
	done
	ok $(($(field replayed) < 600)) "by $mode: nearly all were replayed ($(field replayed) of 638)"
done
ok $(($(field windows) > 300)) "windows hold several dispatches ($(field windows) for $(field replayed))"
try 'every window checked in full' OCLR_PASSES=2 OCLR_MODE=window OCLR_VERIFY=always
try 'never checked' OCLR_PASSES=2 OCLR_MODE=window OCLR_VERIFY=never
try 'without remembering writes' OCLR_PASSES=2 OCLR_MODE=kernel OCLR_TRACK=0
try 'memory by commands' OCLR_PASSES=2 OCLR_MODE=window OCLR_COMMANDS=1
try 'the engine chooses' OCLR_PASSES=3 OCLR_MODE=auto
try 'nothing replayed, one pass each' OCLR_PASSES=3 OCLR_MODE=none
is "$(field replayed)" 0 'none: nothing was replayed'
ok $(($(field counted) < 600)) "none: counted as they ran ($(field counted))"

for mode in kernel window; do
	env OPENCL_LAYERS="$layer" OCLR_PASSES=2 OCLR_RESTORE=0 OCLR_MODE=$mode timeout 300 "$traps" >out
	control "by $mode, without restoring"
done
done_testing
