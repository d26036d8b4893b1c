#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Whatever replays the kernels of a program, and however little the runtime can do: the program's output is the same.
# tests/programs/sim_tool.c is engine, runtime and source without the rest.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
export SIM_TOOL_DRAIN_MS=200 SIM_TOOL_OUT=$sandbox/counted
traps=$programs/sim_traps
tool=$programs/sim_tool.so

exits 0 'the program alone' "$traps"
cp out alone
is "$(wc -l <alone)" 16 'every trap has a line'
exits 0 'and again' "$traps"
is "$(cat out)" "$(cat alone)" 'it is the same each time'

under() { # NAME VARIABLE=VALUE...
	local name=$1
	shift
	rm -f counted
	exits 0 "$name: ends" env RETALLY_SIM_TOOL="$tool" "$@" timeout 120 "$traps"
	is "$(cat out)" "$(cat alone)" "$name: the output is the program's"
	like "$(cat counted 2>/dev/null)" '^window .* ended ' "$name: windows were replayed"
}
under 'window, 1 pass' SIM_TOOL_MODE=window SIM_TOOL_PASSES=1
under 'window, 3 passes' SIM_TOOL_MODE=window SIM_TOOL_PASSES=3
under 'window, 13 passes' SIM_TOOL_MODE=window SIM_TOOL_PASSES=13
under 'windows of two' SIM_TOOL_MODE=window SIM_TOOL_PASSES=3 SIM_TOOL_WINDOW=2
under 'kernel, 3 passes' SIM_TOOL_MODE=kernel SIM_TOOL_PASSES=3
under 'window, a runtime that can little' SIM_TOOL_MODE=window SIM_TOOL_PASSES=3 SIM_TOOL_PLAIN=1
under 'kernel, a runtime that can little' SIM_TOOL_MODE=kernel SIM_TOOL_PASSES=3 SIM_TOOL_PLAIN=1

# Counts are those of the work, in every pass: replayed without restoring, guarded would find nothing to do in the
# second pass, and append would leave its list.
for mode in window kernel; do
	for trap in guarded append walk; do
		rm -f counted
		RETALLY_SIM_TOOL=$tool SIM_TOOL_MODE=$mode SIM_TOOL_PASSES=3 "$traps" "$trap" >out 2>err
		for pass in 1 2 3; do
			sed -n "s/^samples [0-9]* pass $pass //p" counted >pass.$pass
		done
		is "$(wc -l <pass.1)" "$(grep -c ' pass 0 ' counted)" "$mode, $trap: every dispatch is counted"
		cmp -s pass.1 pass.2 && cmp -s pass.2 pass.3
		ok $? "$mode, $trap: all passes count the same"
	done
done
RETALLY_SIM_TOOL=$tool SIM_TOOL_PASSES=2 "$traps" guarded >out 2>err
is "$(sed -n 's/^samples [0-9]* pass 1 //p' counted | sed 's/ DEV.*//')" \
	"$(printf 'SEQ_LOADS=8192/0 SEQ_ITERATIONS=262144/0\nSEQ_LOADS=4096/0 SEQ_ITERATIONS=0/0')" \
	'guarded: the first does the work, the second nothing'

# Failures on demand: the program ends as it does alone.
fails() { # NAME TRAP VARIABLE=VALUE...
	local name=$1 trap=$2
	shift 2
	"$traps" "$trap" >want
	rm -f left
	exits 0 "$name: ends" env RETALLY_SIM_TOOL="$tool" RETALLY_SIM_CHECK=left SIM_TOOL_PASSES=3 "$@" \
		timeout 60 "$traps" "$trap"
	is "$(cat out)" "$(cat want)" "$name: the output is the program's"
	like "$(cat counted)" '^(declined|note) ' "$name: the reason is recorded"
	is "$(cat left)" 'tools left nothing' "$name: nothing is left on the device"
}
fails 'no memory for snapshots' walk RETALLY_SIM_TOOL_MEMORY=4K SIM_TOOL_PLAIN=0 RETALLY_SIM_FAIL_COPY=1 RETALLY_SIM_FAIL_COPY_TIMES=1000
fails 'a copy fails half-way' append RETALLY_SIM_FAIL_COPY=3 RETALLY_SIM_FAIL_COPY_TIMES=2
fails 'the counters cannot be programmed' walk RETALLY_SIM_FAIL_PROGRAM=2
fails 'somebody else has the counters' walk RETALLY_SIM_BUSY_COUNTERS=1
fails 'a counter cannot be read' walk RETALLY_SIM_FAIL_READ=2
fails 'a pass does not end for a while' walk RETALLY_SIM_HANG_AT=5 RETALLY_SIM_HANG_NS=600000000
RETALLY_SIM_TOOL=$tool SIM_TOOL_PASSES=2 RETALLY_SIM_COUNTER_BITS=8 "$traps" walk >out 2>err
like "$(cat counted)" 'SEQ_LOADS=0/2 ' 'a counter that overflows has its status, and no value'
rm -f left
exits 3 'the device is lost' env RETALLY_SIM_TOOL="$tool" RETALLY_SIM_CHECK=left RETALLY_SIM_LOST_AFTER=60 timeout 60 "$traps" walk update append vector
like "$(cat out)" 'device lost' 'the program hears it, as it does alone'
is "$(cat left)" 'tools left nothing' 'and nothing is left on the device'
rm -f left
exits 0 'a tool that loses its memory' env RETALLY_SIM_TOOL="$tool" RETALLY_SIM_CHECK=left SIM_TOOL_LOSES=1 "$traps" vector
like "$(cat left)" '^tools left [1-9][0-9]* allocations with ' 'is seen'

# A tool that cannot be loaded is left out.
exits 0 'a tool that is not there' env RETALLY_SIM_TOOL=/nonexistent RETALLY_SIM_VERBOSE=1 "$traps" vector
like "$(cat err)" "tool '/nonexistent' is left out" 'is named on request'
exits 0 'the demo' "$RETALLY_BUILD/examples/sim_demo" 4
cp out want
exits 0 'the demo, replayed' env RETALLY_SIM_TOOL="$tool" "$RETALLY_BUILD/examples/sim_demo" 4
is "$(cat out)" "$(cat want)" 'says the same'
done_testing
