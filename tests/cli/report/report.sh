#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The report of a real run, as text, CSV and JSON: the simulated device counts the same on every machine.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
demo=$RETALLY_BUILD/examples/sim_demo

cat >more.yaml <<'YAML'
chips: [sim]
metrics:
  - {name: items_of_groups, unit: "%", percent: true, title: Items of a hundred groups, expression: 100 * SEQ_ITEMS / SEQ_GROUPS}
  - {name: sampled_share, unit: "%", percent: true, title: Samples of a hundred stores, expression: 100 * (DEV_SAMPLED_LOADS + DEV_SAMPLED_STORES) / DEV_SAMPLED_STORES}
sets:
  - name: shares
    title: More than there is
    metrics: [items_of_groups, sampled_share]
YAML
exits 0 'a run with metrics of a file' "$retally" run -q --source sim --replay window --metrics-file more.yaml \
	--set overview,memory -m items_of_groups,sampled_share -o r -- "$demo"

# ---- text ----
exits 0 'as text' "$retally" report r
text=$(cat out)
like "$text" '^program .*sim_demo' 'the program'
like "$text" '^plan  *[0-9]+ passes' 'the plan'
like "$text" '^kernels$' 'the kernels'
like "$text" '^walk \(kernel, 8 dispatches\)$' 'a kernel with its dispatches'
# 16384 items in 256 groups; 512 samples each of loads and stores. Not cut to 100.
like "$text" '^  items_of_groups  *6400(\.0)?  % .* 8  [0-9]+' '6400 % is shown as it is, with its pass'
like "$text" '^  sampled_share  *[2-9][0-9][0-9]\.[0-9]  % .*split over passes [0-9]+, [0-9]+' \
	'more than 100 % of two passes names both'

# ---- CSV ----
exits 0 'as CSV' "$retally" report r --format csv
is "$(head -1 out)" 'kernel,scope,rank,group_pass,kind,name,title,value,unit,min,max,sum,n,passes,status,reason,dispatches,error,estimate,low,high,population,missing,varying,ranks,of_ranks' 'the header'
line=$(grep '^walk,.*,items_of_groups,' out)
like "$line" ',Items of a hundred groups,6400,%,6400,6400,,8,[0-9]+,ok,"over 100 %: counted so in pass [0-9]+, not put together from several",8,,,,,,,0,,$' 'a share in CSV'
pass=$(echo "$line" | cut -d, -f14)
like "$(grep '^walk,.*,sampled_share,' out)" ',"[0-9]+, [0-9]+",split,' 'a split one in CSV'
is "$(grep -c "^walk,.*,SEQ_GROUPS,.*,256,groups,256,256," out)" 1 'a counter beside it'
columns=$(head -1 out | tr -cd , | wc -c)
is "$(sed 's/"[^"]*"//g' out | tr -cd ',\n' | awk -v n="$columns" 'length($0) != n' | wc -l)" 0 \
	'every line has as many columns as the header'

# ---- sampled ----
exits 0 'each dispatch in one pass' "$retally" run -q --source sim --replay none --distribute dispatch:random --seed 5 \
	--set overview,memory -o s -- "$demo"
exits 0 'its report' "$retally" report s
like "$(cat out)" '^  instructions .*1\.0[0-9]+ \.\. 1\.[01][0-9]* .* 4 of 8 dispatches$' 'an interval and the number of samples'
like "$(cat out)" ' 1 of 8 dispatches, no interval: ' 'no interval from one sample'
like "$(cat out)" ' walk .* incomparable \(0 of 8 in two passes\)$' 'passes that share no dispatch are not compared'

# ---- two runs ----
exits 0 'a run against itself' "$retally" diff r r
like "$(cat out)" '^0 moved beyond their spread, [0-9]+ did not' 'nothing moved'
exits 0 'as CSV' "$retally" diff r r --format csv
like "$(head -1 out)" '^kernel,scope,kind,name,a,b,unit,change,change_share,spread,verdict$' 'its columns'
exits 2 'one directory' "$retally" diff r
exits 2 'a name that neither has' "$retally" diff r r -m nope
like "$(cat err)" 'nothing was compared' 'says so'
cp -r r cut
rm cut/retally.db
for spool in cut/spool/*; do truncate -s -9 "$spool"; done
"$retally" diff r cut >out 2>err
like "$(cat err)" 'cut: spool/.*ends within a record' 'what is damaged is said'
rm cut/retally.db
mkfifo cut/retally.db
timeout 20 "$retally" report cut >out 2>err
ok $(($? == 124)) 'a pipe in place of the database is not waited for'

# ---- JSON ----
exits 0 'as JSON' "$retally" report r --format json
cp out r.json
if command -v python3 >/dev/null; then
	python3 - "$pass" >py.out 2>py.err <<'PY'
import json, sys
d = json.load(open("r.json"))
v = {(x["kernel"], x["name"]): x for x in d["values"]}
x = v["walk", "items_of_groups"]
assert x["value"] == 6400 and x["unit"] == "%" and x["passes"] == sys.argv[1], x
y = v["walk", "sampled_share"]
assert y["value"] >= 200 and y["status"] == "split" and len(y["passes"].split(", ")) == 2, y
assert d["plan"]["chip"] == "sim" and d["missing_passes"] == [], d["plan"]
assert {k["kernel"] for k in d["kernels"]} == {"walk", "histogram"}, d["kernels"]
PY
	is "$?$(cat py.err)" 0 'the document has the same'
else
	skip 'no python3' 'the document has the same'
fi

# ---- by dispatch ----
exits 0 'wide' "$retally" report r --by dispatch --wide -e SEQ_ITEMS,SEQ_GROUPS --format csv
is "$(head -1 out | cut -d, -f16-)" 'SEQ_GROUPS,SEQ_ITEMS,replayed,varying,logical,matched,confidence,passes,executions,of_executions' \
	'a column for each value'
is "$(grep -c '^walk,.*,256,16384,true,false,,,,[1-9],,$' out)" 8 'a row for each dispatch, whatever the number of passes'
exits 0 'long is the layout of CSV' "$retally" report r --by dispatch -e SEQ_ITEMS --format csv
is "$(head -1 out | cut -d, -f17-)" 'kind,name,value,unit,status,reason,replayed,varying,logical,matched,confidence' 'a row for each value'
exits 2 'both' "$retally" report r --wide --long

# ---- what to show ----
exits 0 'a set of this run' "$retally" report r --set overview --format csv
is "$(grep '^walk,' out | cut -d, -f5,6 | tr '\n' ' ')" \
	'metric,groups metric,items metric,instructions metric,ipc metric,l2_hit_rate metric,mem_read metric,mem_write ' \
	'it shows its metrics and nothing else'
exits 0 'a set of a file, and a counter' "$retally" report r --metrics-file more.yaml --set shares -e SEQ_ITEMS --format csv
is "$(grep '^walk,' out | cut -d, -f6 | tr '\n' ' ')" 'items_of_groups sampled_share SEQ_ITEMS ' 'both are shown'
exits 2 'a file of metrics without a set' "$retally" report r --metrics-file more.yaml
like "$(cat err)" '^retally: error: --metrics-file is read for --set' 'is not ignored'
exits 2 'an empty list' "$retally" report r -m ''
like "$(cat err)" '^retally: error: --metrics: an empty list$' 'is none'
exits 2 'an unknown set' "$retally" report r --set overvew
like "$(cat err)" "no set 'overvew'.*overview" 'it names the near one'
"$retally" run -q --source sim --replay window -m ipc -o few -- "$demo" >/dev/null
exits 2 'a set of which the run has nothing' "$retally" report few --set memory
like "$(cat err)" "nothing of the set 'memory'" 'it says so'
exits 0 'metrics by id' "$retally" list metrics --source sim -k exact:2.1 --format csv
is "$(sed 1d out | cut -d, -f1,2)" '2.1,ipc' 'the one with that id'
exits 0 'metrics by id, left out' "$retally" list metrics --source sim -k 'regex:^2\.' -k '!exact:2.1' --format csv
is "$(sed 1d out | cut -d, -f1 | tr '\n' ' ')" '2.2 2.3 ' 'the others of that section'
done_testing
