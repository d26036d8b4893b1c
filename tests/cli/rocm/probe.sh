#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the stand-in of rocprofiler-sdk does when it is misused is what the real one does (tests/golden/rocm/probe.txt).
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/rocm/rocm.sh" || exit 99
golden=$RETALLY_SOURCE/tests/golden/rocm/probe.txt
export RETALLY_T0_AGENTS=gfx90a,gfx942

probe() { # MISUSE: its lines, and how it ended, on stdout
	rm -f report
	{ MISUSE=$1 LD_PRELOAD=$programs/rocm_probe.so timeout 60 "$traps" accumulate 2 >out 2>err; } 2>/dev/null
	status=$?
	printf '== %s\n' "$1"
	# how far the program came when the library ended it is chance
	if [ $status = 0 ]; then cat out; else grep -v '^accumulate ' out; fi | any_gpu
	if [ $status = 134 ] && grep -q 'ABORT: .*\(hangs\|waits for its own thread\)' report; then
		echo 'end: hangs'
	else
		echo "end: $status"
	fi
}
sed -n 's/^== //p' "$golden" >kinds
is "$([ "$(grep -c . kinds)" -ge 21 ] && echo enough)" enough 'the golden file has every kind of misuse'
while read -r kind; do
	sed -n "/^== $kind\$/,/^end:/p" "$golden" | any_gpu >want
	probe "$kind" >got
	is "$(cat got)" "$(cat want)" "$kind: as the real SDK does"
done <kinds

# Where the stand-in is stricter: the real library does not look, or goes on with what is wrong.
misuse() { # MISUSE TEXT: it is in the report
	probe "$1" >/dev/null
	like "$(cat report)" "$2" "$1: the report tells"
}
misuse 'other agent' 'ABORT: the dispatch callback chose a configuration of another agent'
misuse late 'MISUSE: dispatch counting configured too late'
misuse 'counting twice' 'MISUSE: dispatch counting twice'
misuse extend 'MISUSE: create_counter_config: .* its counters are added'
misuse 'rubbish handle' 'MISUSE: create_counter_config: .*0xdeadbeef'
misuse 'size 0' 'MISUSE: rocprofiler_configure returned a result of size 0'
misuse none '^t0: clean$'
export RETALLY_T0_STRICT=1
misuse 'rubbish handle' 'ABORT: that variable was not initialised'
misuse 'size 0' 'ABORT: that result'
probe 'initialize fails' >got
like "$(cat got)" 'dispatches 0, records 0' 'strict, initialize fails: as the header says, nothing is counted'
unset RETALLY_T0_STRICT
# A version that the probe does not know is refused by the probe, not by the library.
RETALLY_T0_MUTATE=old probe none >got
unlike "$(cat got)" SUCCESS 'version 0.5.0: the tool can refuse'
RETALLY_T0_MUTATE=sizes,minor,ids probe none >got
like "$(cat got)" 'size 136' 'longer structs say so'
like "$(cat out)" 'dispatches 2, records 2, values 16' 'and work'
done_testing
