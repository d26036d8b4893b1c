#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The disk is full, a file may not grow, the directory goes away: the program never notices.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/inject/inject.sh" || exit 99
for blocks in 0 1 3 60 200; do
	dir=$sandbox/limit-$blocks.retally
	got=$(ulimit -f $blocks; preloaded "$target" return 3 2>err.$blocks; echo $?)
	is "$got" 3 "files of at most $blocks KiB: status"
	[ $blocks -gt 3 ] || continue # the message itself is longer than the first limits let through
	is "$(wc -l <err.$blocks)" $((blocks < 200)) "files of at most $blocks KiB: one line, or none when it is enough"
done

dir=$sandbox/gone.retally
preloaded sh -c "rm -r '$dir'; echo out; exit 4" >out 2>err
is "$?$(cat out)" 4out 'directory removed by the program: untouched'
like "$(cat err)" '^retally: .*gone.retally' 'directory removed by the program: said'

dir=$sandbox/cut.retally
preloaded sh -c "for f in '$dir'/spool/*; do : >\"\$f\"; done; echo out; exit 4" >out 2>err
is "$?$(cat out)" 4out 'spool cut by the program: untouched'
like "$(cat err)" '^retally: .*cut it short' 'spool cut by the program: said'
is "$(grep -c 'cut it short' err)" 1 'spool cut by the program: once'
exits 0 'spool cut by the program: a report' "$retally" report "$dir"
like "$(cat out err)" '^ *- spool/.*\.rts: ' 'spool cut by the program: it is named'

mkdir small
if [ "$(id -u)" != 0 ] || ! mount -t tmpfs -o size=64k tmpfs small 2>/dev/null; then
	skip 'no right to mount a small file system' 'full disk'
	done_testing
fi
trap 'umount "$sandbox/small" "$sandbox/medium" 2>/dev/null; rm -rf "$sandbox"' EXIT
dir=$sandbox/small/x.retally
preloaded "$target" return 5 2>err
is "$?$(wc -l <err)" 51 'no room for the spool: the program runs, one line'
like "$(cat err)" 'no room|No space' 'no room for the spool: says so'
mkdir medium
mount -t tmpfs -o size=1m tmpfs medium
dir=$sandbox/medium/x.retally
preloaded sh -c 'cat /dev/zero >'"$sandbox"'/medium/fill 2>/dev/null; echo out; exit 6' >out 2>err
is "$?$(cat out)" 6out 'disk filled by pass 1: its status and output'
rm medium/fill
like "$("$programs/dump_spool" "$dir")" '^begin 1/3' 'disk filled by pass 1: the file is readable'
unlike "$("$programs/dump_spool" "$dir")" '^bad' 'disk filled by pass 1: and whole'
done_testing
