#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --cache flush: each counted range finds an L2 in which nothing of the program is left, and the program notices nothing.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
list='update atomics transfers graph once profiler'
# shellcheck disable=SC2086
"$traps" $list >want
counted() { sed -n "s/^libcupti:.*, $1 \([0-9]*\).*/\1/p" "$RETALLY_STANDIN_LOG"; } # prints nothing for none
for mode in window kernel none range; do
	# shellcheck disable=SC2086
	run o "$three" --cache flush --replay $mode -- "$traps" $list
	same $? want "flush, $mode"
	clean "flush, $mode"
	# Of ranges that CUPTI makes itself, what empties the L2 has one, too.
	automatic=$(counted 'automatic ranges')
	all=$(($(counted ranges) + ${automatic:-0} / 2))
	[ $all -gt 0 ] && [ "$(counted 'ranges with a cold L2')" = $all ]
	ok $? "flush, $mode: all of $all ranges found a cold L2"
	# shellcheck disable=SC2086
	run o "$three" --cache keep --replay $mode -- "$traps" $list
	same $? want "keep, $mode"
	is "$(counted 'ranges with a cold L2')" '' "keep, $mode: none"
done
"$retally" run --source cuda -e "$three" --cache flush --replay range -o o -- "$traps" profiler >out 2>err
is $? 125 'flushed and kept are not put together'
"$retally" run --source sim --cache flush --replay window -o p -- "$traps" update >out 2>err
like "$?$(cat err)" "^125.*--cache flush empties the L2 of NVIDIA's GPUs; it cannot do that.*'sim'" 'another device is refused by name'
run p "$three" --cache cold --replay window -- "$traps" update
like "$?$(cat err)" "^125.*--cache: 'cold' is not keep or flush" 'a word that is none'
# No memory for it: said, and the program runs on.
RETALLY_STANDIN_FAIL=alloc run o "$three" --cache flush --replay none -- "$traps" update
"$traps" update >want
same $? want 'no memory for it'
like "$("$retally" report o --by reason)" 'the caches could not be emptied' 'no memory for it: the reason'
done_testing
