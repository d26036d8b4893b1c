#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# --distribute: which process runs which pass, many processes at once in one directory, coverage.
# shellcheck disable=SC2012 # names of our own making
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
unset RETALLY_RANK RETALLY_SIZE
app=$programs/twelve
counters=bp:f1,bp:f2,bp:f3,bp:f4,bp:f5,bp:f6,bp:f7,bp:f8,bp:f9,bp:f10,bp:f11,bp:f12
total=$("$retally" plan -e $counters --count -- "$app")
like "$total" '^[2-9]$' "the plan has several passes ($total)"
run() { "$retally" run -e $counters "$@" -- "$app" >out 2>err; }
assigned() { sed -n 's/^retally: pass \([0-9]*\) of [0-9]* was collected here.*/\1/p' err; }

exits 125 'dispatches are refused where nothing is launched' run --replay application --distribute dispatch
like "$(cat err)" '--distribute dispatch .*--replay' 'with the option that excludes it'
exits 125 'an unknown unit is refused' run --distribute node
exits 125 'an unknown order is refused' run --distribute rank:odd
exits 125 'a rank that nobody tells is no rank 0' run --distribute rank
like "$(cat err)" '--distribute process' 'and the way out is named'
exits 125 'one pass is chosen once' run --distribute process --pass 1
exits 125 'a seed is a number' run --distribute process --seed x

# Twice the same seed: the same pass. Over seeds: every pass.
seen=
for seed in 1 2 3 4 5 6 7 8; do
	run --distribute process:random --seed $seed -o seeded
	a=$(assigned)
	if [ $seed = 1 ]; then
		run --distribute process:random --seed $seed -o again
		is "$(assigned)" "$a" "seed $seed gives pass $a again"
	fi
	seen="$seen $a"
done
# shellcheck disable=SC2086 # a list of numbers
is "$(printf '%s\n' $seen | sort -un | wc -l)" "$total" "eight seeds reach all $total passes"
is "$(ls seeded/spool/*.rts | wc -l)" 8 'eight runs are eight files in one directory'
unlike "$(cat err)" '^missing' 'nothing is missing then'

# One pass only, coverage names the others.
run --distribute process:random --seed 1 -o one
like "$(cat err)" '^samples of the .* passes: 1 of pass [0-9]$' 'the coverage of one run'
like "$(cat err)" '^missing: pass .* about [0-9]+ more random' 'and how many more would close the gap'

# Eight processes at the same moment make one directory, each pass dealt in turn.
pids=
for rank in 0 1 2 3 4 5 6 7; do
	RETALLY_RANK=$rank RETALLY_SIZE=8 RETALLY_JOB=same timeout 60 "$retally" run -e $counters --distribute rank \
		-o shared -- "$app" >"out.$rank" 2>"err.$rank" &
	pids="$pids $!"
done
status=0
for pid in $pids; do wait "$pid" || status=$?; done
is "$status" 0 'eight ranks at once all succeed'
is "$(ls shared/spool/*.rts | wc -l)" 8 'each has a file of its own'
is "$(for r in 0 1 2 3 4 5 6 7; do ls shared/spool/*.$r.*.rts; done | wc -l)" 8 'with its rank in the name'
is "$(ls shared | tr '\n' ' ')" 'plan.json retally.db run.json spool ' 'nothing else is left behind'
# Values of some ranks are marked with them; every rank has its row.
"$retally" report shared >text
like "$(cat text)" 'samples of the [0-9]+ passes: ' 'the report tells the coverage'
like "$(cat text)" '^ranks +of the 8 ranks only some measured' 'and that totals are not of all ranks'
like "$(cat text)" '^  bp:f12 +120 .*  [0-9](, [0-9])* of 8' 'a counter of some passes is marked with its ranks'
unlike "$(cat text)" '^  task-clock .* of 8' 'one that every rank counted is not'
"$retally" report shared --format csv >csv
is "$(head -1 csv | tr -d '\r' | sed 's/.*,varying,//')" 'ranks,of_ranks' 'CSV has the ranks'
like "$(grep ',task-clock,' csv)" ',0-7,8.?$' 'and how many there are'
is "$("$retally" report shared --format json | python3 -c '
import json, sys
v = [x for x in json.load(sys.stdin)["values"] if x["name"] == "bp:f12"][0]
ranks = [r for r in v["ranks"].replace(" ", "").split(",")]
print(v["of_ranks"], v["sum"] == 120 * len(ranks) if "-" not in v["ranks"] else True, v["sum"] < 8 * 120)')" \
	'8 True True' 'JSON too, and a sum is of those ranks'
"$retally" report shared --by rank >text
is "$(sed -n '/^ranks$/,/^$/p' text | grep -c '^ *[0-7] ')" 8 'by rank: a row for each'
like "$(cat text)" '^  rank +host +passes +runs +exit +pid' 'with its host, passes and pid'
is "$("$retally" report shared --by rank --format json | python3 -c '
import json, sys
print(sorted(r["rank"] for r in json.load(sys.stdin)["ranks"]))')" '[0, 1, 2, 3, 4, 5, 6, 7]' 'in JSON as well'
RETALLY_RANK=8 RETALLY_SIZE=9 RETALLY_JOB=same run --distribute rank -o shared
RETALLY_RANK=0 RETALLY_SIZE=9 RETALLY_JOB=same run --distribute rank -o shared
unlike "$(cat err)" '^missing' 'all passes are covered'
is "$(sqlite3 shared/retally.db 'pragma integrity_check')" ok 'the database is sound'
done_testing
