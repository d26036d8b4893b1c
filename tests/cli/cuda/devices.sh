#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two devices: each is replayed for itself; what reaches memory of the other runs once, and memory that both use is
# neither saved nor put back, whichever of them took it.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
export RETALLY_STANDIN_DEVICES=2
reasons() { "$retally" report o --by reason --format csv 2>/dev/null | sed -En 's/,kernel,(not counted|"one pass each, live"),/ /p' | tr -d '"' | sort; }
for mode in window kernel auto; do
	for trap in devices borrowed peers; do
		"$traps" $trap >want
		run o "$three" --replay $mode -- "$traps" $trap
		same $? want "$trap, $mode"
		clean "$trap, $mode"
		case $mode,$trap in
		*,devices)
			is "$(reasons)" '' "$trap, $mode: nothing is declined"
			is "$("$retally" report o --by dispatch --format csv --wide 2>/dev/null | grep -c '^update,.*,25120')" 12 "$trap, $mode: all have values"
			is "$("$retally" report o | grep -c 'GPU [01]:.* MHz')" 2 "$trap, $mode: both have a clock"
			;;
		[wk]*,borrowed)
			is "$(reasons)" '2,update it reaches memory that the host may use at any time
4,update reaches memory of another device' "$trap, $mode: declined" ;;
		[wk]*,peers)
			is "$(reasons)" '3,update reaches memory of another device
5,histogram memory that another device or context uses, too' "$trap, $mode: declined" ;;
		esac
	done
done
# A copy between them that is under way is waited for before anything is put back beside it.
"$traps" crossing >want
for mode in window kernel auto; do
	RETALLY_STANDIN_FAIL=late-copy=30,hang=20 run o "$three" --replay $mode -- "$traps" crossing
	same $? want "crossing, $mode"
	clean "crossing, $mode"
done
run o "$three" --replay window -- "$traps" peers
is "$("$retally" report o --by window | grep -c 'a launch of another context')" 1 'peers: it ends the window of the other'
done_testing
