#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What fails on AMD GPUs, and other versions of the SDK: the program ends as it does alone, and the reason is told.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/rocm/rocm.sh" || exit 99
gpu 90010
sq=SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_SALU,SQ_INSTS_SMEM,SQ_INSTS_LDS,SQ_BUSY_CYCLES,SQ_WAVE_CYCLES,SQ_WAIT_ANY,SQ_INSTS_BRANCH
alone accumulate

fault() { # FAULT MODE REASON
	RETALLY_T0_FAULTS=$1 run dir accumulate --replay "$2" -e "$sq"
	is "$status" 0 "$1, $2: ends well"
	is "$(cat out)" "$(cat alone.accumulate)" "$1, $2: the output is the program's"
	like "$("$retally" report dir --by reason; findings dir; cat err)" "$3" "$1, $2: the reason is told"
	is "$(accounted dir)" 4 "$1, $2: every dispatch is accounted for"
	unlike "$(cat report)" MISUSE "$1, $2: no misuse"
}
for mode in kernel window; do
	fault exceeds:1 $mode 'its counters do not go together'
	# Whoever makes the signal: the SDK tries again, we do without. The second is the program's own.
	for at in 1 3 4 5 6; do
		RETALLY_T0_FAULTS=signal:$at run dir accumulate --replay $mode -e "$sq"
		is "$status $(cat out)" "0 $(cat alone.accumulate)" "signal $at cannot be made, $mode: the output is the program's"
		unlike "$(cat report)" MISUSE "signal $at cannot be made, $mode: no misuse"
	done
	RETALLY_T0_FAULTS=signal:3+ run dir accumulate --replay $mode -e "$sq"
	is "$status $(cat out)" "0 $(cat alone.accumulate)" "no signals, $mode: the output is the program's"
	like "$("$retally" report dir)" 'disabled because no signal could be made' "no signals, $mode: collection says why it stopped"
done
fault record_lost:3 window 'gave no records of a dispatch'
RETALLY_T0_LATE_MS=1000 RETALLY_T0_FAULTS=record_late:2 run dir accumulate --replay window -e "$sq"
is "$(accounted dir)" 4 'a late record is waited for'
RETALLY_T0_RECORDS=event run dir accumulate --replay window -e "$sq"
is "$(accounted dir) $(cat out)" "4 $(cat alone.accumulate)" 'records on the event thread of the runtime'

# Whichever copy fails, no pass runs on mixed memory; when it is the program's own, the program says so.
for at in 1 2 3 4 5 6 7 8 9 10 12 14 16 18 20 24 28 32; do
	RETALLY_T0_FAULTS=copy:$at run dir accumulate --replay window -e "$sq"
	if [ "$status" = 0 ]; then
		is "$(cat out)" "$(cat alone.accumulate)" "copy $at fails: the output is the program's"
		is "$(accounted dir)" 4 "copy $at fails: every dispatch is accounted for"
	else
		like "$(cat err)" 'hsa_.*copy' "copy $at fails: it was the program's own"
	fi
done
for at in 2 4 6 8; do
	RETALLY_T0_FAULTS=alloc:$at+ run dir accumulate --replay window -e "$sq"
	if [ "$status" = 0 ]; then
		is "$(cat out)" "$(cat alone.accumulate)" "no memory from $at on: the output is the program's"
	else
		like "$(cat err)" 'alloc|refused|hsa_' "no memory from $at on: it was the program's own"
	fi
done

# Versions.
for mutation in sizes minor dimension ids sizes,minor,ids; do
	RETALLY_T0_MUTATE=$mutation run dir accumulate --replay window -e "$sq"
	is "$(accounted dir) $(cat out)" "4 $(cat alone.accumulate)" "another SDK ($mutation): works"
	is "$("$retally" report dir --by dispatch --wide --format csv -e SQ_WAVES | cut -d, -f16 | sort -u | tr '\n' ' ')" '16 SQ_WAVES ' "another SDK ($mutation): counts the same"
done
for mutation in major old; do
	RETALLY_T0_MUTATE=$mutation run dir accumulate --replay window -e "$sq"
	is "$status $(cat out)" "0 $(cat alone.accumulate)" "another SDK ($mutation): the program runs"
	like "$(findings dir)" 'rocprofiler-sdk [02]\.[05].* cannot be used: retally needs 1\.x' "another SDK ($mutation): refused in one sentence"
done

# Strict where the real SDK forgives, and all delays at their longest.
RETALLY_T0_STRICT=1 run dir accumulate --replay window -e "$sq"
is "$(accounted dir) $(cat out)" "4 $(cat alone.accumulate)" 'a strict SDK'
unlike "$(cat report)" MISUSE 'has nothing to complain about'
alone two_queues
for seed in 1 2 3; do
	RETALLY_T0_SEED=$seed RETALLY_T0_KERNEL_US=2000 RETALLY_T0_RECORD_US=3000 run dir two_queues --replay window -e "$sq"
	is "$(accounted dir) $(cat out)" "8 $(cat alone.two_queues)" "slow kernels, late records, seed $seed"
done

# Without ROCP_TOOL_LIBRARIES: the preloaded library is found by its symbol.
run dir accumulate --replay window -e SQ_WAVES
like "$(cat report)" '4 dispatches counted' 'named by the command'
cat >without <<'END'
#!/bin/sh
unset ROCP_TOOL_LIBRARIES
exec "$@"
END
chmod +x without
rm -rf dir report
"$retally" run -q --source rocm --replay window -e SQ_WAVES -o dir -- ./without "$traps" accumulate >out 2>err
is "$(cat out)" "$(cat alone.accumulate)" 'preloaded only: the output is the program'\''s'
like "$(cat report)" '4 dispatches counted' 'preloaded only: counted'
done_testing
