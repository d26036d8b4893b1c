#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every --by with every format, of a run with kernels, one of which passes are missing, one that launched nothing, and one
# without any spool: each is well-formed, and text, CSV and JSON have the same rows.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
command -v python3 >/dev/null || skip_all 'no python3'
demo=$RETALLY_BUILD/examples/sim_demo
shape() { # CSV: all lines have the columns of the first; prints the number of rows
	python3 -c 'import csv, sys
rows = list(csv.reader(open(sys.argv[1], newline="")))
print(len(rows) - 1 if rows and len({len(r) for r in rows}) == 1 else "ragged", rows[0][0] if rows else "")' "$1"
}
values() { # JSON: the number of rows of "values", and the first key of one
	python3 -c 'import json, sys
d = json.load(open(sys.argv[1]), parse_constant=lambda c: sys.exit("no JSON: " + c))
print(len(d["values"]), next(iter(d["values"][0])) if d["values"] else "")' "$1"
}
exits 0 'a run' "$retally" run -q --source sim --replay window --set default -o whole -- "$demo"
exits 0 'a run of one pass' "$retally" run -q --source sim --replay window --set default --pass 1 -o part -- "$demo"
exits 0 'a run that launches nothing' "$retally" run -q --source sim --replay window --set default -o nothing -- true
mkdir -p empty && cp whole/plan.json whole/run.json empty/
for dir in whole part nothing empty; do
	for by in kernel dispatch pass rank; do
		exits 0 "$dir by $by as text" "$retally" report $dir --by $by
		exits 0 "$dir by $by as CSV" "$retally" report $dir --by $by --format csv
		csv=$(shape out)
		like "$csv" '^[0-9]+ [a-z]' "$dir by $by: CSV has a header, and rows as long"
		exits 0 "$dir by $by as JSON" "$retally" report $dir --by $by --format json
		json=$(values out)
		is "${json%% *}" "${csv%% *}" "$dir by $by: JSON has as many values as CSV rows"
	done
	exits 0 "$dir wide as CSV" "$retally" report $dir --by dispatch --wide --format csv
	like "$(shape out)" '^[0-9]+ kernel$' "$dir wide: well-formed"
	exits 0 "$dir as a page" "$retally" report $dir --format html
	like "$(tail -1 out)" '^</html>$' "$dir: the page has its end"
	exits 2 "$dir as a page by pass" "$retally" report $dir --by pass --format html
done
"$retally" report whole --by kernel --format csv >out
like "$(shape out)" '^[1-9]' 'the whole run has values'
for list in sources chips counters metrics sets; do
	exits 0 "list $list as text" "$retally" list $list --source sim
	exits 0 "list $list as CSV" "$retally" list $list --source sim --format csv
	csv=$(shape out)
	exits 0 "list $list as JSON" "$retally" list $list --source sim --format json
	is "$(python3 -c 'import json; d = json.load(open("out")); print(len(d["rows"]), next(iter(d["rows"][0])))')" "$csv" \
		"list $list: JSON and CSV have the same rows and the same first column"
done
# Names are the program's: no format breaks on them, and no terminal obeys them.
names=($'\e[31mred\x01' $'bad \xff\xc0\xaf utf' 'comma,"quote"' $'new\r\nline' '</script><b>'
	'=1+1' '+cmd|x!A1' '-2+3' '@SUM(A1)')
exits 0 'a run with hostile names' "$retally" run -q --source sim --replay range -m ipc -o hostile -- \
	"$programs/sim_program" ${#names[@]} named "${names[@]}"
exits 0 'as text' "$retally" report hostile
is "$(LC_ALL=C tr -d '[:print:]\n\200-\377' <out | wc -c)" 0 'no control characters'
for what in 'report hostile --format csv' 'report hostile --by dispatch --wide --format csv' 'export hostile --to csv'; do
	# shellcheck disable=SC2086
	exits 0 "$what" "$retally" $what
	is "$(python3 -c 'import csv
rows = list(csv.reader(open("out", newline="", encoding="utf-8")))
print(len({len(r) for r in rows}), len({c for r in rows for c in r if c in ("comma,\"quote\"", "new\r\nline", "</script><b>", "=1+1", "+cmd|x!A1", "-2+3", "@SUM(A1)")}))')" \
		'1 7' "$what: UTF-8, rows as long, names as they are"
done
for layout in wide long; do
	exits 2 "--$layout without dispatches" "$retally" report whole --$layout
	is "$(cat err)" "retally: error: --$layout is for --by dispatch" 'and why'
done
done_testing
