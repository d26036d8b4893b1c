#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# rocTX ranges as units of counting: --replay range counts each as one, and only what is inside one.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/rocm/rocm.sh" || exit 99
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

# As a filter: dispatches are chosen by the ranges that they are in, and are counted each for itself.
chosen() { # OPTION...: how many dispatches were counted goes to $chosen
	run dir '' -e SQ_WAVES "$@"
	is "$status $(cat out)" "0 $(cat alone.)" "$*: the output is the program's"
	"$retally" report dir --by dispatch --wide --format csv -e SQ_WAVES >rows
	chosen=$(grep -c '^accumulate,' rows)
}
for mode in kernel window; do
	chosen --replay $mode
	is "$chosen" 11 "$mode: all without a filter"
	chosen --replay $mode --range steps
	is "$chosen" 6 "$mode, --range steps: what is in them, also in a range inside"
	chosen --replay $mode --range inner
	is "$chosen" 2 "$mode, --range inner"
	chosen --replay $mode --range 'regex:^(inner|whole)$'
	is "$chosen" 6 "$mode, a regular expression: two ranges, one ended by another thread"
	chosen --replay $mode --range '!steps'
	is "$chosen" 6 "$mode, all but steps"
	chosen --replay $mode --range steps --range exact:whole -k accumulate -s 1 -c 7
	is "$chosen" 7 "$mode, with the other filters, which count what is inside"
	chosen --replay $mode --range nowhere
	is "$chosen" 0 "$mode, a name that is no range"
done
chosen --distribute dispatch --range whole
# the first is only looked at, whether it ends
is "$chosen $(accounted dir)" '3 4' 'one pass a dispatch: in ranges only'
# As units: those that are chosen, as if the others were not there.
run dir '' --replay range --range steps -e SQ_WAVES
"$retally" report dir --by dispatch --wide --format csv -e SQ_WAVES >rows
is "$(waves steps) $(grep -c ',range,' rows)" '16 32 48  3' 'units: the chosen, in pieces where another one began and ended'
is "$(waves inner)" '' 'and not those inside'
exits 125 'a filter that is none' "$retally" run --source rocm -e SQ_WAVES --range 'regex:(' -- "$traps"
like "$(cat err)" '^retally: error: --range: pattern .regex:' 'is refused with its name'
exits 125 'application mode' "$retally" run --replay application -e page-faults --range x -- true
like "$(cat err)" '--range is for kernels that are replayed in place' 'has no ranges'
done_testing
