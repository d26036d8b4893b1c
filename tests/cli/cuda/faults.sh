#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What can fail beneath us, on demand: the program's output and exit status are those without retally, one sentence
# says why, in the summary and in the report, and no rule of CUPTI is broken on the way.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
list='update append once streams graph pools surfaces'
# shellcheck disable=SC2086
"$traps" $list >want
reported() { # DIRECTORY
	"$retally" report "$1" 2>&1
	"$retally" report "$1" --by reason 2>&1
}
fails() { # FAULT SENTENCE NAME [MODE]
	# shellcheck disable=SC2086
	RETALLY_STANDIN_FAIL=$1 run o "$three" --replay "${4:-window}" -- "$traps" $list
	same $? want "$3"
	like "$(tr '\n' ' ' <err)" "$2" "$3: shown"
	like "$(reported o | tr -s '\n ' ' ')" "$2" "$3: in the report"
	clean "$3"
}
no_counters() { # FAULT SENTENCE NAME: nothing is counted, and nothing launched again
	fails "$@"
	unlike "$(cat "$RETALLY_STANDIN_LOG")" 'replayed launches' "$3: nothing was launched again"
}
no_counters privilege 'ERR_NVGPUCTRPERM.*root' 'no permission'
no_counters mig 'a MIG slice that shares units cannot be profiled' 'a MIG slice'
no_counters mps 'share the GPU through MPS' 'MPS'
no_counters busy "the GPU's counters are in use by another" 'another profiler of the GPU'
no_counters vgpu 'the device cannot be profiled: vGPU' 'a virtual GPU'
no_counters subscriber 'another CUPTI client: another tool is active in this process' 'another CUPTI client'
fails alloc 'CUDA_ERROR_OUT_OF_MEMORY' 'no memory on the device'
fails alloc,host-alloc 'no room to save|CUDA_ERROR_OUT_OF_MEMORY' 'no memory anywhere'
fails start 'starting the counters failed \(CUPTI error 999\)' 'counters do not start'
fails start@2x1 'starting the counters failed' 'counters do not start once'
fails stop 'stopping the counters failed' 'counters do not stop'
fails stop@2x1 'stopping the counters failed' 'counters do not stop once'
fails decode 'decoding the counter data failed' 'data cannot be decoded'
fails evaluate 'evaluating the counters failed' 'data cannot be evaluated'
for mode in window kernel; do
	for copy in 1x1 5x2 2x60; do
		fails "copy@$copy" '(saving|restoring|hashing|comparing) memory: CUDA_ERROR_OPERATING_SYSTEM|13[0-9]|of 3 counters' \
			"copies $copy end half-way, $mode" "$mode"
	done
done
fails copy@2x60 'CUDA_ERROR_OPERATING_SYSTEM \(304\)' 'many copies end half-way'
fails hang@4x1=400 '3 of 3 passes' 'a replayed kernel takes its time'
is "$(grep -c declined err)" 0 'and is counted'

# A copy of the program that is under way is waited for before anything is put back beside it.
"$traps" beside >want.beside
for mode in window kernel auto; do
	RETALLY_STANDIN_FAIL=late-copy=30 run o "$three" --replay $mode -- "$traps" beside
	same $? want.beside "a copy is under way, $mode"
	clean "a copy is under way, $mode"
done

# One that does not end within the engine's bound; meanwhile the rest.
(
	mkdir hang
	cd hang || exit
	export RETALLY_STANDIN_LOG=$PWD/self-check
	RETALLY_STANDIN_FAIL=hang@4x1=11500 run o "$three" --replay window -- "$traps" update once
	echo $? >status
	reported o >report 2>&1
) &
hung=$!

# The device is lost while the program runs: it hears that as it does alone.
for fault in lost@5 none; do
	trap=update
	[ $fault = none ] && trap=wild
	RETALLY_STANDIN_FAIL=$fault "$traps" append $trap >alone
	is $? 3 "$trap, $fault: the program fails by itself"
	for mode in window kernel auto; do
		RETALLY_STANDIN_FAIL=$fault run o "$three" --replay $mode -- "$traps" append $trap
		status=3 same $? alone "$trap, $fault, $mode"
		# A launch that fails at once and leaves nothing behind is the program's business alone.
		[ "$mode$fault" = kernellost@5 ] && continue
		like "$(cat err)" 'CUDA_ERROR_(LAUNCH_FAILED|ILLEGAL_ADDRESS)' "$trap, $fault, $mode: the reason is shown"
	done
done

# An old CUPTI is refused by the name of what it lacks: before the run when it has to plan, else in the program.
RETALLY_CUPTI=$standins/old/libcupti.so.12 run o "$three" --replay window -- "$traps" update
is "$? $(cat out)" '125 ' 'an old CUPTI cannot plan'
like "$(cat err)" 'old/libcupti.so.12. is too old: it has no cuptiProfilerHostInitialize' 'an old CUPTI: the symbol is named'
run planned "$three" --replay window -- "$traps" update
cp out want.update
rm -rf o "$RETALLY_STANDIN_LOG"
RETALLY_CUPTI=$standins/old/libcupti.so.12 "$retally" run --source cuda --plan planned/plan.json -o o --replay window \
	-- "$traps" update >out 2>err
same $? want.update 'an old CUPTI with a plan that is there'
like "$(cat err)" 'is too old: it has no cuptiProfilerHostInitialize; CUDA kernels run uncounted' 'and its symbol is named'
like "$(reported o | tr -s '\n ' ' ')" 'it has no cuptiProfilerHostInitialize' 'in the report, too'
RETALLY_CUPTI=/nowhere/libcupti.so run o "$three" --replay window -- "$traps" update
like "$(cat err)" "RETALLY_CUPTI: cannot open '/nowhere/libcupti.so'" 'a CUPTI that is not there'

# The stand-in finds what it is there to find.
rm -f "$RETALLY_STANDIN_LOG"
exits 0 'CUPTI misused' "$programs/cuda_misuse"
is "$(awk '{ printf "%s ", $NF }' out)" '15 7 10 1 1 7 7 7 1 1 10 1 3 7 7 7 7 7 7 7 0 0 1 11 ' 'every misuse has its result'
like "$(cat "$RETALLY_STANDIN_LOG")" '^libcupti: self-check: 21 violations' 'and is a violation'

wait $hung
is "$(cat hang/status hang/out)" "0
$(grep -E '^(update|once)' want)" 'a replayed kernel hangs: output and status are the program'"'"'s'
like "$(tr '\n' ' ' <hang/report)" 'does not drain|did not become idle' 'a replayed kernel hangs: the reason is given'
is "$(grep -c violation: hang/self-check)" 0 'a replayed kernel hangs: no violation'
done_testing
