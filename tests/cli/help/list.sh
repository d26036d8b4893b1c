#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# retally list: text, CSV and JSON are one table, with the same columns and the same rows.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
command -v python3 >/dev/null || skip_all 'no python3'
for what in sources chips counters metrics sets; do
	chip=()
	case $what in counters | metrics | sets) chip=(--chip gfx90a) ;; esac
	for f in table csv json; do
		exits 0 "$what as $f" "$retally" list $what "${chip[@]}" --format $f
		cp out $what.$f
	done
	is "$(python3 -c '
import csv, json, sys
def text(v):
    return "" if v is None else v if isinstance(v, str) else json.dumps(v)
c = list(csv.DictReader(open(sys.argv[1] + ".csv")))
j = json.load(open(sys.argv[1] + ".json"))["rows"]
print(len(c) > 3, [{k: text(v) for k, v in r.items()} for r in j] == c, all(list(r) == list(c[0]) for r in j))' $what)" \
		'True True True' "$what: JSON has the rows and columns of CSV"
	# A row of the text is one line, though a column may be left out where it is empty.
	is "$(($(wc -l <$what.table) - 1))" "$(python3 -c 'import csv, sys; print(len(list(csv.DictReader(open(sys.argv[1])))))' $what.csv)" \
		"$what: and so has the text"
done
is "$(head -1 sets.csv)" 'set,metrics,counters,not_here,title' 'columns of CSV'
is "$(head -1 sets.table | tr -s ' ' | sed 's/ $//')" 'set metrics counters not here title' 'of the text'
is "$(awk 'NR > 1 { print $1 }' sets.table)" "$(cut -d, -f1 sets.csv | sed 1d)" 'and so has the text'
# --json is short for --format json wherever there is one.
"$retally" run -q --replay application -e task-clock -o run -- true
for c in 'list sets --chip gfx90a' 'report run' 'diff run run'; do
	# shellcheck disable=SC2086
	exits 0 "$c --json" "$retally" $c --json
	cp out short
	# shellcheck disable=SC2086
	exits 0 "$c --format json" "$retally" $c --format json
	cmp -s short out; ok $? 'is the same'
	python3 -m json.tool out >/dev/null; ok $? 'and is JSON'
done
done_testing
