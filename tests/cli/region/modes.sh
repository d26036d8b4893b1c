#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Regions in every mode of the command: once a pass in application replay, in one pass, dealt over processes, in C++ and
# Fortran; marks that do not fit together; and programs without marks, into which nothing is loaded.
# shellcheck disable=SC1091,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/region/region.sh" || exit 99
# NAME OPTIONS... -- PROGRAM ARGUMENT...: plain_out, plain_rc; out, err, rc, records, dir
counted() {
	local options=()
	dir=$sandbox/$1.retally
	shift
	while [ "$1" != -- ]; do options+=("$1") && shift; done
	shift
	"$@" >plain.out 2>/dev/null
	plain_rc=$?
	"$retally" run --plan "$sandbox/plan.json" -o "$dir" "${options[@]}" -- "$@" >out 2>err
	rc=$?
	records=$("$programs/dump_spool" "$dir" 2>&1)
}
same_output() { is "$rc $(cat out)" "$plain_rc $(cat plain.out)" "$1: output and status"; }
count_is() { # REGION WANTED NAME
	if [ $exact = yes ]; then is "$(counts "$1" | tr ' ' '\n' | sort | paste -sd ' ')" "$2" "$3"
	else skip 'no uprobes here' "$3"; fi
}
plan_for "$programs/region_c" 3
counted plain -- "$programs/region_c" plain
same_output 'once a pass'
is "$(grep -c '^range 1 outer ' <<<"$records")" 3 'pass 1 has the outer region three times'
is "$(grep -c '^range [123] ' <<<"$records")" 18 'six regions in each of three passes'
count_is outer '1:11 1:22 1:33 2:11 2:22 2:33 3:11 3:22 3:33' 'counts of the outer region'
count_is inner '1:1 1:2 1:3 2:1 2:2 2:3 3:1 3:2 3:3' 'counts of the inner region'
"$retally" report "$dir" >report.txt 2>&1
like "$(cat report.txt)" 'outer \(range, 9 times\)' 'the report has the region'
like "$(cat report.txt)" '3 of 3 passes' 'and the process in three passes'
counted one --pass 2 -- "$programs/region_c" plain
same_output '--pass 2'
is "$(grep -c '^range 2 ' <<<"$records")" 6 '--pass 2: regions of pass 2'
is "$(grep -c '^range [13] ' <<<"$records")" 0 '--pass 2: of no other'
counted dealt --distribute process --seed 1 -- "$programs/region_c" plain
same_output '--distribute process'
is "$(grep -c '^range [123] ' <<<"$records")" 6 '--distribute process: regions of one pass'
counted dealt-2 --distribute process --seed 1 -- sh -c '"$0" plain' "$programs/region_c"
is "$(grep -c '^range ' <<<"$records")" 0 'a shell has no marks: what it starts is not looked at'
counted strays -- "$programs/region_c" strays
same_output 'marks that do not fit'
for finding in "the end of region '' came 1 times without its begin" "the end of region 'b' came 1 times without its begin" \
	"region 'b' was left 1 times without its end" 'nested deeper than 64'; do
	is "$(grep -c "^note .*$finding" <<<"$records")" 3 "once a pass: $finding"
done
counted threads -- "$programs/region_c" threads
same_output 'threads'
is "$(grep -c '^range 3 thread ' <<<"$records")" "$(grep -c '^range 1 thread ' <<<"$records")" 'threads: as many regions in each pass'
for program in cpp fortran; do
	[ -x "$programs/region_$program" ] || { skip "no compiler" "region_$program"; continue; }
	plan_for "$programs/region_$program" 2
	counted $program -- "$programs/region_$program"
	same_output $program
	of_first=$(grep -c '^range 1 ' <<<"$records")
	[ "$of_first" -gt 0 ]
	ok $? "$program: regions are counted"
	is "$(grep -c '^range 2 ' <<<"$records")" "$of_first" "$program: as many in the second pass"
done
"$programs/make_plan" plan.json page-faults minor-faults
counted none -- env
is "$(grep -cE '^(LD_PRELOAD|RETALLY_REPLAY)=' out)" 0 'a program without marks is run as it is'
done_testing
