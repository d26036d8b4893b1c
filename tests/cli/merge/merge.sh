#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# retally merge: passes of several directories become one, killed merges continue, what differs is
# refused, and `run --pass K` goes on in the result.
# shellcheck disable=SC2012 # names of our own making
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
app=$programs/twelve
counters=bp:f1,bp:f2,bp:f3,bp:f4,bp:f5,bp:f6,bp:f7,bp:f8,bp:f9
total=$("$retally" plan -e $counters --count -- "$app")
is "$total" 3 'the plan has three passes'
# Values without what differs from run to run.
values() { "$retally" report "$1" --format csv | cut -d, -f5,6,8,13,16,17 | grep '^counter,bp:'; }

exits 0 'all passes in one' "$retally" run -q -e $counters -o whole -- "$app"
for k in 1 2 3; do
	exits 0 "pass $k alone" "$retally" run -q -e $counters --pass $k -o "only-$k" -- "$app"
done
exits 0 'the three are merged' "$retally" merge only-3 only-1 only-2 -o merged
like "$(cat err)" 'merged: 3 new spools, 0 replaced.*, 0 already there' 'and counted'
like "$(cat err)" '3 of 3 passes, 11 of 11 counters' 'nothing is missing'
is "$(values merged)" "$(values whole)" 'the values are those of one run'
exits 0 'again' "$retally" merge only-1 only-2 only-3 merged -o merged
like "$(cat err)" '0 new spools, 0 replaced.*, 3 already there' 'changes nothing'
is "$(values merged)" "$(values whole)" 'neither counts twice'
exits 0 'an input may be the output' "$retally" merge only-1 only-2 -o only-1
like "$(cat err)" '1 new spool,' 'only what it lacks is copied'
like "$(cat err)" '^  next: retally run .* --pass 3 -o only-1 ' 'and the pass that is missing is named'
exits 0 'a run goes on in the result' "$retally" run -q -e $counters --pass 3 -o only-1 -- "$app"
is "$(values only-1)" "$(values whole)" 'which is whole then'
exits 0 'the same pass again' "$retally" run -q -e $counters --pass 3 -o again -- "$app"
exits 0 'is merged' "$retally" merge again -o merged
like "$("$retally" report merged --format csv)" '^[^,]*,process,,,counter,bp:f([0-9]),,\10,count,\10,\10,[0-9]+,2,(.*,)?3,ok' 'as n = 2'

exits 0 'another command' "$retally" run -q -e $counters --pass 1 -o other -- "$app" 2
exits 2 'is refused' "$retally" merge only-2 other -o refused
like "$(cat err)" "'only-2' and 'other' differ in the command: .*twelve' and .*twelve 2'" 'with what differs'
exits 0 'another plan' "$retally" run -q -e bp:f1 -o plan -- "$app"
exits 2 'is refused' "$retally" merge plan -o merged
like "$(cat err)" "'merged' and 'plan' differ in the plan" 'with what differs'
is "$(ls -d refused 2>/dev/null)" '' 'nothing was begun'
exits 2 'a directory that is not there' "$retally" merge only-2 nowhere -o x
like "$(cat err)" "'nowhere'" 'is named'
exits 2 'no directory' "$retally" merge -o x
exits 2 'no output' "$retally" merge only-1

cp -r only-2 broken
printf 'XXXX' | dd of="$(ls broken/spool/*.rts)" bs=1 seek=30 conv=notrunc status=none
exits 1 'a damaged spool is no reason to lose the others' "$retally" merge broken only-3 -o rest
like "$(cat err)" 'broken/spool/.*: the spool header is damaged; left out' 'it is named'
like "$(cat err)" '1 of 3 passes' 'and the rest is there'
exits 0 'once it is mended' "$retally" merge only-2 only-3 -o rest
like "$(cat err)" '2 of 3 passes' 'nothing of the damage stays'

# Killed anywhere, and again, until it came to its end.
mkdir -p many/spool && cp only-2/plan.json only-2/run.json many/
for k in 1 2 3; do cp only-$k/spool/*.rts many/spool/; done
killed=0
for i in 0 1 2 3 4 5 6 7 8 9; do
	"$retally" merge -q many whole again -o resumed 2>/dev/null &
	pid=$!
	sleep 0.00$i
	kill -9 $pid 2>/dev/null && killed=$((killed + 1))
	wait $pid 2>/dev/null
done
exits 0 'a killed merge is continued' "$retally" merge many whole again -o resumed
rm -rf straight
exits 0 'and one that was not killed' "$retally" merge many whole again -o straight
is "$("$retally" report resumed --by dispatch --format csv | sort)" \
	"$("$retally" report straight --by dispatch --format csv | sort)" "have the same rows ($killed kills)"
is "$(find resumed -name '.tmp-*')" '' 'nothing is left behind'

# The canonical export, and reports, byte for byte: what was merged lies under the same name each time.
export_all() { # of the directory `canonical`, which is taken away
	rm -f export.csv
	"$retally" export canonical --to csv -o export.csv >log 2>&1 || cat log
	for f in csv json html; do "$retally" report canonical --format $f; done >reports 2>>log
	"$retally" report canonical --by dispatch --format csv >>reports 2>>log
	cat export.csv reports
	rm -rf canonical
}
exits 0 'all at once' "$retally" merge only-1 only-2 only-3 again -o canonical
export_all >first
like "$(head -1 first)" '^kernel,.*,name,value,.*,confidence$' 'is exported'
lines=$(wc -l <first)
like "$lines" '^[0-9][0-9]+$' 'with rows'
exits 0 'the other way around' "$retally" merge again only-3 only-2 only-1 -o canonical
export_all >second
ok "$(cmp -s first second; echo $?)" 'exports the same bytes'
exits 0 'two of them' "$retally" merge only-3 only-1 -o half
exits 0 'into one that has another, with its database' "$retally" merge again -o canonical
"$retally" report canonical >/dev/null
exits 0 'and then the rest' "$retally" merge only-2 half -o canonical
export_all >third
ok "$(cmp -s first third; echo $?)" 'export the same bytes'
for i in 1 2 3 4 5; do # killed in between, with a report of what there is
	"$retally" merge -q only-2 again half -o canonical 2>/dev/null &
	pid=$!
	sleep 0.00$i
	kill -9 $pid 2>/dev/null
	wait $pid 2>/dev/null
	"$retally" report canonical >/dev/null 2>&1
done
exits 0 'killed and continued' "$retally" merge only-2 again half -o canonical
export_all >fourth
ok "$(cmp -s first fourth; echo $?)" 'export the same bytes'
rm -rf half canonical

# Two at once.
"$retally" merge -q only-1 only-2 only-3 again -o canonical 2>err-1 &
one=$!
"$retally" merge -q again only-3 only-2 only-1 -o canonical 2>err-2 &
two=$!
wait $one; first_status=$?
wait $two; second_status=$?
like "$first_status $second_status" '^(0 [02]|[02] 0)$' 'two merges at once: one at least is done'
[ $first_status$second_status = 00 ] || like "$(cat err-1 err-2)" 'another merge' 'the other says why not'
exits 0 'and once more' "$retally" merge only-1 only-2 only-3 again -o canonical
export_all >fifth
ok "$(cmp -s first fifth; echo $?)" 'exports the same bytes'
done_testing
