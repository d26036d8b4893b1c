#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A real program: Debian's hpcc (Linpack, FFT, random access, latency) on four ranks of Open MPI, in the three ways: all
# passes in one launch, one pass a launch, passes dealt over the ranks.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
# shellcheck source=tests/mpi/lib.sh
. "$RETALLY_SOURCE/tests/mpi/lib.sh" || exit 99
need_launcher ompi
have hpcc || skip_all 'no hpcc'
export OPENBLAS_NUM_THREADS=1
mpi_job ompi
cat >hpccinf.txt <<'END'
HPLinpack benchmark input file
of the tests
HPL.out      output file name (if any)
8            device out
1            # of problems sizes (N)
64           Ns
1            # of NBs
16           NBs
0            PMAP process mapping
1            # of process grids (P x Q)
2            Ps
2            Qs
16.0         threshold
1            # of panel fact
2            PFACTs
1            # of recursive stopping criterium
4            NBMINs
1            # of panels in recursion
2            NDIVs
1            # of recursive panel fact.
1            RFACTs
1            # of broadcast
1            BCASTs
1            # of lookahead depth
1            DEPTHs
2            SWAP
64           swapping threshold
0            L1 in form
0            U  in form
1            Equilibration
8            memory alignment in double
##### This line (no. 32) is ignored (it serves as a separator). ######
0            Number of additional problem sizes for PTRANS
1200         values of N
0            number of additional blocking sizes for PTRANS
40           values of NB
END
lib=libmpi
counters=bp:MPI_Init@$lib,bp:MPI_Finalize@$lib,bp:MPI_Alltoall@$lib,bp:MPI_Bcast@$lib
succeeded() { # N NAME: hpcc appends a record to its file with each run
	is "$(grep -c '^Success=1' hpccoutf.txt)" "$1" "$2: hpcc says success"
	rm -f hpccoutf.txt
}
is "$("$retally" plan --count -e "$counters" -- hpcc 2>&1)" 4 'four passes'

watchdog 120 "${job[@]}" "$retally" run -q -o one -e "$counters" -- hpcc >out 2>err
status=$?
is $status 0 'one launch: ends well'
[ $status = 0 ] || sed 's/^/# err: /' err | head -20
echo "# one launch: $took s"
succeeded 4 'one launch'
counts one | cut -d' ' -f1-5 >one.txt

bad=0
for k in 1 2 3 4; do
	watchdog 60 "${job[@]}" "$retally" run -q --pass $k/4 -o parts -e "$counters" -- hpcc >out 2>err || bad=$((bad + 1))
done
is $bad 0 'four launches: end well'
succeeded 4 'four launches'
counts parts | cut -d' ' -f1-5 >parts.txt
is "$(grep -c ' ok$' parts.txt)" 16 'four launches: every rank has every count'
is "$(grep -cE '^bp:MPI_(Init|Finalize) [0-3] 1 ' parts.txt)" 8 'MPI_Init and MPI_Finalize once in each rank'
is "$(awk '$3 < 1' parts.txt)" '' 'and the others were called'
is "$(cat one.txt)" "$(cat parts.txt)" 'one launch and four launches agree rank by rank'

watchdog 120 "${job[@]}" "$retally" run -q --distribute rank -o dealt -e "$counters" -- hpcc >out 2>err
is $? 0 'dealt over the ranks: ends well'
succeeded 1 'dealt over the ranks'
counts dealt | grep ' ok$' >dealt.txt
is "$(wc -l <dealt.txt)" 4 'dealt over the ranks: each rank has one of the counts'
is "$(grep -vxFf parts.txt dealt.txt)" '' 'and the same as the rank has in the launches'
done_testing
