#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Replay on AMD GPUs, above the stand-ins: outputs are the program's, every dispatch is replayed or declined by name,
# there is a record for every instance of every counter, nothing of ours is left.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/rocm/rocm.sh" || exit 99
gpu 90010
sq=SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_SALU,SQ_INSTS_SMEM,SQ_INSTS_LDS,SQ_BUSY_CYCLES,SQ_WAVE_CYCLES,SQ_WAIT_ANY,SQ_INSTS_BRANCH
sq=$sq,SQ_IFETCH,SQ_ACTIVE_INST_ANY,SQ_ACTIVE_INST_LDS,SQ_ACTIVE_INST_VALU,SQ_WAIT_INST_ANY,SQ_ACTIVE_INST_SCA,SQ_ACTIVE_INST_MISC,SQ_INSTS_SENDMSG,TCC_HIT
exits 0 'a plan' "$retally" plan --source rocm -e "$sq" --count
passes=$(cat out)
is "$passes" 3 'of three passes'

# TRAP LAUNCHES, and how many of them are counted at least
while read -r trap launches least; do
	alone "$trap"
	for mode in kernel window; do
		name="$mode, $trap"
		run "dir" "$trap" --replay $mode -e "$sq"
		is "$status" 0 "$name: ends well"
		is "$(cat out)" "$(cat "alone.$trap")" "$name: the output is the program's"
		is "$(accounted dir)" "$launches" "$name: every dispatch is counted or declined by name"
		[ "$(counted dir)" -ge "$least" ]
		ok $? "$name: at least $least are counted"
		clean "$name" "$trap"
	done
done <<'END'
accumulate 4 4
many 160 160
atomics 4 4
through_pointer 4 3
module_variable 4 4
two_queues 8 8
waits_for_host 8 4
freed 4 4
lists 8 8
astray 4 3
arguments_change 4 4
copies 4 4
virtual_memory 8 8
batch 32 32
collective 8 7
threads 16 10
forks 4 4
END

# A kernel that does not end before another one was launched: 10 s until it is let go on, once.
alone waits_for_kernel
run dir waits_for_kernel --replay window -e SQ_WAVES
is "$(cat out)" "$(cat alone.waits_for_kernel)" 'kernels that wait for each other: the output is the program'\''s'
is "$(accounted dir)" 8 'and each is declined by name'
like "$("$retally" report dir --by reason)" 'wait_for_flag +not counted +does not drain' 'for that reason'

# Left uncounted once enough is known.
alone many
run dir many --distribute dispatch --no-anchors --until 5% -e SQ_WAVES
is "$(cat out)" "$(cat alone.many)" 'until: the output is the program'\''s'
clean 'until' many
like "$("$retally" report dir)" '^  accumulate +159 +45 .* 114 left out, known after 45' 'until: dispatches are left out when enough is known'

# The same memory in each pass: a kernel that works only once does its work in each.
run dir lists --replay window -e "$sq"
"$retally" report dir --by dispatch --format csv --wide -e TCC_HIT | grep '^only_once' | cut -d, -f16 | sort -u >first
like "$(cat first)" '[0-9]' 'a kernel that works only once is counted'
unlike "$(cat first)" '^0?$' 'a kernel that works only once is counted at work'

# Instances: SQ has one in each of 8 shader engines of gfx90a, TCC one for each of 32 channels. The plan has, in this
# order, the anchor GRBM_GUI_ACTIVE, SQ_WAVES, TCC_HIT, TCC_HIT[3].
run dir accumulate --replay kernel -e 'SQ_WAVES,TCC_HIT,TCC_HIT[3]'
values() { "$dump" dir/spool/*.rts | grep -c "^value 1 $1 "; }
is "$(values 1)" 32 '4 dispatches: 8 records each of a counter of 8 shader engines'
is "$(values 2)" 128 '32 of one of 32 channels'
is "$(values 3)" 4 'and one of a single channel'
"$retally" report dir --by dispatch --wide --format csv -e 'SQ_WAVES,TCC_HIT,TCC_HIT[3]' | cut -d, -f16-18 | sort -u >values
is "$(grep '^[0-9]' values)" '16,2048,64' 'a counter is the sum of its instances'

# What this SDK does not know is left out, with its name.
run dir accumulate --replay kernel -e SQ_WAVES,SQ_INSTS_VMEM_RD
is "$(counted dir)" 4 'a counter that the SDK does not know: the others are counted'
"$retally" report dir --by dispatch --wide --format csv -e SQ_WAVES,SQ_INSTS_VMEM_RD | cut -d, -f16,17 | sort -u >values
is "$(grep -v SQ values)" ',16' 'and it has no value, which is not 0'
like "$(cat err)" "'SQ_INSTS_VMEM_RD' is not collected: rocprofiler-sdk does not know it on this gfx90a" 'and it is named'

# All counters of the data there are.
for chip in '90010 gfx90a' '90402 gfx942'; do
	gpu "${chip% *}"
	export RETALLY_T0_AGENTS=${chip#* }
	for mode in kernel window; do
		run dir two_queues --replay $mode --set full
		is "$status" 0 "${chip#* }, set full, $mode: ends well"
		is "$(cat out)" "$(cat alone.two_queues)" "${chip#* }, set full, $mode: the output is the program's"
		like "$("$retally" report dir | grep '^collected')" '12 of 12 passes, ([0-9]*) of \1 counters' "${chip#* }, set full, $mode: all of it"
		like "$(cat report)" '96 dispatches counted, 96 record callbacks' "${chip#* }, set full, $mode: 12 passes of 8 dispatches"
		clean "${chip#* }, set full, $mode" two_queues
	done
done
gpu 90010
RETALLY_T0_AGENTS=gfx90a,gfx90a alone two_gpus
RETALLY_T0_AGENTS=gfx90a,gfx90a run dir two_gpus --replay window -e "$sq"
is "$(cat out)" "$(cat alone.two_gpus)" 'two GPUs: the output is the program'\''s'
is "$(accounted dir)" 8 'two GPUs: every dispatch is counted'
rm -f alone.two_gpus
RETALLY_T0_AGENTS=gfx90a,gfx942 alone two_gpus
RETALLY_T0_AGENTS=gfx90a,gfx942 run dir two_gpus --replay window -e "$sq"
is "$(cat out)" "$(cat alone.two_gpus)" 'different GPUs: the output is the program'\''s'
like "$("$retally" report dir --by reason)" 'the plan is for gfx90a, and this GPU is a gfx942' 'the other one is declined by name'

# Nothing is replayed: another configuration for each dispatch.
unset RETALLY_T0_AGENTS
run dir many --distribute dispatch -e "$sq"
is "$(cat out)" "$(cat alone.many)" 'one pass a dispatch: the output is the program'\''s'
is "$(accounted dir)" 160 'one pass a dispatch: every dispatch is accounted for'
like "$(cat report)" '159 dispatches counted, 159 record' 'one pass a dispatch: nothing is done again'
like "$("$retally" report dir | tr -s ' ')" 'SQ_BUSY_CYCLES 4096 cycles 4096\.0 \.\. 4096\.0 4096 \.\. 4096 53 1 53 of 159 dispatches' 'one pass a dispatch: coverage, and an interval for all dispatches'
"$retally" report dir --by dispatch --wide --format csv -e SQ_BUSY_CYCLES | tail -n +2 | cut -d, -f16 | sort | uniq -c | tr -s ' ' >cells
is "$(tr '\n' ',' <cells)" ' 106 , 53 4096,' 'one pass a dispatch: what was not counted is filled with nothing'
clean 'one pass a dispatch' many

# Filters, and a program that ends with work in flight.
run dir collective --replay window -e SQ_WAVES -k scale
is "$(cat out)" "$(cat alone.collective)" 'a filter: the output is the program'\''s'
is "$(accounted dir)" 4 'a filter: what it takes is accounted for'
alone ends_early
run dir ends_early --replay window -e SQ_WAVES
is "$status $(cat out)" "7 $(cat alone.ends_early)" 'an early end: status and output are the program'\''s'
done_testing
