#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A device that reaches memory of the host that nobody registered: kernels with such an argument run once, for that reason, and numbers
# that only look like addresses change nothing.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
export RETALLY_STANDIN_PAGEABLE=1
why='memory of the host that was not registered (HMM or ATS)'
"$traps" pageable numbers >want
is $? 0 'the program alone'
for mode in window kernel auto; do
	run o "$three" --replay $mode -- "$traps" pageable numbers
	same $? want "$mode"
	clean "$mode"
	[ $mode = auto ] && continue
	is "$("$retally" report o --by reason --format csv | sed -En 's/,kernel,(not counted|"one pass each, live"),/ /p' | LC_ALL=C sort)" "12,update $why
2,CUDA graph $why" "$mode: what reaches it is named"
	is "$("$retally" report o --by dispatch --format csv --wide 2>/dev/null | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { n[$c["counted"]]++ } END { print n[3] }')" 8 "$mode: numbers are none"
done

# All the other traps are what they were: none of their arguments is taken for such memory.
list=$("$traps" list | grep -v '^spin')
# shellcheck disable=SC2086
"$traps" $list >want
# shellcheck disable=SC2086
run o "$three" --replay window -- "$traps" $list
same $? want 'the other traps'
unlike "$("$retally" report o --by reason)" 'not registered' 'the other traps: no reason'

# No answer is taken for yes.
"$traps" pageable >want
RETALLY_STANDIN_FAIL=attribute run o "$three" --replay window -- "$traps" pageable
same $? want 'a driver that does not answer'
RETALLY_STANDIN_FAIL=pageable run o "$three" --replay window -- "$traps" pageable
! cmp -s want out
ok $? 'the control: where the device is taken for one that does not reach it, the output breaks'
done_testing
