#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# All ways in which a program ends: same output, same status, and every pass.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/inject/inject.sh" || exit 99
replays 'return from main' "$target" return 0
replays 'return with a status' "$target" return 7
replays 'exit' "$target" exit 3
replays 'exit inside libc' "$target" err 3
replays '_exit does not flush' "$target" _exit 4
replays '_Exit' "$target" _Exit 5
replays 'quick_exit' "$target" quick 6
like "$(cat out)" at_quick_exit 'quick_exit: its handlers ran'
replays 'exit in another thread' "$target" thread 8
replays 'pthread_exit in main' "$target" pthread_exit
replays 'order of atexit, on_exit and destructors' "$target" order 9
is "$(pass_output 3)" "$(cat out)" 'order: the same in pass 3'
replays '_exit in a signal handler' "$target" signal
mkfifo fifo
exec 9<>fifo
input=fifo replays 'another thread waits in getchar' "$target" locked 2
exec 9>&-

both "$target" crash-in-2
is "$rc" 137 'killed in pass 2: the signal is seen'
is "$(grep -E '^(begin|end)' <<<"$records")" "$(printf 'begin 1/3\nend 1 status 0\nbegin 2/3')" \
	'killed in pass 2: pass 1 is complete, pass 2 has no end'
both bash -c 'exit $((RETALLY_PASS == 1 ? 5 : 0))'
is "$rc" 5 'status 5 in pass 1 only: it is the final one'
both bash -c 'exit $((RETALLY_PASS == 2 ? 6 : RETALLY_PASS == 3 ? 7 : 0))'
is "$rc" 6 'the first pass that failed decides'
is "$(grep -E '^end' <<<"$records")" "$(printf 'end 1 status 0\nend 2 status 6\nend 3 status 7')" \
	'each pass has its own status'
for way in raw abort; do
	both "$target" $way
	is "$rc" "$plain_rc" "$way: status as without retally"
	is "$(grep -E '^(begin|end)' <<<"$records")" 'begin 1/3' "$way: pass 1 has no end, the file is readable"
done
both "$target" seccomp
is "$rc $(cat out)" "$plain_rc $(cat plain.out)" 'a filter of system calls: status and output as without retally'
is "$plain_rc" 6 'which are not those of a kill'
is "$(grep -E '^(begin|end)' <<<"$records")" 'begin 1/3' 'a filter of system calls: the pass has no end, no other follows'
like "$(cat err)" '^retally: the program limits its own system calls .*: pass 1 of 3 is the last one' 'and that is said'
both "$target" seccomp-refused
is "$rc" "$plain_rc" 'a filter that is refused: status'
is "$(grep -E '^(begin|end)' <<<"$records")" "$(printf 'begin 1/3\nend 1 status 6')" 'a filter that is refused: the pass ends as others do'
both "$target" traceme
is "$rc" "$plain_rc" 'traced: status as without retally'
like "$(cat err)" 'traced by now .*: pass 1 of 3 is the last one' 'traced: no pass follows, and why'
is "$(grep -E '^(begin|end)' <<<"$records")" "$(printf 'begin 1/3\nend 1 status 6')" 'traced: the pass has its end'
done_testing
