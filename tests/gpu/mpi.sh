#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Two MPI ranks that share this GPU, under `mpirun -n 2 retally run`: the same output as without, with replay in each
# rank and with --distribute rank. Needs a GPU and an MPI (mpirun, and mpicxx unless RANKS names the built program).
#   tests/gpu/mpi.sh RETALLY OUT-DIR
set -u
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
retally=${1:?use: tests/gpu/mpi.sh RETALLY OUT-DIR} out=${2:?the directory for what it leaves}
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/gpu/lib.sh
. "$here/lib.sh"
mkdir -p "$out" && cd "$out" || exit 1
ranks=${RANKS:-}
[ -n "$ranks" ] || { nvcc -O2 -arch=native -ccbin mpicxx -o ranks "$here/ranks.cu" && ranks=./ranks; } || exit 1
mpirun=${MPIRUN:-mpirun}
many=$(counters | paste -sd,)
timeout 60 $mpirun -n 2 "$ranks" >plain 2>plain.err
check $? 'without retally'
for how in '--replay window' '--replay kernel' '--distribute rank'; do
	name=$(echo "$how" | tr -cd 'a-z')
	# shellcheck disable=SC2086
	timeout 240 $mpirun -n 2 "$retally" run --source cuda -e "$many" $how -o "run.$name" -- "$ranks" >"$name.out" 2>"$name.err"
	check $? "$how: ends with status 0"
	cmp -s plain "$name.out"
	check $? "$how: the same output"
	"$retally" report "run.$name" --by rank --format csv >"$name.csv" 2>>"$name.err"
	[ "$(awk -F, 'NR > 1' "$name.csv" | wc -l)" -ge 2 ]
	check $? "$how: both ranks are in the report"
	"$retally" report "run.$name" --by dispatch --format csv --wide >"$name.values" 2>>"$name.err"
	for rank in 0 1; do
		counted=$(python3 -c 'import csv, sys
print(sum(row["rank"] == sys.argv[2] and float(row["smsp__inst_executed.sum"] or 0) > 0 for row in csv.DictReader(open(sys.argv[1]))))' \
			"$name.values" $rank)
		[ "$counted" -gt 0 ]
		check $? "$how: rank $rank: $counted dispatches with instructions"
	done
	tail -4 "$name.err"
done
ended
