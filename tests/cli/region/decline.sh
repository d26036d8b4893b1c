#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Regions that cannot be replayed: declined by name, counted as they run, and the program is as it was.
# shellcheck disable=SC1091,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/region/region.sh" || exit 99
plan_for "$programs/region_c" 3
# CASE REASON: the case is declined for that, its output is the same, and it was counted once
declines() {
	both range "$programs/region_c" "$1"
	same "$1"
	like "$records" "^declined [0-9]+ $1: .*$2" "$1: the reason"
	unlike "$records" '^window' "$1: nothing was replayed"
}
counted_once() {
	if [ $exact = yes ]; then
		is "$(counts "$1")" "1:5" "$1: counted as it ran"
	else skip 'no uprobes here' "$1: counted as it ran"; fi
}
declines output 'system call write,'
is "$(counts output | wc -w)" 4 'output: each one counted in a pass, in turn'
is "$(grep -c 'is not replayed any more' <<<"$records")" 1 'output: not tried for ever'
declines file 'system call (openat|open),'
counted_once file
declines socket 'system call sendto,'
counted_once socket
declines fork 'system call clone,'
counted_once fork
declines leave 'it ends the process'
declines partner '1 other thread runs'
counted_once partner
declines shared 'writable shared memory .*anonymous'
counted_once shared
declines signal 'makes no progress'
counted_once signal
declines jump 'left without its end'
like "$records" "region 'jump' was left 2 times without its end" 'jump: said'
both range "$programs/region_c" crossed
same 'begun in one thread, ended in another'
like "$records" '^declined 1 crossed: .*system call write,' 'crossed: the reason'
like "$records" "the end of region 'crossed' came 2 times without its begin" 'crossed: said'
both range "$programs/region_c" handler
same 'a region in a signal handler'
like "$records" '^declined 1 in the handler: it begins in a signal handler' 'a region in a signal handler: declined'
both range "$programs/region_c" crash
is "$rc" "$plain_rc" 'a region that dies of a signal: so does the program'
if [ -x "$programs/region_omp" ]; then
	export OMP_NUM_THREADS=4 OMP_WAIT_POLICY=passive OMP_DYNAMIC=false
	plan_for "$programs/region_omp" 3
	both range "$programs/region_omp" inside
	same 'a region inside a parallel region'
	like "$records" '^declined 1 inside: .*(inside a parallel region|other threads? runs?)' \
		'a region inside a parallel region: declined'
	plan_for "$programs/region_threadprivate" 3
	both range "$programs/region_threadprivate"
	same 'OpenMP threads with variables of their own'
	like "$records" '^declined [0-9]+ keep: .*(thread-local|declined before)' \
		'OpenMP threads with variables of their own: not ended'
fi
done_testing
