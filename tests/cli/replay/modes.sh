#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Passes replayed inside one execution of a program of the simulated device: modes, filters, one pass, repeats,
# dealing passes over dispatches, merging what two runs collected. The program's output is the same every time.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
program=$programs/sim_program
"$program" 8 return >plain
run() { exits "$1" "$2" "$retally" run --source sim "${@:3}" -- "$program" 8 return; same "$2: its output is the program's"; }
same() { cmp -s plain out; ok $? "$1"; }
csv() { "$retally" report "$1" --format csv "${@:2}"; }
# distinct values of a column of a report by dispatch: DIR COLUMN-NAME
column() {
	csv "$1" --by dispatch "${@:3}" | awk -F, -v want="$2" 'NR == 1 { for (i = 1; i <= NF; i++) if ($i == want) c = i; next } { print $c }' |
		sort -n | uniq | tr '\n' ' '
}

for mode in kernel window auto; do
	run 0 "--replay $mode" --replay "$mode" -o "$mode"
	like "$(cat err)" '3 kernels, 27 dispatches, 4 of 4 passes, 23 of 23 counters, 19 of 19 metrics' "$mode: everything is collected"
	is "$(csv "$mode" --by dispatch | grep -c ',ok,')" "$(($(csv "$mode" --by dispatch | wc -l) - 1))" "$mode: every value has its number"
	is "$(column "$mode" replayed)" 'true ' "$mode: every dispatch was replayed"
	csv "$mode" -e SEQ_INSTRUCTIONS,SEQ_ITERATIONS,DEV_DISPATCHES | cut -d, -f1,6,8,12 >"$mode.counts"
done
cmp -s kernel.counts window.counts; ok $? 'window and kernel replay count the same'
cmp -s kernel.counts auto.counts; ok $? 'and so does what auto chose'
is "$(csv kernel --by window | awk -F, 'NR > 1 { n += $4; d += $5 } END { print n, d }')" '27 27' 'kernel: a window for each dispatch'
run 0 'without checks' --replay window --verify never -o unchecked
is "$(csv unchecked --by window | awk -F, 'NR > 1 { n += $4; d += $5 } END { print n, d }')" '3 27' 'three windows for all of them'
like "$(csv unchecked --by window)" '^10-99,sim_queue_wait,true,2,24,' 'with the call that ended them'
like "$("$retally" report window)" 'replay .*27 dispatches: .* live, .* with replays' 'the report says what it cost'

# filters
run 0 'a filter by name' --replay kernel -k walk -o walk
like "$(cat err)" '1 kernel, 9 dispatches' 'leaves one kernel'
run 0 'skip and count' --replay kernel -k exact:walk -s 2 -c 3 -o few
is "$(column few dispatch)" '8 11 14 ' 'the third to the fifth walk'
run 0 'an excluding pattern' --replay window -k '!regex:^(walk|update)$' -o other
is "$(column other kernel)" 'vector_add ' 'leaves the rest'
exits 125 'the directory of other filters' "$retally" run --source sim --replay kernel -k update -o walk -- "$program" 8 return
like "$(cat err)" "other filters: '-k walk' there, '-k update' now" 'is refused with both'
exits 125 'no kernel matches, --strict' "$retally" run --source sim --replay window -k nothing --strict -o none -- "$program" 8 return
same 'the program ran all the same'
like "$(cat err)" 'no kernel was seen: a device was opened, but no kernel that the filters take' 'with the likely reason'
like "$(cat err)" 'the filters take none of the kernels that were launched on device 0: (update|vector_add|walk), ' 'and the names of those that were seen'
exits 2 'a report of a kernel that there is not' "$retally" report walk -k nothing
is "$(cat err)" "retally: error: no kernel matches 'nothing'; there are walk" 'has the names, too'
exits 0 'a program without a device' "$retally" run --source sim -o nodevice -- "$program" 8 none
like "$(cat err)" 'no kernel was seen: nothing was recorded in the program' 'has another one'
unlike "$("$retally" report nodevice)" 'to collect the missing' 'and no pass is offered'

# one pass, and another one later
run 0 '--pass 2/4' --replay kernel -k walk --pass 2/4 -o parts
is "$(column parts pass)" '2 ' 'only pass 2 was counted'
like "$(cat err)" 'next: retally run --source sim --replay kernel -k walk --pass 1 -o parts -- .*sim_program 8 return' 'and the next command is named'
sh -c "PATH=$(dirname "$retally"):\$PATH; $(sed -n 's/^  next: //p' err)" >out 2>err
same 'which works'
is "$(column parts pass)" '1 2 ' 'and adds its pass'
run 0 'the passes of another directory' --replay kernel -k walk --pass 3 -o more
exits 0 'merged' "$retally" merge parts more -o merged
is "$(column merged pass)" '1 2 3 ' 'are all there'
exits 125 'a pass that there is not' "$retally" run --source sim --pass 5 --replay kernel -o five -- "$program" 8 return

# repeats
run 0 '--repeat 3' --replay window -k walk --repeat 3 -o repeat
like "$(cat err)" '1 kernel, 9 dispatches, 4 of 4 passes' 'and each dispatch of the program is one, as without'
is "$(column repeat attempt)" '1 2 3 ' 'counts each pass three times'
is "$(csv repeat -e SEQ_ITEMS | awk -F, 'NR == 2 { print $13 }')" "$((9 * 4 * 3))" 'n counts them all'

# dispatches with a pass each
run 0 '--distribute dispatch' --distribute dispatch --seed 1 -o cyclic
is "$(csv cyclic --by dispatch -e SEQ_ITEMS | awk -F, 'NR > 1' | wc -l)" 27 'every dispatch has one pass'
is "$(column cyclic replayed)" 'false ' 'and nothing was replayed'
is "$(column cyclic pass)" '1 2 3 4 ' 'all passes were dealt'
passes() { csv "$1" --by dispatch -e SEQ_ITEMS | cut -d, -f1,3,8; }
run 0 'the same seed' --distribute dispatch:cyclic --seed 1 -o again
is "$(passes again)" "$(passes cyclic)" 'deals the same'
run 0 'at random' --distribute dispatch:random --seed 1 -o random
run 0 'again' --replay none --distribute dispatch:random --seed 1 -o random2
is "$(passes random2)" "$(passes random)" 'the same seed draws the same'
[ "$(passes random)" != "$(passes cyclic)" ]; ok $? 'which is not one after the other'
done_testing
