#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A real program that Debian has for both MPI libraries: ScaLAPACK's LU factorisation, which checks its own solution, on
# four ranks, in the three ways: all passes in one launch, one pass a launch, passes dealt over the ranks.
# scalapack.sh LAUNCHER
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
# shellcheck source=tests/mpi/lib.sh
. "$RETALLY_SOURCE/tests/mpi/lib.sh" || exit 99
need_launcher "$1"
mpi=$(mpi_of "$1")
solver=$(compgen -G "/usr/lib/*/scalapack/$mpi-tests/xdlu") || skip_all "no ScaLAPACK for $mpi (scalapack-mpi-test)"
mpi_job "$1"
export OPENBLAS_NUM_THREADS=1
cat >LU.dat <<'END'
'SCALAPACK, LU factorization input file'
'of the tests'
'LU.out'	output file name (if any)
6		device out
1		number of problems sizes
31		values of M
31		values of N
1		number of NB's
4		values of NB
1		number of NRHS's
3		values of NRHS
1		number of NBRHS's
3		values of NBRHS
1		number of process grids (ordered pairs of P & Q)
2		values of P
2		values of Q
1.0		threshold
F		(T or F) test condition estimation and iterative refinement
END
lib=libmpi
[ "$mpi" = openmpi ] || lib=libmpich
counters=bp:MPI_Init@$lib,bp:MPI_Finalize@$lib,bp:MPI_Send@$lib,bp:MPI_Recv@$lib
is "$("$retally" plan --count -e "$counters" -- "$solver" 2>&1)" 4 'four passes'
solved() { # FILE NAME: the solution is right, once
	is "$(grep -c ' 1 tests completed and passed' "$1")" 1 "$2: the solver says that its solution is right"
}

watchdog 200 "${job[@]}" "$retally" run -q -o one -e "$counters" -- "$solver" >out 2>err
is $? 0 'one launch: ends well'
echo "# one launch: $took s"
solved out 'one launch'
is "$(cat one/output/*/pass-*.stdout | grep -c ' 1 tests completed and passed')" 3 'and in each later pass'
counts one | cut -d' ' -f1-5 >one.txt

bad=0
for k in 1 2 3 4; do
	watchdog 100 "${job[@]}" "$retally" run -q --pass $k/4 -o parts -e "$counters" -- "$solver" >"out.$k" 2>err || bad=$((bad + 1))
	solved "out.$k" "launch $k"
done
is $bad 0 'four launches: end well'
counts parts | cut -d' ' -f1-5 >parts.txt
is "$(grep -c ' ok$' parts.txt)" 16 'four launches: every rank has every count'
is "$(grep -cE '^bp:MPI_(Init|Finalize) [0-3] 1 ' parts.txt)" 8 'MPI_Init and MPI_Finalize once in each rank'
is "$(awk '$3 < 1' parts.txt)" '' 'and the others were called'
is "$(cat one.txt)" "$(cat parts.txt)" 'one launch and four launches agree rank by rank'

watchdog 100 "${job[@]}" "$retally" run -q --distribute rank -o dealt -e "$counters" -- "$solver" >out 2>err
is $? 0 'dealt over the ranks: ends well'
solved out 'dealt over the ranks'
counts dealt | grep ' ok$' >dealt.txt
is "$(wc -l <dealt.txt)" 4 'dealt over the ranks: each rank has one of the counts'
is "$(grep -vxFf parts.txt dealt.txt)" '' 'and the same as the rank has in the launches'
done_testing
