#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The OpenCL layer with a small engine of its own (tests/programs/opencl_test_engine.c), on the program of all
# traps: what the program prints is the same with 1, 3 and 13 extra executions, in windows of one and of many
# dispatches; and without restoring it is not.
# shellcheck disable=SC1091,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
LAYER=libopencl_test
. "$RETALLY_SOURCE/tests/cli/opencl/traps.sh" || exit 99
replayed() { # the number of dispatches that were replayed
	awk '/^dispatches/ { print $4 }' log
}
arguments=()
try() { # NAME PROGRAM VARIABLE=VALUE...: same output as without the layer, everything replayed or declined by name
	local name=$1 program=$2
	shift 2
	rm -f log
	exits 0 "$name: ends well" env OPENCL_LAYERS="$layer" OCLT_LOG="$PWD/log" "$@" timeout 300 "$program" "${arguments[@]}"
	same_output "$name"
	is "$(awk '/^dispatches/ { d = $2; r = $4; f = $NF } /^declined/ { x += $2 } END { print d - r - x, f }' log)" '0 0' \
		"$name: every dispatch was replayed or declined with a reason"
}
for window in 1 64; do
	for passes in 1 3 13; do
		try "$passes passes, windows of $window" "$traps" OCLT_PASSES=$passes OCLT_WINDOW=$window
	done
done
like "$(cat log)" '^declined 1: its program prints \(printf\)' 'a kernel that prints is declined by name'
like "$(cat log)" '^declined 3: its program has variables at program scope' 'one with variables of the program is declined by name'
like "$(cat log)" '^declined 1: a function of the host' 'a native kernel is declined by name'
like "$(cat log)" '^declined 4: launched while a user event was not set' 'what may wait for the host is declined by name'
like "$(cat log)" '^declined 1: launched from an event callback' 'what a callback enqueues is declined by name'
all=$(awk '/^dispatches/ { print $2 }' log)
ok $(($(replayed) * 10 < all * 9)) "nearly all dispatches were replayed ($(replayed) of $all)"
try 'by commands, windows of 1' "$traps" OCLT_PASSES=3 OCLT_WINDOW=1 OCLT_COMMANDS=1
try 'by commands, windows of 64' "$traps" OCLT_PASSES=3 OCLT_WINDOW=64 OCLT_COMMANDS=1
try 'a program that opens libOpenCL itself' "${traps}_dlopen" OCLT_PASSES=3 OCLT_WINDOW=64
ok $(($(replayed) == 0)) 'and it was replayed'

# A context with two devices that share its memory. (PoCL's own `basic` device hangs in some of the cases without
# the layer, so those that both can do.)
arguments=(devices plain copies two-contexts image)
export POCL_DEVICES='pthread basic'
timeout 120 "$traps" "${arguments[@]}" >plain
try 'two devices' "$traps" OCLT_PASSES=3 OCLT_WINDOW=1
try 'two devices, windows of 64' "$traps" OCLT_PASSES=3 OCLT_WINDOW=64
ok $(($(replayed) < 15)) "and they were replayed ($(replayed))"
export POCL_DEVICES=basic
arguments=(plain const parts copies image)
timeout 120 "$traps" "${arguments[@]}" >plain
try 'a device without threads of its own' "$traps" OCLT_PASSES=3 OCLT_WINDOW=64
unset POCL_DEVICES
arguments=()
timeout 120 "$traps" >plain

env OPENCL_LAYERS="$layer" OCLT_PASSES=1 OCLT_RESTORE=0 timeout 300 "$traps" >out
control 'the control without restoring'
# The table of traps in docs/opencl.md names the cases there are (flags is tried below, the programs elsewhere).
awk -F'|' '/^## / { on = /^## Traps/ } on && NF > 4 { n = split($3, part, "`"); for (i = 2; i <= n; i += 2) print part[i] }' \
	"$RETALLY_SOURCE/docs/opencl.md" | grep -vE '^(flags|opencl_.*)$' | sort >documented
is "$(sed 's/ .*//' plain | grep -v '^hello$' | sort -u)" "$(cat documented)" 'docs/opencl.md names every case'

# Kernels that wait for each other, or for a later write, end as they do without the layer.
if [ "$(nproc)" -ge 2 ]; then
	timeout 120 "$traps" flags >plain
	exits 0 'kernels that wait: end well' env OPENCL_LAYERS="$layer" OCLT_LOG="$PWD/log.flags" OCLT_PASSES=2 \
		timeout 300 "$traps" flags
	is "$(cat out)" "$(cat plain)" 'kernels that wait: same output'
	like "$(cat log.flags)" '^declined [0-9]+: not in order with another command' 'and were declined by name'
else
	skip 'one processor' 'kernels that wait'
fi
done_testing
