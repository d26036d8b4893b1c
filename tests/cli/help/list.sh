#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# retally list sets: text, CSV and JSON are one table, with the same columns and the same rows.
# shellcheck source=tests/cli/lib.sh
. "$RETALLY_SOURCE/tests/cli/lib.sh"
command -v python3 >/dev/null || skip_all 'no python3'
for f in table csv json; do
	exits 0 "as $f" "$retally" list sets --chip gfx90a --format $f
	cp out sets.$f
done
is "$(head -1 sets.csv)" 'set,metrics,counters,not_here,title' 'columns of CSV'
is "$(head -1 sets.table | tr -s ' ' | sed 's/ $//')" 'set metrics counters not here title' 'of the text'
is "$(python3 -c '
import csv, json
c = list(csv.DictReader(open("sets.csv")))
j = json.load(open("sets.json"))["rows"]
print(len(c) > 10, [{k: "" if v is None else str(v) for k, v in r.items()} for r in j] == c)')" 'True True' 'JSON has the rows of CSV'
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
