#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# retally run --replay range: regions over the command, also of a program that a shell starts.
# shellcheck disable=SC1091,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
"$programs/make_plan" plan.json page-faults task-clock,context-switches minor-faults
exits 0 'retally run --replay range' "$retally" run --replay range --plan plan.json -o a -- "$programs/region_c" memory
is "$(cat out)" "$("$programs/region_c" memory)" 'its output'
records=$("$programs/dump_spool" a)
is "$(grep -c '^window 3$' <<<"$records")" 2 'two regions, three passes each'
is "$(grep -c '^range' <<<"$records")" 6 'six counts'
like "$("$retally" report a)" 'memory +2 +6' 'the report has the region'
exits 5 'exit status, and a script in between' "$retally" run --replay range --plan plan.json -o b -- \
	sh -c '"$0" leave' "$programs/region_c"
is "$(cat out)" "$("$programs/region_c" leave)" 'its output'
like "$("$programs/dump_spool" b)" '^declined 1 leave: it ends the process' 'declined by name'
exits 0 'one pass' "$retally" run --replay range --pass 2 --plan plan.json -o c -- "$programs/region_c" plain
is "$("$programs/dump_spool" c | grep -c '^range 2 ')" 6 'one pass: counted as the program runs'
done_testing
