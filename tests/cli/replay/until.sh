#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --until PRECISION: kernels are left uncounted once they are known well enough. What never changes ends at the least
# number, what varies later, what is left out is counted and estimated, and the truth is within the intervals.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
program=$programs/sim_program
export RETALLY_SIM_NOISE=100
"$program" 2000 return >plain
run() { # DIR OPTION...
	exits 0 "$1: ends well" "$retally" run --source sim -o "$1" "${@:2}" -- "$program" 2000 return
	cmp -s plain out; ok $? "$1: the output is the program's"
}
cell() { # DIR KERNEL NAME COLUMN: of the report by kernel
	[ -f "$1.csv" ] || "$retally" report "$1" --format csv >"$1.csv"
	awk -F, -v k="$2" -v name="$3" -v want="$4" '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$c["kernel"] == k && $c["name"] == name { print $c[want] }' "$1.csv"
}
kernel() { # DIR KERNEL FIELD
	[ -f "$1.json" ] || "$retally" report "$1" --format json >"$1.json"
	python3 -c '
import json, sys
print(next(r for r in json.load(sys.stdin)["kernels"] if r["kernel"] == sys.argv[1])[sys.argv[2]])' "$2" "$3" <"$1.json"
}
command -v python3 >/dev/null || skip_all 'no python3'

# One pass: all dispatches are counted without the option, which is the truth.
one=(--no-anchors -e "SEQ_ITEMS,SEQ_ITERATIONS" --distribute dispatch --seed 1)
run all "${one[@]}"
run two "${one[@]}" --until 2%
unlike "$(cat err)" 'declined' 'nothing is said to be declined'
like "$(cat err)" '^  left out: [0-9]+ dispatches, whose kernels were known well enough by then \(--until\)$' 'what was left out is said'
for k in update vector_add walk; do
	is "$(kernel two $k dispatches)" 2001 "$k: all dispatches are counted or left out"
	is "$(($(kernel two $k counted) + $(kernel two $k left_out)))" 2001 "$k: one or the other"
	is "$(cell two $k SEQ_ITERATIONS population)" 2001 "$k: the estimate is for all of them"
	ok "$(awk -v t="$(cell all $k SEQ_ITERATIONS value)" -v l="$(cell two $k SEQ_ITERATIONS low)" -v h="$(cell two $k SEQ_ITERATIONS high)" \
		'BEGIN { print !(l <= t && t <= h && (h - l) / 2 <= 0.02 * t) }')" "$k: the truth is inside, and the interval is as narrow as wanted"
done
seen=$(kernel two update counted)
ok $((seen < 45 || seen > 48)) "update never changes: known after 45, and what was under way by then ($seen)"
ok $(($(kernel two walk counted) <= seen)) "walk does: later ($(kernel two walk counted))"
like "$("$retally" report two)" '^  walk +2001 +[0-9]+ .* [0-9]+ left out, known after [0-9]+' 'the report says after how many'
like "$("$retally" report two --by reason)" ' walk +estimated +known within 2 %' 'and why'
is "$("$retally" report two --by reason --format csv | awk -F, 'NR > 1 { n += $1 } END { print n }')" \
	"$((3 * 2001 - $(kernel two update counted) - $(kernel two vector_add counted) - $(kernel two walk counted)))" 'each is counted there'
run narrow "${one[@]}" --until 1%
ok $(($(kernel narrow walk counted) <= $(kernel two walk counted))) 'narrower: later'
run strict "${one[@]}" --until 2% --strict
run never "${one[@]}" --until 0.001%
is "$(kernel never walk left_out)" 0 'too narrow for the program: everything is counted'

# Several passes, dealt: dispatches go to the passes that are not known yet.
run dealt --distribute dispatch:random --seed 3 --until 10%
is "$(cell dealt update SEQ_ITEMS population)" 2001 'four passes: the estimate is for all dispatches'
seen=$(kernel dealt update counted)
ok $((seen < 4 * 45 || seen > 4 * 45 + 8)) "each pass is counted as often as it takes, not much oftener ($seen)"
is "$(kernel dealt update passes)" '1-4' 'and none is missing'
run again --distribute dispatch:random --seed 3 --until 10%
strip() { "$retally" report "$1" --by dispatch --format csv | cut -d, -f1-3,8- | md5sum; }
is "$(strip again)" "$(strip dealt)" 'the same seed gives the same'
is "$(sed -n 's/.*"options": *"\([^"]*\)".*/\1/p' dealt/run.json | grep -o -- '--until [^ ]*')" '--until 10%' 'run.json has the option'

# Refused: one sentence, and nothing runs.
refused() { # SENTENCE OPTION...
	exits 125 "refused: ${*:2}" "$retally" run --source sim -o d "${@:2}" -- sh -c 'echo ran'
	is "$(wc -l <err) $(cat out)" '1 ' 'with one sentence, and nothing ran'
	like "$(cat err)" "^retally: error: --until$1" 'which says why'
}
for bad in 0 0% -1 -1% abc 200% 100% 1 1.5 '1%%' 1,5% .5% 0.00001% ''; do
	refused ": '$bad' is not a percentage above 0 % and below 100 %" --distribute dispatch --until "$bad"
done
refused ' is for dispatches that are counted live in one pass each: .* not where all passes are replayed' --until 1%
for mode in kernel window range auto application; do
	refused ' is for .* not where all passes are replayed' --until 1% --replay $mode
done
refused ' is for .* not with passes that are dealt over processes' --until 1% --distribute rank
refused ' is for .* not with passes that are dealt over processes' --until 1% --distribute process
refused ' is for .* not with --pass' --until 1% --pass 1
done_testing
