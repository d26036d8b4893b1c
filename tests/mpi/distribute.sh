#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --distribute in a job of four ranks: one pass in each, every count right where it was made, coverage told,
# the same seed the same assignment. distribute.sh LAUNCHER
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
# shellcheck source=tests/mpi/lib.sh
. "$RETALLY_SOURCE/tests/mpi/lib.sh" || exit 99
launcher=$1
need_launcher "$launcher"
mpi_job "$launcher"
mpi_program c "$(mpi_of "$launcher")" || skip_all "$why"
plain
assignment() { # DIR
	sqlite3 "$1/retally.db" 'SELECT rank, pass FROM run JOIN spool USING(spool) ORDER BY 1, 2'
}
value() { counts "$1" | grep ' ok$'; }

# Four functions, four passes, four ranks: one launch covers all.
four=bp:f1,bp:f2,bp:f3,bp:f4
watchdog 60 "${job[@]}" "$retally" run -q --distribute rank -o four -e $four -- "${app[@]}" >out 2>err
is $? 0 'four passes over four ranks'
echo "# $took s"
is "$(cat out)" "$prints" 'the output is the program'"'"'s'
is "$(assignment four | cut -d'|' -f2 | sort)" "$(printf '%s\n' 1 2 3 4)" 'each pass is run by one rank'
is "$(value four | judge)" '4 0' 'each count is that of the rank it was made on'
unlike "$("$retally" report four 2>&1)" 'was not run|--pass [1-4] ' 'no pass is missing'

# Ten passes: six are missing after one launch, and said to be.
watchdog 60 "${job[@]}" "$retally" run --distribute rank -o ten -e "$counters" -- "${app[@]}" >out 2>err
is $? 0 'ten passes over four ranks'
like "$(cat err)" '^missing: pass .* more ' 'what is missing is named, and how many more would close the gap'
is "$(value ten | judge)" '4 0' 'what was counted is right'
is "$(assignment ten | cut -d'|' -f2 | sort -u | wc -l)" 4 'no pass twice'

# The same seed, the same assignment; over launches into one directory samples add up.
language=c
mpi_program python "$(mpi_of "$launcher")" && language=python
[ $language = python ] || mpi_program c "$(mpi_of "$launcher")"
for d in first second; do
	watchdog 60 "${job[@]}" "$retally" run -q --distribute process:random --seed 1 -o $d -e "$counters" -- "${app[@]}" >out 2>err
	is $? 0 "$language: --distribute process:random --seed 1, $d time"
	is "$(value $d | judge)" '4 0' "$language: what was counted is right"
	assignment $d >$d.txt
done
is "$(wc -l <first.txt)" 4 'four ranks have a pass each'
is "$(cat second.txt)" "$(cat first.txt)" 'twice the same seed is the same assignment'
for seed in 2 3; do
	watchdog 60 "${job[@]}" "$retally" run -q --distribute process:random --seed $seed -o first -e "$counters" -- "${app[@]}" >out 2>err
	is $? 0 "seed $seed into the same directory"
done
is "$(assignment first | wc -l)" 12 'three launches are twelve samples'
is "$(value first | judge | cut -d' ' -f2)" 0 'all of them right'
done_testing
