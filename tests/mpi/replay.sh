#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# All passes inside the ranks of one launch, under MPICH's hydra: the counts, the failures.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
ranks=$programs/mpi_ranks_mpich
[ -x "$ranks" ] || skip_all 'no MPICH'
command -v mpiexec.hydra >/dev/null || skip_all 'no mpiexec.hydra'
events=$(printf ',bp:%s' mpi_ranks_step main MPI_Allreduce MPI_Sendrecv MPI_Barrier MPI_Finalize MPI_Win_fence MPI_Win_free)
run() { # RETALLY-OPTIONS -- PROGRAM: 3 ranks, 2 passes
	rm -rf D
	timeout -k 5 120 mpiexec.hydra -n 3 "$retally" run -e "${events#,}" -o D "$@"
}

exits 0 'all passes in one launch' run -- "$ranks"
is "$(cat out)" 'ranks 3 sum 60 node 3' 'the first pass prints, the ranks are one world and share memory'
is "$(cat D/output/*/pass-2.stdout)" 'ranks 3 sum 60 node 3' 'so they are in the second'
like "$(cat err)" '2 of 2 passes, [0-9]+ of [0-9]+ counters' 'rank 0 sums up'
is "$(grep -c 'passes, ' err)" 1 'and nobody else does'
"$retally" report D --by rank --format csv >report.csv
for rank in 0 1 2; do
	is "$(grep -c "bp:mpi_ranks_step.*,$((10 * (rank + 1)))," report.csv)" 1 "the calls of rank $rank are counted"
done
exits 7 'MPI_Abort(7) in pass 2' run -- "$ranks" abort 1 2
"$retally" report D >report.txt
like "$(cat report.txt)" '(1|2) of 2 passes' 'pass 1 is there'
exits 9 'a rank that is killed in pass 2' run -- "$ranks" kill 1 2
exits 5 'exit status 5' run -- "$ranks" exit 1
like "$(cat err)" 'no further pass was run: the program of rank 1 exited with status 5' 'is said, and who it was'
exits 0 'a program that never finalizes' run -- "$ranks" nofinalize
like "$(cat err)" '2 of 2 passes' 'runs in every pass'
rm -rf D
exits 0 'a rank that is not under retally' timeout -k 5 120 mpiexec.hydra -n 1 "$ranks" : -n 2 \
	"$retally" run --mpi-wait 1 -e "${events#,}" -o D "$ranks"
is "$(cat out)" 'ranks 3 sum 60 node 3' 'the program runs'
like "$(cat err)" 'only the first pass was run: rank 0 was not met within 1 s' 'and why it runs once is said'
exits 125 'a mode that does not exist' "$retally" run --mpi some -e page-faults true
like "$(cat err)" "^retally: error: --mpi: 'some' is not auto, relay, server or none" 'is refused'
exits 125 'a relay where there is nothing to relay' "$retally" run --mpi relay -e "${events#,}" "$ranks"
like "$(cat err)" 'offers this process no PMI' 'is refused'
done_testing
