# shellcheck shell=bash
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2153,SC2154
# What the tests of the OpenCL layer share: source it after lib.sh with LAYER set to the name of the layer's object.
# The program of all traps is $traps, the layer $layer, what the program prints alone is in the file plain.
: "${sandbox:?source tests/cli/lib.sh first}"
traps=$programs/opencl_traps
layer=$programs/$LAYER.so
if [ ! -x "$traps" ] || [ ! -e "$layer" ]; then skip_all 'built without OpenCL'; fi
export POCL_CACHE_DIR=$sandbox/pocl
mkdir pocl
timeout 120 "$traps" >plain
case $? in
0) ;;
77) skip_all "$(tail -1 plain)" ;;
*) ok 1 'the program alone'; done_testing ;;
esac
same_output() { # NAME: of the run just made
	if cmp -s plain out; then ok 0 "$1: same output"; else
		ok 1 "$1: same output"
		diff plain out | sed 's/^/# /' | head -20
	fi
}
control() { # NAME: of the run just made, in which nothing was put back: all cases must differ whose dispatches are replayed
	diff plain out | sed -n 's/^> \([^ ]*\) .*/\1/p' | sort -u >broken
	sed 's/ .*//' plain | grep -vE '^(hello|printf|program-scope|native|user-event-two|callback-enqueues)$' | sort -u >wanted
	ok $(($(wc -l <wanted) < 25)) "$1: many cases are replayed"
	is "$(comm -13 broken wanted)" '' "$1 breaks every case that is replayed"
}
