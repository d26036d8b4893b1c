#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# retally export --to omniperf: what is written keeps the rules of docs/export.md, and the checker that
# says so finds each of them violated. The runs are made without a GPU (make_run.c).
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
make_run=$RETALLY_BUILD/tests/cli/export/make_run
check=$RETALLY_SOURCE/tests/cli/export/check_omniperf.py
command -v python3 >/dev/null || skip_all 'no python3'

for chip in gfx90a gfx942; do
	"$retally" plan --chip $chip --set full --json >$chip.json 2>/dev/null
	"$make_run" $chip $chip.json 6 channels=4
	for form in wide long; do
		exits 0 "$chip, $form" "$retally" export $chip --to omniperf --$form -o $chip-$form
		like "$(cat err)" '^retally: 6 dispatches, [0-9]+ columns' 'what was written is said'
		like "$(cat err)" "next: rocprof-compute analyze -p $PWD/$chip-$form" 'and the next command, with a whole path'
		is "$(python3 "$check" $chip-$form)" "$form form, no rule violated" 'the checker agrees'
	done
done
# One value by hand: (hash of the name) is the same in both forms and in the database.
sql() { python3 -c 'import sqlite3,sys; print(sqlite3.connect(sys.argv[1]).execute(sys.argv[2]).fetchone()[0])' "$1" "$2"; }
cell() { # FILE COLUMN ROW
	python3 -c 'import csv,sys; print(list(csv.DictReader(open(sys.argv[1])))[int(sys.argv[3])][sys.argv[2]])' "$1" "$2" "$3"
}
pass=$(sql gfx90a/retally.db "SELECT min(pass) FROM pass_counter JOIN counter USING(counter) WHERE name = 'TCC_HIT'")
want=$(sql gfx90a/retally.db "SELECT TCC_HIT FROM pass_$pass WHERE dispatch = 4")
is "$(cell gfx90a-wide/pmc_perf.csv TCC_HIT_sum 4)" "$want" 'a count is that of the database'
pass=$(sql gfx90a/retally.db "SELECT min(pass) FROM pass_counter JOIN counter USING(counter) WHERE name = 'SQ_LEVEL_WAVES_ACCUM'")
is "$(cell gfx90a-wide/SQ_LEVEL_WAVES.csv SQ_ACCUM_PREV_HIRES 4)" "$(sql gfx90a/retally.db "SELECT SQ_LEVEL_WAVES_ACCUM FROM pass_$pass WHERE dispatch = 4")" 'an accumulator has its file'
is "$(cell gfx90a-wide/SQ_LEVEL_WAVES.csv GRBM_GUI_ACTIVE 4)" "$((100000 + 100 * 4 + pass))" 'with the cycles of its own pass'
is "$(cell gfx90a-wide/pmc_perf.csv Grid_Size 0)" "$((64 * 2 * 256))" 'the grid is in work-items'
is "$(cell gfx90a-wide/pmc_perf.csv Kernel_Name 0)" 'void scale<float>(float*, int)' 'names are for people'

# Other shapes of runs
"$retally" plan --chip gfx90a --json >small.json 2>/dev/null
"$make_run" apps gfx90a.json 6 channels=4 apps=1
exits 0 'an execution for each pass' "$retally" export apps --to omniperf -o apps-wide
python3 "$check" apps-wide >/dev/null
ok $? 'is a row a dispatch, too'
is "$(cut -d, -f13- apps-wide/pmc_perf.csv | md5sum)" "$(cut -d, -f13- gfx90a-wide/pmc_perf.csv | md5sum)" 'with the same values'
"$make_run" ranks small.json 3 channels=2 ranks=3 repeat=2
exits 0 'ranks and repeats' "$retally" export ranks --to omniperf -o ranks-wide
like "$(cat err)" '^retally: 9 dispatches' 'have a row for each dispatch of each rank'
is "$(python3 "$check" ranks-wide)" 'wide form, no rule violated' 'with numbers of their own'
"$make_run" idle small.json 6 channels=2 idle=3
exits 0 'a dispatch without active cycles' "$retally" export idle --to omniperf -o idle-wide
like "$(cat err)" '1 dispatches with a GRBM_GUI_ACTIVE of 0 are left out' 'is left out, and that is said'
is "$(python3 "$check" idle-wide)" 'wide form, no rule violated' 'so that the rest can be analysed'
"$make_run" once small.json 6 channels=2 once=3
exits 0 'a dispatch that lacks a pass' "$retally" export once --to omniperf -o once-wide
like "$(cat err)" '1 dispatches lack a pass' 'is said'
is "$(python3 "$check" once-wide)" 'wide form, no rule violated' 'has its row in every file'
"$make_run" skip small.json 6 channels=2 skip=2
exits 0 'a pass that was not run' "$retally" export skip --to omniperf -o skip-wide
like "$(cat err)" '[0-9]+ counters of the plan have no value and no column' 'leaves no empty column'
is "$(python3 "$check" skip-wide)" 'wide form, no rule violated' 'which would be refused'
"$make_run" rotate small.json 24 channels=2 rotate=1
exits 2 'one pass a dispatch' "$retally" export rotate --to omniperf -o rotate-wide
like "$(cat err)" 'no dispatch has a value of each of the .*--long' 'has no wide form'
is "$(ls -d rotate-wide 2>/dev/null)" '' 'and leaves nothing behind'
exits 0 'but a long one' "$retally" export rotate --to omniperf --long -o rotate-long
is "$(python3 "$check" rotate-long)" 'long form, no rule violated' 'that keeps the rules'

# Refused
exits 2 'what is there' "$retally" export gfx90a --to omniperf -o gfx90a-wide
like "$(cat err)" "'gfx90a-wide' is there already" 'is not written over'
exits 2 'no directory to write' "$retally" export gfx90a --to omniperf
exits 2 'an unknown format' "$retally" export gfx90a --to otf2 -o x
like "$(cat err)" "'otf2' is not omniperf, csv, perfetto or rocpd" 'is named'
"$retally" plan --chip gfx1100 --json >other.json 2>/dev/null
"$make_run" other other.json 2
exits 2 'a chip without analysis files' "$retally" export other --to omniperf -o other-wide
like "$(cat err)" "no analysis for the chip of this run, 'gfx1100'" 'is named'

# Each rule violated: NAME DIRECTORY-TO-START-FROM COMMAND
# shellcheck disable=SC2317 # called by eval
breaks() {
	echo "$1" >>broken-rules
	rm -rf broken
	cp -r "$2" broken
	(cd broken && eval "$3") || echo '# the damage failed'
	like "$(python3 "$check" broken)" "^$1:" "violated: $1"
}
# shellcheck disable=SC2317
edit() { # FILE PYTHON: r is a list of rows of fields
	python3 - "$1" "$2" <<-'EOF'
	import csv, sys
	r = list(csv.reader(open(sys.argv[1], newline="")))
	h = {n: i for i, n in enumerate(r[0])}
	exec(sys.argv[2])
	csv.writer(open(sys.argv[1], "w", newline=""), lineterminator="\n").writerows(r)
	EOF
}
"$make_run" small small.json 3
"$retally" export small -q --to omniperf -o small-wide
"$retally" export small -q --to omniperf --long -o small-long
w=small-wide l=small-long p=pmc_perf.csv
breaks sysinfo-missing $w 'rm sysinfo.csv'
breaks sysinfo-one-row $w 'sed -i 2d sysinfo.csv'
breaks sysinfo-column $w "edit sysinfo.csv 'r[0][0]=\"x\"'"
breaks sysinfo-number $w "edit sysinfo.csv 'r[1][h[\"cur_sclk\"]]=\"0\"'"
breaks sysinfo-arch $w 'sed -i s/gfx90a/gfx1100/ sysinfo.csv'
breaks sysinfo-blocks $w 'sed -i "s/SQ|LDS/SQ LDS/" sysinfo.csv'
breaks pmc-missing $w "rm $p"
breaks no-rows $w "sed -i 2,\\\$d $p"
breaks empty-file $w ": >$p"
breaks ragged-row $w "edit $p 'r[1].pop()'"
breaks column-twice $w "edit $p 'r[0][20]=r[0][21]'"
breaks head-column $w "edit $p 'r[0][h[\"SGPR\"]]=\"sgpr\"'"
breaks head-value $w "edit $p 'r[1][h[\"GPU_ID\"]]=\"\"'"
breaks kernel-name $w "edit $p 'r[1][h[\"Kernel_Name\"]]=\"nan\"'"
breaks time-order $w "edit $p 'r[1][h[\"End_Timestamp\"]]=\"1\"'"
breaks grid-items $w "edit $p 'r[1][h[\"Grid_Size\"]]=\"128\"'"
breaks dispatch-id $w "edit $p 'r[2][0]=\"0\"'"
breaks counter-name $w "edit $p 'r[0][h[\"TCC_HIT_sum\"]]=\"TCC_HIT\"'"
breaks channels $w "edit $p 'r[0][h[\"TCC_HIT[3]\"]]=\"TCC_HIT[99]\"'"
breaks counter-value $w "edit $p 'r[1][20]=\"n/c\"'"
breaks no-whole-row $w "edit $p '[x.__setitem__(20,\"\") for x in r[1:]]'"
breaks idle-dispatch $w "edit $p 'r[1][h[\"GRBM_GUI_ACTIVE\"]]=\"0\"'"
breaks row-count $w 'sed -i 2d SQ_LEVEL_WAVES.csv'
breaks row-order $w "edit SQ_LEVEL_WAVES.csv 'r[1],r[2]=r[2],r[1]'"
breaks accumulator $w 'sed -i s/SQ_ACCUM_PREV_HIRES/SQ_LEVEL_WAVES_ACCUM/ SQ_LEVEL_WAVES.csv'
breaks level-name $w 'mv SQ_LEVEL_WAVES.csv SQ_WAVES.csv'
breaks timestamps $w "cp $p timestamps.csv"
breaks sub-directory $w "mkdir perfmon; cp $p perfmon"
breaks wide-config $w 'echo format_rocprof_output: rocpd >profiling_config.yaml'
breaks long-config $l 'rm profiling_config.yaml'
breaks counter-twice $l "edit $p 'r.append(r[1])'"
breaks dispatch-id $l "edit $p 'r[1][h[\"Kernel_Name\"]]=\"b\"'"
breaks accumulator $l "edit $p 'r[1][h[\"Counter_Name\"]]=\"SQ_ACCUM_PREV_HIRES\"'"
breaks idle-dispatch $l "edit $p '[x.__setitem__(-1,\"0\") for x in r if x[-2]==\"GRBM_GUI_ACTIVE\"]'"
breaks long-level $l "cp ../$w/SQ_LEVEL_WAVES.csv ."
is "$(sort -u broken-rules | tr '\n' ' ')" "$(grep -oE 'fail\("[a-z-]+"' "$check" | cut -d'"' -f2 | sort -u | tr '\n' ' ')" \
	'no rule of the checker is left that nothing here violates'
done_testing
