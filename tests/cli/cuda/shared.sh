#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Memory that other processes, devices and APIs have, too: what they write is not undone, kernels that reach it run once, for
# that reason, and what is the program's alone is replayed.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
list='given given_late given_chain given_copy taken segments segments_left pool_kinds segments_given segments_taken segments_twice multicast'
# shellcheck disable=SC2086
"$traps" $list >want
is $? 0 'the program alone'
given='"memory that was given to others, too, or is mapped twice"'
for mode in window kernel auto; do
	# shellcheck disable=SC2086
	run o "$three" --replay $mode -- "$traps" $list
	same $? want "$mode"
	clean "$mode"
	[ $mode = auto ] && continue
	is "$("$retally" report o --by reason --format csv | sed -En 's/,kernel,(not counted|"one pass each, live"),/ /p' | sort)" "$(
		sort <<-END
			2,CUDA graph $given
			2,chain $given
			1,chain wrote outside its reach
			43,update $given
			2,update reaches memory of another context
			1,update it reaches memory that the host may use at any time
			32,update "memory of another process, API or device"
		END
	)" "$mode: what others have is named"
	is "$("$retally" report o --by dispatch --format csv --wide 2>/dev/null | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { n[$c["counted"]]++ } END { print n[3] }')" 35 "$mode: all others are counted"
done

# The controls: given away unseen, all of it is put back.
for trap in given given_late given_chain segments_given multicast; do
	"$traps" $trap >alone
	RETALLY_STANDIN_FAIL=given run o "$three" --replay window -- "$traps" $trap
	! cmp -s alone out
	ok $? "the control: $trap breaks when it is not known that others have it"
done

"$traps" taken_frame update >alone
run o "$three" --replay window -- "$traps" taken_frame update
same $? alone 'memory of EGL'
is "$("$retally" report o --by reason --format csv | sed -En 's/,kernel,(not counted|"one pass each, live"),/ /p')" \
	'4,update "there is memory of EGL, of which it is not told where"' 'memory of EGL: nothing is replayed from then on'

# What the driver does not tell the size of may be anywhere.
"$traps" given taken >alone
RETALLY_STANDIN_FAIL=pointer run o "$three" --replay window -- "$traps" given taken
same $? alone 'sizes that are not told'
is "$("$retally" report o --by reason --format csv | sed -En 's/,kernel,(not counted|"one pass each, live"),/ /p' | sort)" "16,update $given
20,update \"there is memory of another process, and the driver does not say how much\"" 'sizes that are not told: nothing is replayed from then on'
done_testing
