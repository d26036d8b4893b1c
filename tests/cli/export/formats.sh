#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# retally export to CSV, Perfetto and rocpd, and that a merge in any order exports the same bytes.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
make_run=$RETALLY_BUILD/tests/cli/export/make_run
command -v python3 >/dev/null || skip_all 'no python3'
py() { python3 -c "import csv, json, sqlite3, sys
$1"; }

"$retally" plan --chip gfx90a --json >plan.json 2>/dev/null
"$make_run" whole plan.json 5 ranks=4 channels=2 once=3
sql() { py "print(sqlite3.connect('$1').execute(\"$2\").fetchone()[0])"; }

# CSV
exits 0 'long CSV to standard output' "$retally" export whole --to csv
cp out whole.csv
is "$(cat err)" '' 'without a word'
exits 0 'is the report by dispatch' "$retally" report whole --by dispatch --format csv
is "$(cmp out whole.csv 2>&1)" '' 'byte for byte'
exits 0 'wide CSV' "$retally" export whole --to csv --wide -o wide.csv
is "$(py "r = list(csv.DictReader(open('wide.csv'))); print(len(r), r[0]['passes'], r[4]['passes'], r[0]['kernel'])")" \
	'20 3 2 void scale<float>(float*, int)' 'has a row a dispatch of each rank'
pass=$(sql whole/retally.db "SELECT min(pass) FROM pass_counter JOIN counter USING(counter) WHERE name = 'TCC_HIT'")
is "$(py "print(list(csv.DictReader(open('wide.csv')))[7]['TCC_HIT'])")" \
	"$(sql whole/retally.db "SELECT p.TCC_HIT FROM pass_$pass p JOIN run USING(run) JOIN spool USING(spool) WHERE rank = 1 AND dispatch = 2")" 'with the counts of the database'
is "$(py "r = list(csv.DictReader(open('wide.csv')))[4]; print(any(v == '' for v in r.values()), '0' in [r[k] for k in r if r[k] == ''])")" \
	'True False' 'what was not collected is empty, not 0'
"$retally" report whole --by dispatch --wide --format csv >report.csv
is "$(cmp wide.csv report.csv 2>&1)" '' 'and is the wide report, byte for byte'
exits 2 'what is there' "$retally" export whole --to csv -o wide.csv
like "$(cat err)" "'wide.csv'" 'is not written over'
exits 0 'some kernels' "$retally" export whole --to csv --wide -k scale
is "$(py "print(len(list(csv.DictReader(open('out')))))")" 8 'by name'

# Perfetto
exits 0 'a trace' "$retally" export whole --to perfetto -o trace.json
is "$(py "
e = json.load(open('trace.json'))['traceEvents']
x = [i for i in e if i['ph'] == 'X']
c = [i for i in e if i['ph'] == 'C' and i['name'] == 'TCC_HIT']
names = {i['args']['name'] for i in e if i['name'] == 'process_name'}
print(len(x), len(c), 'rank 3, node, pid 292' in names)")" '20 16 True' 'has a slice a dispatch, and a point a count where there is one'
is "$(py "
last = {}
for i in json.load(open('trace.json'))['traceEvents']:
    if i['ph'] == 'X':
        at = (i['pid'], i['tid'])
        assert i['ts'] >= last.get(at, 0), i
        last[at] = i['ts'] + i['dur']
print(len(last))")" 8 'a track a rank and queue, whose slices do not overlap'
is "$(py "
x = [i for i in json.load(open('trace.json'))['traceEvents'] if i['ph'] == 'X' and i['args']['passes'] == 2]
print(len(x), None in x[0]['args']['counters'].values())")" '4 True' 'what was not collected is null'

# rocpd
exits 0 'rocpd' "$retally" export whole --to rocpd -o run.rocpd
is "$(sql run.rocpd 'SELECT count(*) FROM rocpd_kernel_dispatch')" 20 'has all dispatches'
is "$(sql run.rocpd "SELECT value FROM rocpd_metadata WHERE tag = 'schema_version'")" 3 'in schema 3'
is "$(sql run.rocpd "SELECT value FROM counters_collection WHERE counter_name = 'TCC_HIT' AND dispatch_id = 7")" \
	"$(py "print(float(list(csv.DictReader(open('wide.csv')))[7]['TCC_HIT']))")" 'with the same counts'
is "$(sql run.rocpd "SELECT count(*) FROM (SELECT dispatch_id, counter_name FROM counters_collection GROUP BY 1, 2 HAVING count(*) > 1)")" 0 'each once'
is "$(sql run.rocpd "SELECT grid_size || ' ' || workgroup_size || ' ' || kernel_name FROM counters_collection")" \
	'32768 256 void scale<float>(float*, int)' 'grids in work-items, names for people'

# Passes that launch other kernels: the rows are those of the report, none is left out, and what is sure of them is said.
"$make_run" differ plan.json 6 channels=2 apps=1 drop=1 other=3
"$retally" report differ --by dispatch --wide --format csv >report.csv
exits 0 'CSV of passes that differ' "$retally" export differ --to csv --wide -o differ.csv
like "$(cat err)" '^retally: 3 dispatches are not in every execution of the program' 'says so'
is "$(py "print(sorted((r['kernel'], r['dispatch'], r['pid'], r['grid']) for r in csv.DictReader(open('differ.csv'))) == sorted((r['kernel'], r['dispatch'], r['pid'], r['grid']) for r in csv.DictReader(open('report.csv'))))")" True 'the rows are those of the report'
is "$(py "print(sum(1 for r in csv.DictReader(open('report.csv'))))")" 7 'all seven of them'
is "$(py "
for r in csv.DictReader(open('differ.csv')):
    print(r['kernel'][:10], r['dispatch'], r['passes'], r['executions'], r['of_executions'], r['confidence'], sep='|')")" \
'void scale|0|3|3|3|1
odd "name"|1|2|2|3|1
nan|2|3|3|3|1
void scale|3|2|2|3|1
odd "name"|4|3|3|3|1
nan|5|3|3|3|1
void scale|2|1|1|3|' 'with the executions that have it'
is "$(cmp differ.csv report.csv 2>&1)" '' 'and the report, byte for byte'
"$retally" export differ --to csv >differ-long.csv 2>err
exits 0 'a trace of them' "$retally" export differ --to perfetto -o differ.json
is "$(py "
x = [i['args'] for i in json.load(open('differ.json'))['traceEvents'] if i['ph'] == 'X']
print(sorted((a['executions'], a['of_executions'], a['passes']) for a in x))")" \
	'[(1, 3, 1), (2, 3, 2), (2, 3, 2), (3, 3, 3), (3, 3, 3), (3, 3, 3), (3, 3, 3)]' 'has all, marked'
exits 0 'rocpd of them' "$retally" export differ --to rocpd -o differ.rocpd
is "$(sql differ.rocpd "SELECT group_concat(json_extract(extdata, '\$.executions'), ' ') FROM rocpd_kernel_dispatch")" '3 2 3 2 3 3 1' 'has all, marked'
exits 0 'Omniperf, long' "$retally" export differ --to omniperf --long -o differ-omni
is "$(cut -d, -f1,9- differ-omni/retally_dispatches.csv | rev | cut -d, -f1-5 | rev | sed 1d | sort | uniq -c | tr -s ' ' | tr '\n' ';')" \
	' 1 1,false,1,3,; 2 2,false,2,3,1; 4 3,false,3,3,1;' 'has all, marked'
is "$(py "print(len({r['Dispatch_ID'] for r in csv.DictReader(open('differ-omni/pmc_perf.csv'))}))")" 7 'and their values'

# What several passes have is the mean over them in every format, as in the report.
is "$(py "
passes, mean, bad = {}, {}, 0
for r in csv.DictReader(open('differ-long.csv')):
    if r['name'] == 'GRBM_GUI_ACTIVE':
        passes.setdefault(r['logical'], []).append(float(r['value']))
for r in csv.DictReader(open('report.csv')):
    mean[r['logical']] = float(r['GRBM_GUI_ACTIVE'])
    bad += abs(mean[r['logical']] - sum(passes[r['logical']]) / len(passes[r['logical']])) > 1e-9 * mean[r['logical']]
want = sorted(mean.values())
trace = [i['args']['counters']['GRBM_GUI_ACTIVE'] for i in json.load(open('differ.json'))['traceEvents'] if i['ph'] == 'X']
rocpd = [r[0] for r in sqlite3.connect('differ.rocpd').execute(\"SELECT value FROM counters_collection WHERE counter_name = 'GRBM_GUI_ACTIVE'\")]
omni = [float(r['Counter_Value']) for r in csv.DictReader(open('differ-omni/pmc_perf.csv')) if r['Counter_Name'] == 'GRBM_GUI_ACTIVE']
print(len(want), max(len(set(p)) for p in passes.values()) > 1, bad, sorted(trace) == want, sorted(rocpd) == want, sorted(omni) == want)")" \
	'7 True 0 True True True' 'an anchor that differs between passes is its mean in CSV, Perfetto, rocpd and for Omniperf'

# One rule for a run without counts, and for a place that cannot be written.
"$make_run" nothing plan.json 0
for f in csv perfetto rocpd omniperf; do
	exits 2 "$f: nothing to export" "$retally" export nothing --to $f -o none
	like "$(cat err)" '^retally: error: there is nothing to export: this run has no counts' 'is said'
	[ ! -e none ]; ok $? 'and nothing is made'
	exits 2 "$f: no such folder" "$retally" export whole --to $f -o /nonexistent/x
	like "$(cat err)" "^retally: error: cannot make .*'/nonexistent/x': No such file or directory" 'is said'
done
exits 2 'rocpd: what is there' "$retally" export whole --to rocpd -o run.rocpd
like "$(cat err)" "^retally: error: cannot make 'run.rocpd': File exists" 'is not written over'

# The order of a merge leaves no trace.
for i in 0 1 2 3; do "$make_run" "part$i" plan.json 5 ranks=4 channels=2 once=3 part=$i/4; done
exits 0 'a merge' "$retally" merge -q part0 part1 part2 part3 -o a
exits 0 'in another order' "$retally" merge -q part3 part1 -o b
exits 0 'and in steps' "$retally" merge -q part2 b part0 -o b
for f in csv perfetto rocpd; do
	for d in a b; do "$retally" export $d -q --to $f -o $d.$f; done
	is "$(cmp a.$f b.$f 2>&1)" '' "$f: the same bytes"
done
is "$(cmp a.csv whole.csv 2>&1)" '' 'which are those of one run'
"$retally" export a -q --to omniperf -o a-omni
"$retally" export b -q --to omniperf -o b-omni
is "$(diff -r a-omni b-omni 2>&1)" '' 'omniperf: the same bytes'
done_testing
