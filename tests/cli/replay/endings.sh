#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# However a program with replayed dispatches ends, and whatever fails on our side: its output and status are its own.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
program=$programs/sim_program
ends() { # HOW STATUS DISPATCHES
	"$program" 6 "$1" >plain 2>/dev/null
	exits "$2" "$1: the status" "$retally" run --source sim --replay window -o "$1" -- "$program" 6 "$1"
	cmp -s plain out; ok $? "$1: the output"
	like "$(cat err)" " $3 dispatches, 4 of 4 passes" "$1: what was counted"
}
ends return 0 21
ends exit 7 21
ends quick_exit 7 21
ends _exit 7 18 # the window that is open then is lost, and only that
ends fork 0 21
signalled() { # HOW STATUS: retally dies of the program's signal
	"$program" 6 "$1" >plain 2>/dev/null
	bash -c '"$@"' - "$retally" run --source sim --replay window -o "$1" -- "$program" 6 "$1" >out 2>err
	is $? "$2" "$1: the status"
	cmp -s plain out; ok $? "$1: the output"
	like "$(cat err)" ' 18 dispatches, 4 of 4 passes' "$1: the windows before are kept"
}
signalled kill 137
signalled abort 134

# an exec: both images have a file
"$program" 4 exec "$program" 2 exit >plain
exits 7 'exec: the status' "$retally" run --source sim --replay window -o exec -- "$program" 4 exec "$program" 2 exit
cmp -s plain out; ok $? 'exec: the output'
is "$(find exec/spool -name '*.rts' | wc -l)" 3 'exec: the command and each image have a spool'
is "$("$retally" report exec --by window --format csv | awk -F, 'NR > 1 { d += $5 } END { print d }')" 21 'exec: 12 and 9 dispatches'

# several processes
exits 0 'three processes' "$retally" run --source sim --replay window -o three -- sh -c "for i in 1 2 3; do '$program' 4 return & done; wait"
is "$(find three/spool -name '*.rts' | wc -l)" 4 'have a spool each'
like "$(cat err)" ' 45 dispatches, 4 of 4 passes' 'and are all in the summary'

# killed from outside in the middle
mkfifo pipe
"$retally" run --source sim --replay window -o killed -- "$program" 6 hold <pipe >out 2>err &
job=$!
exec 3>pipe
for _ in $(seq 200); do grep -q holding out && break; sleep 0.05; done
child=$(sed -n 's/.*\.\([0-9]*\)\.rts$/\1/p' <<<"$(ls killed/spool)" | sort -n | tail -1)
kill -9 "$child"
wait $job
is $? 137 'kill -9 of the program: the status'
exec 3>&-
like "$("$retally" report killed)" '18 +[0-9]+|update +6 ' 'what was counted before is there'

# a spool that somebody cuts, the command's or the program's
"$program" 6 hold <<<'' >plain
for whose in tail head; do
	rm -f pipe && mkfifo pipe
	"$retally" run --source sim --replay window -o "cut-$whose" -- "$program" 6 hold <pipe >out 2>err &
	job=$!
	exec 3>pipe
	for _ in $(seq 200); do grep -q holding out && break; sleep 0.05; done
	: >"cut-$whose/spool/$(ls "cut-$whose/spool" | sort -t. -k5n | "$whose" -n 1)"
	exec 3>&-
	wait $job
	is $? 0 "a spool is cut: the status ($whose)"
	cmp -s plain out; ok $? "a spool is cut: the output ($whose)"
	like "$(cat err)" 'somebody cut it short' "a spool is cut: it is said ($whose)"
	exits 0 "a spool is cut: a report ($whose)" "$retally" report "cut-$whose"
	like "$(cat out err)" "spool/$(find "cut-$whose/spool" -size -1 -printf %f)" "a spool is cut: it is named ($whose)"
done

# a full disk and a directory that cannot be written
"$program" 400 return >plain
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=1m tmpfs small 2>/dev/null; then
	trap 'umount "$sandbox/small" 2>/dev/null; [ "${KEEP:-0}" = 1 ] || rm -rf "$sandbox"' EXIT
	exits 0 'a full disk: the status' "$retally" run --source sim --replay window -o small/d -- "$program" 400 return
	cmp -s plain out; ok $? 'a full disk: the output'
	like "$(cat err)" 'nothing more is recorded: .*No space left' 'a full disk: it is said'
	umount small
else
	skip 'a file system cannot be mounted' 'a full disk'
fi
"$program" 6 exit >plain
# of the program only: its spool cannot be made, the command's is there already
if setpriv --version >/dev/null 2>&1 && [ "$(id -u)" = 0 ]; then
	chmod 755 "$sandbox"
	umask 022
	exits 7 'a directory that the program cannot write: the status' "$retally" run --source sim --replay window -o closed -- \
		setpriv --reuid 65534 --clear-groups "$program" 6 exit
	cmp -s plain out; ok $? 'the output'
	like "$(cat err)" "cannot create '.*rts'.*dispatches run uncounted" 'and it is said'
else
	skip 'needs root and setpriv' 'a directory that the program cannot write'
fi
done_testing
