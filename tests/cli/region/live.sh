#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Regions in application replay: each pass counts its counters in every region as the program runs; and what
# happens when begin and end do not fit together.
# shellcheck disable=SC1091,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/region/region.sh" || exit 99
count_is() { # REGION WANTED NAME
	if [ $exact = yes ]; then is "$(counts "$1")" "$2" "$3"; else skip 'no uprobes here' "$3"; fi
}
plan_for "$programs/region_c" 3
both '' "$programs/region_c" plain
same 'three passes'
count_is outer '1:11 1:22 1:33 2:11 2:22 2:33 3:11 3:22 3:33' 'three passes: counts'
count_is inner '1:1 1:2 1:3 2:1 2:2 2:3 3:1 3:2 3:3' 'three passes: the inner region'
for case in output file socket fork leave allocate alarmed partner shared watch signal; do
	both '' "$programs/region_c" $case
	same "$case"
	is "$(grep -c '^end' <<<"$records")" 3 "$case: passes"
done
both '' "$programs/region_c" threads
same 'threads'
if [ $exact = yes ]; then
	is "$(counts thread | tr ' ' '\n' | sort | uniq -c | awk '{ print $1 "x" $2 }' | sort | tr '\n' ' ')" \
		'2x1:100 2x1:200 2x1:300 2x1:400 2x2:100 2x2:200 2x2:300 2x2:400 2x3:100 2x3:200 2x3:300 2x3:400 ' \
		'threads: each its own'
fi
count_is 'own threads' '1:1000 2:1000 3:1000' 'threads: those of a region of the first thread'
both '' "$programs/region_c" jump
same 'longjmp'
like "$records" "region 'jump' was left 2 times without its end" 'longjmp: said'
count_is after '1:2 2:2 3:2' 'longjmp: what follows is counted'
both '' "$programs/region_c" strays
same 'marks that do not fit'
like "$records" "the end of region '' came 1 times without its begin" 'an end without a begin'
like "$records" "the end of region 'b' came 1 times without its begin" 'an end after its region was left'
like "$records" "region 'b' was left 1 times without its end" 'an inner region without an end'
like "$records" 'nested deeper than 64' 'too deep'
is "$(grep -c "^range 1 x\{1000\} " <<<"$records")" 1 'a long name is cut'
is "$(grep -c "^range 1 (null) " <<<"$records")" 1 'no name'
is "$(LC_ALL=C grep -ac "^range 1 bytes .*%s%n" <<<"$records")" 1 'any bytes'
both '' "$programs/region_c" crossed
same 'begun in one thread, ended in another'
like "$records" "the end of region 'crossed' came 2 times without its begin" 'an end in another thread ends nothing'
count_is behind '1:2 2:2 3:2' 'what follows is counted'
# One pass alone.
RETALLY_PASS=2 both '' "$programs/region_c" plain
is "$(grep -c '^range 2 ' <<<"$records")" 6 'RETALLY_PASS=2: regions of pass 2'
is "$(grep -c '^range [13] ' <<<"$records")" 0 'RETALLY_PASS=2: of no other'
# A static program has no marks, and works.
is "$("$programs/region_static" plain)" "$("$programs/region_c" plain)" 'a static program'
done_testing
