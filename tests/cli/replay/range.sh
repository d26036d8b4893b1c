#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ranges that a program marked around launches of a device: each is one unit, counted in every pass and replayed; the
# innermost mark takes the dispatches. And what the filters mean there.
# shellcheck disable=SC1091,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
program=$programs/sim_program
"$program" 6 range >plain
run() { # NAME OPTION...
	exits 0 "$1" "$retally" run --source sim --replay range "${@:2}" -- "$program" 6 range
	cmp -s plain out; ok $? "$1: its output is the program's"
}
csv() { "$retally" report "$1" --format csv "${@:2}"; }
# of one counter: range, executions and their value, as lines
values() { csv "$1" --by dispatch -e "$2" | awk -F, 'NR > 1 { print $1, $2, $19 * 1 }' | sort | uniq -c | awk '{ print $1, $2, $3, $4 }'; }
run 'ranges' -o plain.d
like "$(cat err)" '2 kernels, 6 dispatches, 4 of 4 passes, 23 of 23 counters' 'three of each name, in every pass'
# three launches a range: of 4096, 4096 and 64 rounded up to 4096 items
is "$(values plain.d DEV_DISPATCHES | cut -d' ' -f2- | sort -u)" "$(printf 'inner range 3\npair range 3')" 'each counts its three dispatches together'
is "$(csv plain.d --by window | awk -F, 'NR > 1 { w += $4; d += $5 } END { print w, d }')" '6 18' 'six units of three dispatches; what is outside the marks is not taken'
like "$(csv plain.d --by window)" 'range begins' 'a mark inside ends the outer unit'
exits 0 'the same by NVTX' "$retally" run --source sim --replay range -o nvtx -- "$program" 6 nvtx
cmp -s plain out; ok $? 'the same by NVTX: its output is the program'"'s"
is "$(values nvtx DEV_DISPATCHES)" "$(values plain.d DEV_DISPATCHES)" 'the same by NVTX: counts'
is "$("$program" 6 nvtx)" "$(cat plain)" 'NVTX without retally'
run 'a filter inside ranges' -k walk -o walk
is "$(values walk DEV_DISPATCHES | cut -d' ' -f2- | sort -u)" "$(printf 'inner range 1\npair range 1')" 'leaves one dispatch in each'
run 'repeats' --repeat 2 -o twice
is "$(csv twice --by dispatch -e SEQ_ITEMS --long | awk -F, 'NR > 1 { print $9 }' | sort -u | tr '\n' ' ')" '1 2 ' 'count each pass twice'
run 'one pass' --pass 2 -o second
is "$(csv second --by dispatch --long | awk -F, 'NR > 1 && $21 == "ok" { print $8 }' | sort -u)" 2 'counts that pass'
exits 0 'a program without marks' "$retally" run --source sim --replay range -o none -- "$program" 6 return
like "$(cat err)" 'no kernel was seen' 'says that nothing was seen'
done_testing
