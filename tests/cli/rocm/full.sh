#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# All counters of a full profile, and two more than fit into its passes: 13 passes of every dispatch, on gfx90a and gfx942,
# kernel by kernel and in windows. Outputs are the program's, each dispatch is replayed or declined by name, there is a
# record of every instance of every counter, nothing of ours is left.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/rocm/rocm.sh" || exit 99
more=SQ_INST_CYCLES_SALU,SQ_WAVES_LT_16
# Instances of a counter of each block, as the stand-in's dimensions have them.
declare -A instances=(
	[gfx90a]='CPC=1 CPF=1 GRBM=1 SPI=8 SQ=8 TA=128 TCC=32 TCP=128 TD=128'
	[gfx942]='CPC=8 CPF=8 GRBM=8 SPI=32 SQ=32 TA=512 TCC=128 TCP=512 TD=512'
)

# TRAP LAUNCHES, and how many of them are counted at least. What never drains alone is waited for for 10 s.
cat >programs_of <<'END'
accumulate 4 4
atomics 4 4
through_pointer 4 3
module_variable 4 4
two_queues 8 8
waits_for_host 8 4
waits_for_kernel 8 0
freed 4 4
END
for chip in '90010 gfx90a' '90402 gfx942'; do
	gpu "${chip% *}"
	chip=${chip#* }
	export RETALLY_T0_AGENTS=$chip
	exits 0 "$chip: a plan" "$retally" plan --source rocm --set full --count
	is "$(cat out)" 12 "$chip: the full set takes 12 passes"
	"$retally" plan --source rocm --set full >plan
	like "$(head -1 plan)" '12 passes, proven minimal' "$chip: fewer are impossible"
	exits 0 "$chip: a plan with more" "$retally" plan --source rocm --set full -e "$more" --count
	is "$(cat out)" 13 "$chip: with two counters more it is 13"
	while read -r trap launches least; do
		alone "$trap"
		for mode in kernel window; do
			name="$chip, $mode, $trap"
			replayed "$name" "$trap" $mode "$launches" "$least" "${instances[$chip]}" '13 of 13 passes, ([0-9]*) of \1 counters'
			clean "$name" "$trap"
		done
	done <programs_of
done
done_testing
