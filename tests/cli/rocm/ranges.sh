#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# rocTX ranges as units of counting: --replay range counts each as one, and only what is inside one.
. "$RETALLY_SOURCE/tests/cli/lib.sh"
. "$RETALLY_SOURCE/tests/cli/rocm/rocm.sh"
gpu 90010
traps=$programs/hsa_ranges
alone ''
run dir '' --replay range -e SQ_WAVES,SQ_INSTS_VALU
is "$status $(cat out)" "0 $(cat alone.)" 'the output is the program'\''s'
"$dump" dir/spool/*.rts | grep '^range' | cut -d' ' -f3 >ranges
is "$(tr '\n' ' ' <ranges)" 'steps steps inner whole ' 'a unit for each piece of a range; the innermost has it'
"$retally" report dir --by dispatch --wide --format csv -e SQ_WAVES >rows
is "$(grep -c ',range,' rows)" 4 'four ranges'
waves() { grep "^$1,range," rows | cut -d, -f16 | sort -n | tr '\n' ' '; }
# 1024 work-items are 16 wavefronts
is "$(waves steps)" '16 48 ' 'steps: 1 and 3 kernels'
is "$(waves inner)" '32 ' 'inner: 2 kernels'
is "$(waves whole)" '64 ' 'whole, ended by another thread: 4 kernels'
like "$(cat report)" '10 dispatches counted' 'the kernel outside of all ranges is not counted'
run dir '' --replay range -e SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_SALU,SQ_INSTS_SMEM,SQ_INSTS_LDS,SQ_BUSY_CYCLES,SQ_WAVE_CYCLES,SQ_WAIT_ANY,SQ_INSTS_BRANCH
is "$status $(cat out)" "0 $(cat alone.)" 'two passes: the output is the program'\''s'
like "$(cat report)" '20 dispatches counted' 'two passes: each dispatch twice'
clean 'two passes' ''
run dir '' --replay range -k nothing -e SQ_WAVES
is "$("$dump" dir/spool/*.rts | grep -c '^range')" 0 'with -k only kernels that match are counted in ranges'
done_testing
