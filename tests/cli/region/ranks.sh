#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Regions in the ranks of a job with a pass each (--distribute rank): every rank counts its regions in its own pass,
# together they have all passes, and each prints what it prints without retally. Under each launcher that is there.
# shellcheck disable=SC1091,SC2034,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/region/region.sh" || exit 99
plan_for "$programs/region_c" 3
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
tried=0
for launcher in 'mpirun.openmpi --oversubscribe' mpiexec.hydra; do
	name=${launcher%% *}
	command -v "$name" >/dev/null || { skip "no $name" "$name"; continue; }
	# shellcheck disable=SC2206
	job=($launcher -n 3)
	timeout 60 "${job[@]}" "$programs/region_c" plain >alone 2>&1 || { skip "$name starts no job here" "$name"; continue; }
	tried=1
	rm -rf dealt
	exits 0 "$name: --distribute rank" timeout -k 5 120 "${job[@]}" "$retally" run -q --distribute rank --plan plan.json \
		-o dealt -- "$programs/region_c" plain
	is "$(sort out)" "$(sort alone)" "$name: the output is the program's"
	for file in dealt/spool/*.rts; do
		"$programs/dump_spool" "$file" | awk '/^range/ { print $2 }' | sort | uniq -c | tr -s ' '
	done >passes
	is "$(grep . passes | sort)" "$(printf ' 6 %s\n' 1 2 3)" "$name: each rank counts its six regions in a pass of its own"
	"$retally" report dealt >report.txt 2>&1
	like "$(cat report.txt)" '3 of 3 passes' "$name: together they have all passes"
	like "$(cat report.txt)" 'outer \(range, 9 times\)' "$name: and the regions of all ranks"
	if [ "$exact" = yes ]; then
		records=$("$programs/dump_spool" dealt 2>&1)
		is "$(counts outer | tr ' ' '\n' | sed 's/.*://' | sort -n | uniq -c | awk '{ print $1 "x" $2 }' | paste -sd' ')" \
			'3x11 3x22 3x33' "$name: each with its count"
	else skip 'no uprobes here' "$name: counts"; fi
	rm -rf replayed
	exits 0 "$name: --replay range in every rank" timeout -k 5 120 "${job[@]}" "$retally" run -q --replay range \
		--plan plan.json -o replayed -- "$programs/region_c" plain
	is "$(sort out)" "$(sort alone)" "$name: the output is the program's"
	is "$("$programs/dump_spool" replayed | grep -c '^window 3$')" 9 "$name: three regions of three ranks replayed"
done
[ $tried = 1 ] || skip 'no launcher' 'ranks'
done_testing
