#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What passes cost and what is known of them: one pass saves and replays nothing, windows are told by size and by the
# call that ended them, a program that waits after each launch has its passes spread, clocks are read and never set.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
told() { tr -s '\n ' ' '; } # lines that were wrapped, joined
list=$("$traps" list | grep -v spin)

# One pass: the program's own launches are counted, and nothing else is done.
# shellcheck disable=SC2086
"$traps" $list >want
# shellcheck disable=SC2086
run o "$one" --replay auto -- "$traps" $list
same $? want 'one pass'
clean 'one pass'
is "$(logged libcuda 'replayed launches')" '' 'one pass: nothing is launched again'
is "$("$retally" report o --by window --format csv | awk 'NR > 1' | wc -l)" 0 'one pass: no window, so nothing is saved'
declined=$("$retally" report o --by reason --format csv | awk -F, 'NR > 1 && $4 == "not counted" { n += $1 } END { print n + 0 }')
# (eight launches of the traps `graph`, `graph_only`, `graph_whole` and `graph_bare` are captured, and do not run)
is "$(($(logged libcupti ranges) + declined))" "$(($(logged libcuda launches) + $(logged libcuda graphs) - 8))" \
	"one pass: every launch is counted, but for $declined that are declined"
like "$("$retally" report o | told)" 'auto: none, the counters fit one pass' 'one pass: that is said'
run p "$one" --replay auto -- "$traps" streams
is "$(logged libcuda launches) $(logged libcupti ranges)" '20 20' 'one pass: twenty launches, each counted'
# (two, and one more for each look at the device that came between)
ok $(($(logged libcupti passes) > 5)) "one pass: programmed $(logged libcupti passes) times for them"
run p "$one" --replay window -- "$traps" append once update
run q "$one" --replay auto -- "$traps" append once update
for dir in p q; do
	"$retally" report $dir --by dispatch --format csv --wide 2>/dev/null | cut -d, -f1,3,16 >$dir.values
done
is "$(sort q.values)" "$(sort p.values)" 'one pass: the values are those of replay'
RETALLY_STANDIN_FAIL=stop@2x1 run o "$one" --replay auto -- "$traps" update append
"$traps" update append >want
same $? want 'one pass that cannot be ended'
like "$("$retally" report o --by reason)" 'stopping the counters failed' 'one pass that cannot be ended: the reason'

# After a kernel that does not end by itself the rest is counted again, once the program has waited for it.
"$traps" spin waits >want
for counters in one three; do
	run o "${!counters}" --replay auto -- "$traps" spin waits
	same $? want "after a kernel that does not drain, $counters"
	is "$("$retally" report o --by reason --format csv | awk -F, '$2 == "update" { n += $1 } END { print n + 0 }')" 2 \
		"after a kernel that does not drain, $counters: only what ran beside it is not counted"
done

# Alone it is counted with one pass, which stays open until the program has waited for it; the first was waited for in vain.
"$traps" hold >want
run o "$one" --replay window -- "$traps" hold
same $? want 'a kernel that does not drain, alone'
clean 'a kernel that does not drain, alone'
"$retally" report o --by reason >reasons
like "$(cat reasons)" '3 +spin +one pass each, live +does not drain' 'a kernel that does not drain, alone: counted with one pass'
like "$(cat reasons)" '1 +spin +not counted +does not drain' 'a kernel that does not drain, alone: but the first'

# With counters of several passes it is a group of them that fit one, another each time.
run o "$three" --replay window -- "$traps" hold
same $? want 'the same, three passes'
clean 'the same, three passes'
like "$("$retally" report o --by reason)" '3 +spin +one pass each, live +does not drain' 'the same, three passes: counted'
is "$(values o | cut -d' ' -f1,3 | sort -u | wc -l)" 3 'the same, three passes: every counter has a value'

# A collective that is launched often has all counters but those that need several passes by themselves, as sampled values.
"$traps" collective_often >want
for mode in window kernel; do
	run o "$six" --replay $mode -- "$traps" collective_often
	same $? want "a collective, often, $mode"
	clean "a collective, often, $mode"
	like "$("$retally" report o --by reason)" '24 +ncclDevKernel_update +one pass each, live +a collective' "a collective, often, $mode: counted"
	# Kernel, counter, value, number of values, estimate, number of dispatches; the other kernel does the same work, and is replayed.
	"$retally" report o --format csv | awk -F, 'NR > 1 && $13 { print $1, $6, $8, $13, $19, $22 }' >counted
	is "$(sed -n 's/^ncclDevKernel_update \([^ ]*\) .*/\1/p' counted)" "$(tr , '\n' <<<"$six" | grep -vE '^(dram|l1tex|gpu)__' | sort)" \
		"a collective, often, $mode: all counters but three"
	is "$(awk '$1 == "ncclDevKernel_update" && ($4 != 4 || $5 != $3 || $6 != 24)' counted)" '' \
		"a collective, often, $mode: sampled, four of 24 each, which is said"
	is "$(awk '$1 == "update" { v[$2] = $3; n += $4 == 24 } $1 != "update" { w[$2] = $3 } END { for (c in w) if (w[c] != v[c]) print c, w[c], v[c]; print n }' counted)" \
		10 "a collective, often, $mode: the values of the kernel that is replayed, which has all"
	"$retally" report o | told >text
	like "$(cat text)" 'several passes by themselves are not collected of dispatches that are not replayed: dram__bytes.sum, l1tex__throughput.avg.pct_of_peak_sustained_elapsed' \
		"a collective, often, $mode: what needs several passes by itself is named"
	like "$(cat text)" 'elapsed time are not collected of some' "a collective, often, $mode: and that times are not known"
	like "$(cat text)" 'plan 6 passes' "a collective, often, $mode: the groups are no passes"
done
"$traps" update >want
run o "$six" --replay window -- "$traps" update
same $? want 'nothing declined'
unlike "$("$retally" report o | told)" 'not collected of dispatches' 'nothing declined: nothing is said'
is "$(logged libcupti passes)" "$(($("$retally" plan --source cuda -e "$six" --count) * $("$retally" report o --by window --format csv | awk -F, 'NR > 1 { n += $4 } END { print n }')))" \
	'nothing declined: no pass but those of windows'
for options in "-e $one --replay window" "-e $six --replay none" "-e $six --pass 1" "-e $six --distribute dispatch"; do
	rm -rf o
	# shellcheck disable=SC2086
	"$retally" run -q --source cuda -o o $options -- "$traps" update >out 2>err
	is "$(grep -c '"live":' o/plan.json)" 0 "$options: passes that stand alone want no groups besides"
done

# Windows.
run o "$three" --replay window -- "$traps" update
"$retally" report o --by window --format csv >windows
is "$(awk -F, 'NR > 1 { print $1, $2, $4, $5 }' windows | sort)" "$(printf '1 cuCtxSynchronize 1 1\n2-9 cuStreamSynchronize 1 6')" \
	'windows by size and by the call that ended them'

# Each launch is waited for, often: passes are spread, one a dispatch, and every counter has values.
"$traps" waits >want
RETALLY_STANDIN_FAIL=slow=15 run o "$three" --replay auto -- "$traps" waits
same $? want 'waiting after each launch'
clean 'waiting after each launch'
like "$("$retally" report o | told)" 'auto: none, passes are spread over dispatches' 'waiting after each launch: passes are spread, which is said'
is "$("$retally" report o --by reason --format csv | awk 'NR > 1' | wc -l)" 0 'waiting after each launch: nothing is declined'
[ "$(logged libcupti passes)" -lt 250 ]
ok $? "waiting after each launch: one pass a dispatch in the end, $(logged libcupti passes) for $(logged libcuda launches), not 450"
is "$("$retally" report o --by dispatch --format csv --wide 2>/dev/null | awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
	{ a += $c["smsp__inst_executed.sum"] != ""; b += $c["smsp__threads_launched.sum"] != ""; d++ } END { print (a > 40), (b > 40), d }')" \
	'1 1 150' 'waiting after each launch: each dispatch is there, and every counter often'
run o "$six" --replay auto -- "$traps" waits
same $? want 'waiting after each launch, counters of several passes'
like "$("$retally" report o | told)" 'auto: (kernel|window)' 'waiting after each launch, counters of several passes: replayed, because their parts belong together'

# Never replayed.
"$traps" collectives unsavable >want
for counters in one three; do
	for mode in window kernel auto; do
		run o "${!counters}" --replay $mode -- "$traps" collectives unsavable
		same $? want "collectives and arrays, $counters, $mode"
		clean "collectives and arrays, $counters, $mode"
		[ $counters$mode = oneauto ] && continue # nothing is replayed anyway
		"$retally" report o --by reason --format csv >reasons
		is "$(grep -cE '^1,(ncclDevKernel_update|ncclKernel_AllReduce_RING_LL|nvshmemi_transfer_rma),.*a collective' reasons)" 3 \
			"$counters, $mode: collectives are told by their names"
		like "$(cat reasons)" '^1,add,.*its module uses NVSHMEM' "$counters, $mode: or by NVSHMEM's state in their module"
		like "$(cat reasons)" '^1,\(on several devices\),.*a cooperative launch on several devices' "$counters, $mode: so is a launch on several devices"
		for array in 'a sparse array' 'an array of a format' 'an array of another process or API'; do
			is "$(grep -cE "^1,(update|add),.*a surface on $array" reasons)" 2 "$counters, $mode: while there is a surface on $array"
		done
		# Two of them, the first of a kernel, ran once more before.
		is "$(logged libcuda 'replayed launches' | awk -v p="$(case $counters in one) echo 1 ;; *) echo 3 ;; esac)" '{ print ($1 - 2) / p }')" 4 \
			"$counters, $mode: four others are replayed"
	done
done

# Clocks.
run o "$three" --replay window -- "$traps" update atomics
is "$(logged libnvidia-ml 'clocks read')" "$(logged libcupti passes)" 'the clock is read once a pass'
like "$("$retally" report o | told)" 'GPU 0: SM clock at the end of passes, MHz by NVML: pass 1 1[0-9]* to 1980, pass 2 1[0-9]* to 1965, pass 3 1[0-9]* to 1950' \
	'and reported for each'
RETALLY_STANDIN_FAIL=nvml run o "$three" --replay window -- "$traps" update
"$traps" update >want
same $? want 'without NVML'
unlike "$("$retally" report o)" 'SM clock' 'without NVML: nothing is claimed'
done_testing
