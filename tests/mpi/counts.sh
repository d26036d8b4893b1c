#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ten passes of four ranks, under one launcher, in each language: in one launch, and in ten launches with
# --pass K. Both give, rank by rank, the counts that the program makes. counts.sh LAUNCHER
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
# shellcheck source=tests/mpi/lib.sh
. "$RETALLY_SOURCE/tests/mpi/lib.sh" || exit 99
launcher=$1
need_launcher "$launcher"
mpi_job "$launcher"
mpi_program c "$(mpi_of "$launcher")" || skip_all "$why"

for language in c fortran python; do
	if ! mpi_program $language "$(mpi_of "$launcher")"; then
		skip "$why" "$language"
		continue
	fi
	plain
	truth >truth.txt
	like "$prints" '^ranks [14] sum (10|100) node [14]$' "$language: runs without retally"
	is "$("$retally" plan --count -e "$counters" -- "${app[0]}" 2>&1)" 10 "$language: ten passes"

	watchdog 300 "${job[@]}" "$retally" run -q -o "$language.one" -e "$counters" -- "${app[@]}" >out 2>err
	status=$?
	is $status 0 "$language: one launch of ten passes ends well"
	[ $status = 0 ] || sed 's/^/# err: /' err | head -20
	echo "# one launch: $took s"
	is "$(cat out)" "$prints" "$language: the output is the program's, once"
	counts "$language.one" >one.txt
	is "$(cut -d' ' -f1-3 one.txt)" "$(cat truth.txt)" "$language: one launch: each rank's counts"
	is "$(samples "$language.one")" '40|10|4' "$language: one launch: each rank ran each pass once"
	outputs=$(cat "$language.one"/output/*/pass-*.stdout 2>/dev/null | sort | uniq -c | tr -s ' ')
	is "$outputs" "$(printf '%s\n' "$prints" | sort | uniq -c | awk '{$1 *= 9; print "", $0}')" "$language: in the later passes too"

	begin=$SECONDS bad=0
	for k in 1 2 3 4 5 6 7 8 9 10; do
		watchdog 60 "${job[@]}" "$retally" run -q --pass $k/10 -o "$language.ten" -e "$counters" -- "${app[@]}" >>ten.out 2>err ||
			{ bad=$((bad + 1)); sed "s/^/# pass $k: /" err | head; }
	done
	echo "# ten launches: $((SECONDS - begin)) s"
	is $bad 0 "$language: ten launches with --pass K end well"
	counts "$language.ten" >ten.txt
	is "$(cut -d' ' -f1-3 ten.txt)" "$(cat truth.txt)" "$language: ten launches: each rank's counts"
	is "$(cat one.txt)" "$(cat ten.txt)" "$language: one launch and ten launches agree rank by rank, pass by pass"
	is "$(samples "$language.ten")" '40|10|4' "$language: ten launches: 40 executions"
done
done_testing
