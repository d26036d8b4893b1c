#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A program that leaves a process behind: passes do not overlap, and nobody waits for ever.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/inject/inject.sh" || exit 99
for mode in daemon daemon-libc; do
	both "$target" $mode
	sleep 0.5
	is "$rc" 0 "$mode: status"
	is "$(cat out)" daemon "$mode: output of pass 1"
	is "$(grep -E '^(begin|end)' <<<"$records")" "$(for p in 1 2 3; do
		printf 'begin %d/3\nend %d status 0\n' $p $p
	done)" "$mode: three passes"
	is "$(pass_output 2)" daemon "$mode: pass 2 began after the child of pass 1 and its own ended"
	like "$records" 'note 2 3 1 processes outlived pass 1' "$mode: recorded"
done
dir=$sandbox/long.retally
RETALLY_ORPHAN_WAIT=1 preloaded bash -c 'sleep 30 >/dev/null 2>&1 & echo $!; exit 3' >out 2>err
is $? 3 'a process that stays: status of pass 1'
like "$(cat err)" "^retally: 1 processes that pass 1 started still ran" 'a process that stays: said'
records=$("$programs/dump_spool" "$dir")
like "$records" 'note 2 1 disabled because 1 processes' 'a process that stays: recorded'
is "$(grep -c '^begin' <<<"$records")" 1 'a process that stays: no further pass'
ok "$(kill "$(cat out)" && echo 0 || echo 1)" 'a process that stays: it is left alone'
x=$(dir=$sandbox/detach.retally; RETALLY_ORPHAN_WAIT=1 timeout 20 bash -c '
	LD_PRELOAD='"$libretally"' RETALLY_PLAN='"$sandbox"'/plan.json RETALLY_OUT='"$sandbox"'/detach.retally \
	bash -c "(exec >&- 2>&- <&-; sleep 3) & exit 0"' 2>/dev/null)
is "$?$x" 0 'a child that closes its output does not keep the pipe of the caller open'
done_testing
