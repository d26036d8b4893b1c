#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# run_program against programs that do what breaks naive replay. The report r has the outcome, the
# findings and the spool's records. Waits are bounds for a machine in trouble, never expectations.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
driver=$programs/run_driver
actor=$programs/actor
# `run NAME STATUS ARGS`: a fresh directory d and report r; stdout in out, stderr in err
run() {
	local name=$1 want=$2
	shift 2
	rm -rf d r
	exits "$want" "$name" timeout -k 5 60 "$driver" -o d -R r "$@"
}
report() { grep -E "$1" r; }
await() { # COMMAND...: until it succeeds, 15 s at most
	local i
	for i in $(seq 1500); do "$@" 2>/dev/null && return 0; sleep 0.01; done
	return 1
}
gone() { ! kill -0 "$1" 2>/dev/null || [ "$(sed 's/.*) //; s/ .*//' "/proc/$1/stat" 2>/dev/null)" = Z ]; }
all_gone() { # FILE of pids
	local p
	[ -s "$1" ] || return 1
	while read -r p; do gone "$p" || return 1; done <"$1"
}
launch() { sed -n 's/^launch //p' r; }

# ---- passes, streams, records ----
run 'three passes of a program that succeeds' 0 -P 3 "$actor" print hello complain oops
is "$(cat out)" hello 'stdout is printed once'
is "$(cat err)" oops 'stderr is printed once'
is "$(report ^outcome)" 'outcome exit=0 signal=0 wanted=3 completed=3 failed=0 started=1 interrupted=0' 'all passes completed'
is "$(report '^end' | tr '\n' ' ')" 'end 1 exit=0 signal=0 flags=0 wall=yes end 2 exit=0 signal=0 flags=0 wall=yes end 3 exit=0 signal=0 flags=0 wall=yes ' 'three passes are in the spool'
is "$(report '^sample' | cut -d' ' -f1-4 | tr '\n' ' ')" "$(for p in 1 2 3; do for c in 0 1; do printf 'sample %d counter=%d status=0 ' $p $c; done; done)" 'every counter has a value in every pass'
unlike "$(report '^sample')" 'value=0$' 'no counter stayed at zero'
is "$(report '^(finding|note)')" '' 'nothing to find'
is "$(cat "d/output/$(launch)/pass-2.stdout" "d/output/$(launch)/pass-3.stderr")" "hello
oops" "later passes' streams are kept"

run 'one chosen pass' 0 -P 4 -K 3 "$actor" pass
is "$(cat out)" '0003 of 0004' 'its number and the total, in a fixed width'
is "$(report '^begin')" 'begin 3/4' 'and in the spool'
[ ! -e d/output ]; ok $? 'one pass needs no output folder'
run 'the total is checked' 125 -P 4 -K 3 -T 5 "$actor" pass
like "$(cat err)" 'has 4 passes, not 5' 'and named'
[ ! -e d ]; ok $? 'nothing was made'
run 'a pass beyond the plan' 125 -P 4 -K 5 "$actor" pass
like "$(cat err)" 'has 4 passes$' 'is refused'

run 'output that differs' 0 -P 3 "$actor" pass complain same
like "$(report '^finding')" 'finding 1 pass=2 stdout of pass 2 differs from that of pass 1 at byte 4' 'is found'
is "$(report '^end' | cut -d' ' -f5 | tr '\n' ' ')" 'flags=0 flags=1 flags=1 ' 'and flagged'
rm -rf d r
is "$("$driver" -P 3 -o d -R r "$actor" pass | cat)" '0001 of 0003' 'through a pipe: the first pass only'
is "$(report '^finding')" 'finding 1 pass=3 stdout of pass 3 differs from that of pass 2 at byte 4 (13 and 13 bytes)' 'the third pass is compared with the second'
rm -rf d r
echo before >both
"$driver" -P 2 -o d -R r "$actor" print x complain y >>both 2>&1
is "$(sort both)" "before
x
y" 'both streams into one file'
is "$(report '^finding')" '' 'are compared as one'
: >empty
rm -rf d r
is "$("$driver" -P 2 -o d -R r "$actor" streams <empty 2>empty2 | cat)" fpf 'in the first pass'

# ---- exit status ----
run 'an exit code' 7 -P 3 "$actor" exit 7
is "$(report '^begin')" 'begin 1/3' 'ends the run with the first pass that failed'
is "$(report '^outcome' | cut -d' ' -f2-6)" 'exit=7 signal=0 wanted=3 completed=1 failed=1' 'which was completed and failed'
run 'keep going' 7 -P 3 -k "$actor" exit 7
is "$(report '^begin' | wc -l)" 3 'runs all passes'
run 'a failure of a later pass' 5 -P 3 "$actor" in 2 exit 5
is "$(report '^begin' | wc -l)" 2 'ends the run there'
like "$(report ^finding)" 'finding 2 pass=2 pass 2 exited with status 5, the first pass exited with status 0' 'and is found'
is "$(report '^sample 1' | wc -l)" 2 'the first pass is kept'
rm -rf d r
"$driver" -P 3 -o d -R r "$actor" in 2 die SEGV >/dev/null 2>&1
is $? 139 'a signal in a later pass is what we die of'
is "$(report '^end' | tail -1 | cut -d' ' -f2-4)" '2 exit=-1 signal=11' 'and in the spool'
run 'no such program' 127 -P 2 ./not-there
[ ! -e d ]; ok $? 'makes no directory'
run 'no such program in PATH' 127 -P 2 not-there
echo data >data
run 'a file that is no program' 126 -P 2 ./data
printf '#!/no/interpreter\n' >script; chmod +x script
run 'a script without its interpreter' 127 -P 2 ./script
echo 'echo plain; exit 3' >plain; chmod +x plain
run 'a script without #!' 3 ./plain
is "$(cat out)" plain 'is given to the shell'

# ---- stdin ----
printf 'one\ntwo\nthree\n' >lines
rm -rf d r
is "$( (read -r _; "$driver" -P 3 -o d -R r "$actor" line; cat) <lines)" "two
three" 'a file: every pass from the same offset, and the rest is left'
is "$(report '^finding')" '' 'all passes read the same line'
is "$(cat "d/output/$(launch)/pass-3.stdout")" two 'also the last'
rm -rf d r
is "$(cat lines | "$driver" -P 3 -o d -R r "$actor" cat)" "$(cat lines)" 'a pipe: passed through'
is "$(cat "d/output/$(launch)/pass-2.stdout" "d/output/$(launch)/pass-3.stdout")" "$(cat lines lines)" 'and given to the later passes'
rm -rf d r
head -c 3000000 /dev/zero | tr '\0' x >big
is "$(cat big | "$driver" -P 2 -o d -R r "$actor" cat | cksum)" "$(cksum <big)" 'more than a pipe holds'
cmp -s big "d/output/$(launch)/pass-2.stdout"; ok $? 'twice'
rm -rf d r; mkfifo ./talk
(timeout 60 "$driver" -P 2 -o d -R r "$actor" cat <./talk >said) &
exec 9>./talk
echo ping >&9
await grep -q ping said; ok $? 'a conversation: the answer comes before the end of the input'
exec 9>&-
wait $!; ok $? 'and ends with it'
is "$(cat "d/output/$(launch)/pass-2.stdout")" ping 'the second pass heard the same'
rm -rf d r
yes | timeout 60 "$driver" -P 2 -o d -R r "$actor" line >one
is "$(cat one)" y 'an endless pipe'
is "$(report '^outcome' | cut -d' ' -f2-6)" 'exit=0 signal=0 wanted=2 completed=2 failed=0' 'ends with the program'
rm -rf d r
"$driver" -P 2 -o d -R r "$actor" streams <&- >kinds 2>/dev/null; ok $? 'a closed stdin'
is "$(cat kinds "d/output/$(launch)/pass-2.stdout")" "xfo
xff" 'stays closed in every pass'
rm -rf d r
"$driver" -o d -R r "$actor" close-out sleep 30 2>/dev/null | cat >/dev/null &
pid=$!
await gone "$pid"; ok $? 'a program that closes its stdout: the reader sees it while the program runs'
like "$(cat r)" '^$' 'which goes on'
pkill -TERM -P $$ -x run_driver; wait

# ---- what a program inherits ----
"$actor" masked descriptors >alone 2>/dev/null </dev/null
run 'signal mask and descriptors' 0 -P 2 "$actor" masked descriptors </dev/null
is "$(sed 's/ $//' out)" "$(sed 's/ $//' alone)" 'are as without us'
is "$(report ^finding)" '' 'in every pass'
run 'addresses without randomisation' 0 -P 3 -a "$actor" address
if report 'no effect' >/dev/null; then skip 'personality is refused here' 'are equal in all passes'; else
	is "$(report ^finding)" '' 'are equal in all passes'
fi
run 'a folder per pass' 0 -P 2 -c "$actor" cwd
is "$(cat out "d/output/$(launch)/pass-2.stdout")" "$sandbox
$sandbox/d/cwd/$(launch)/pass-2" 'the first in ours, the second in its own'
cp "$actor" ./own
run 'found relative to our folder' 0 -P 2 -c ./own print yes
is "$(cat out "d/output/$(launch)/pass-2.stdout")" "yes
yes" 'in each'

# ---- its own binary ----
cp "$actor" ./suicide
run 'a program that deletes itself' 0 -P 3 ./suicide unlink ./suicide print "done"
is "$(report '^end' | wc -l)" 3 'runs in every pass'
cp "$actor" ./changing
printf '#!/bin/sh\necho replaced\n' >other; chmod +x other
run 'a program that is replaced' 0 -P 2 sh -c 'exit 0'
rm -rf d r
"$driver" -P 2 -o d -R r ./changing unlink ./changing print original >out; cp other changing
is "$(cat out "d/output/$(launch)/pass-2.stdout")" "original
original" 'is the original in every pass'
printf '#!/bin/sh\necho script $RETALLY_PASS\nrm -f "./self"\n' >self; chmod +x self
run 'a script that deletes itself' 0 -P 2 ./self
is "$(cat "d/output/$(launch)/pass-2.stdout")" 'script 0002' 'runs again'
run 'a program that closes everything' 0 -P 2 "$actor" close print fine
is "$(report ^outcome | cut -d' ' -f5)" 'completed=2' 'is counted'
run 'a program in a session of its own' 0 -P 2 "$actor" setsid print fine
is "$(report ^outcome | cut -d' ' -f5)" 'completed=2' 'is counted as well'

# ---- what it leaves behind ----
rm -f pids
run 'a daemon of a short life' 0 -P 2 "$actor" daemon 0.3 pids
all_gone pids; ok $? 'each pass waited for it'
is "$(report ^outcome | cut -d' ' -f5)" 'completed=2' 'before the next one'
rm -f pids
run 'a daemon that stays' 0 -P 2 -w 0.3 "$actor" daemon 30 pids
is "$(report '^begin' | wc -l)" 1 'no second pass meets it'
like "$(report ^finding)" 'finding 6 pass=1 processes outlived the program and were left running: actor' 'it is found'
kill -0 "$(cat pids)"; ok $? "and left alone: it is the program's"
kill -9 "$(cat pids)"
rm -f pids
run 'a daemon of a later pass' 0 -P 2 -w 0.3 "$actor" in 2 daemon 30 pids
all_gone pids; ok $? 'is ended'
like "$(report ^finding)" 'finding 6 pass=2 processes outlived the program and were ended' 'and found'
shm=/retally-test-$$
run 'shared memory left behind' 0 -P 2 "$actor" shm "$shm"
is "$(report '^begin' | wc -l)" 2 'does not stop the second pass'
like "$(report ^finding | head -1)" "finding 5 pass=1 pass 1 left shared memory behind: retally-test-$$; removed before the next pass" 'and is found'
[ -e "/dev/shm$shm" ]; ok $? 'the last pass leaves it as it would alone'
rm -f "/dev/shm$shm"

# ---- time limit ----
rm -f pids
run 'a later pass that hangs' 0 -P 3 -t 0.001 -g 0.5 "$actor" in 2 pid pids child 300 pids sleep 300
all_gone pids; ok $? 'is ended with its children'
like "$(report ^finding)" 'finding 3 pass=2 pass 2 was ended after' 'and found'
is "$(report '^end' | cut -d' ' -f2,5 | tr '\n' ' ')" '1 flags=0 2 flags=6 ' 'the first pass is kept'

# ---- signals ----
start() { # ARGS...: in the background; sets pid
	rm -rf d r pids
	"$driver" -o d -R r "$@" >out 2>err &
	pid=$!
	await test -s pids
}
start "$actor" count USR1 pids
kill -USR1 "$pid"; wait "$pid"
is "$(cat out)" 'USR1 1' 'a signal sent to us alone is passed on once'
rm -rf d r pids
setsid -w "$driver" -o d -R r "$actor" count USR1 pids >out 2>err &
pid=$!
await test -s pids
kill -USR1 -- "-$(ps -o pgid= -p "$(cat pids)" | tr -d ' ')"; wait $pid
is "$(cat out)" 'USR1 1' 'a signal sent to the whole group arrives once'
start -P 3 "$actor" pid pids sleep 30
kill -TERM "$pid"; wait "$pid"
is $? 143 'TERM ends the program, and us by the same signal'
like "$(report ^outcome)" 'exit=143 signal=15 .*interrupted=1' 'no further pass'
is "$(report '^sample 1' | wc -l)" 2 'what was counted is kept'
start -P 3 "$actor" ignore TERM pid pids sleep 0.5 print survived
kill -TERM "$pid"; wait "$pid"
is "$? $(cat out) $(report '^begin' | wc -l)" '0 survived 1' 'a program that ignores it goes on; no further pass'
start -P 2 "$actor" in 2 ignore INT pid pids sleep 30
kill -INT "$pid"; sleep 0.3; kill -0 "$pid"; ok $? 'a later pass may ignore the first Ctrl-C'
kill -INT "$pid"; wait "$pid"
is $? 130 'not the second'
start "$actor" pid pids stop print continued
await sh -c "grep -q '^State:.T' /proc/$pid/status"; ok $? 'the program stops itself: so do we'
kill -CONT "$pid"; wait "$pid"
is "$? $(cat out)" '0 continued' 'continuing us continues it'
# shellcheck disable=SC2016
start sh -c '(while read -r _ _ state _ <"/proc/$$/stat" && [ "$state" != T ]; do :; done; kill -CONT $$) & kill -STOP $$; wait; echo went on'
wait "$pid"
is "$? $(cat out)" '0 went on' 'a stopped program that somebody else continues continues us'
start "$actor" pid pids stop
await sh -c "grep -q '^State:.T' /proc/$pid/status"
kill -KILL "$(cat pids)"; wait "$pid"
is $? 137 'one that is killed while it is stopped does not leave us stopped'

# ---- nobody stays behind ----
for victim in caller supervisor both; do
	rm -f main
	start -P 2 "$actor" pid main daemon 300 pids child 300 pids sleep 300
	await sh -c '[ "$(wc -l <pids)" = 2 ]'
	cat main >>pids
	below=$(pgrep -P "$pid")
	case $victim in
	caller) kill -9 "$pid" ;;
	supervisor) kill -9 "$below" ;;
	both) kill -9 "$pid"; kill -9 "$below" ;;
	esac
	wait "$pid"
	status=$?
	if [ $victim = both ]; then
		await gone "$(cat main)"; ok $? 'both killed: the program itself ends'
		xargs kill -9 <pids 2>/dev/null
		continue
	fi
	await all_gone pids; ok $? "$victim killed: program, child and daemon end"
	[ $victim = supervisor ] && is "$status" 125 'the caller says so'
	await gone "$below"; ok $? 'the supervisor too'
done
like "$(cat d/run.json)" '"command"' 'the directory stays'
start -P 3 "$actor" in 2 pid pids sleep 300
kill -9 "$(cat pids)"; wait "$pid"
is $? 137 'the program is killed in pass 2'
is "$(report '^sample' | cut -d' ' -f2 | sort | uniq -c | tr -s ' \n' ' ')" ' 2 1 2 2 ' 'both passes are kept'
start -P 3 "$actor" in 2 pid pids sleep 300
kill -9 "$pid"; wait "$pid" 2>/dev/null
await all_gone pids; ok $? 'we are killed in pass 2: nothing stays'
cat d/spool/*.rts >/dev/null; ok $? 'the spool is there'

# ---- the directory ----
run 'into a directory that is not writable' 125 -o /proc/retally-test "$actor" print ran
is "$(cat out)" '' 'the program does not run'
like "$(cat err)" "run directory '/proc" 'and the path is named'
run 'again into the same directory' 0 -P 2 -K 1 "$actor" print x
exits 0 'adds' "$driver" -P 2 -K 2 -o d -R r "$actor" print x
is "$(ls d/spool | wc -l)" 2 'a second spool file'
exits 125 'with another command' "$driver" -P 2 -o d -R r "$actor" print y
like "$(cat err)" "another command: '.*print x' there, '.*print y' now" 'is refused with both'
exits 125 'with another plan' "$driver" -P 3 -o d -R r "$actor" print x
like "$(cat err)" 'another plan' 'is refused'
rm -rf d
for i in 1 2 3 4 5 6; do "$driver" -P 2 -o d "$actor" print x >/dev/null 2>"err$i" & done
wait
is "$(ls d/spool | wc -l) $(cat err?)" '6 ' 'six at once make one directory'
if [ "$(id -u)" = 0 ] && mkdir -p small && mount -t tmpfs -o size=256k none small 2>/dev/null; then
	exits 0 'a disk that fills up in pass 2' "$driver" -P 3 -o small/d -R r \
		sh -c "[ \$RETALLY_PASS = 0002 ] && head -c 9999999 /dev/zero >small/fill 2>/dev/null; exit 0"
	is "$(report '^sample 1' | wc -l)" 2 'keeps pass 1'
	rm -rf small/fill
	head -c 999999 /dev/zero >small/fill 2>/dev/null
	exits 125 'a disk that is full before' "$driver" -P 3 -o small/e -R r "$actor" print ran
	is "$(cat out)" '' 'the program does not run'
	umount small
else
	skip 'needs a mount' 'a disk that fills up'
fi

# ---- what can be counted ----
run 'a static program' 0 -P 2 "$programs/actor_static" print static
unlike "$(report '^sample')" 'status=[^0]' 'is counted'
if [ "$(id -u)" = 0 ] && ! findmnt -no OPTIONS -T . | grep -q nosuid && cp "$actor" ./setuid && chmod 755 . && chown 65534 ./setuid && chmod 4755 ./setuid; then
	run 'set-user-id of another user' 0 -P 2 ./setuid print yes
	like "$(report ^finding)" "finding 4 pass=1 './setuid' is set-user-id" 'is named'
	is "$(report '^sample 1' | cut -d' ' -f4 | sort -u)" 'status=1' 'nothing is passed off as a count'
else
	skip 'needs root' 'set-user-id'
fi
if command -v strace >/dev/null && strace -f -o /dev/null true 2>/dev/null; then
	# A traced child cannot be traced by us: as where ptrace is forbidden.
	rm -rf d r
	exits 0 'without ptrace' strace -f -o /dev/null "$driver" -o d -R r -e 'type=1 config=2' \
		-e "type=5 bp_type=x bp_len=8 object=$actor offset=0x1" "$actor" print ran
	is "$(cat out)" ran 'the program runs'
	like "$(report ^finding)" 'need ptrace, which is not allowed' 'the reason is given'
	is "$(report '^sample' | cut -d' ' -f3-4 | tr '\n' ' ')" 'counter=0 status=0 counter=1 status=1 ' 'the other counters are there'
else
	skip 'needs strace' 'without ptrace'
fi
run 'a breakpoint' 0 -P 2 -e "type=5 bp_type=x bp_len=8 object=$actor offset=0x1" "$actor" print held
is "$(cat out)" held 'the held program runs as usual'
run 'progress is told' 0 -P 2 -p "$actor" print x
is "$(report ^progress | head -2 | tr '\n' ' ')" 'progress pass=1 1/2 progress pass=2 2/2 ' 'for each pass'
done_testing
