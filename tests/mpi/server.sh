#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --mpi server: programs whose MPI does not speak the launcher's language, and would be a world of their own in each rank,
# become one world of four, in every pass of one launch.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
# shellcheck source=tests/mpi/lib.sh
. "$RETALLY_SOURCE/tests/mpi/lib.sh" || exit 99
need_launcher none
have mpiexec.hydra || skip_all 'no MPICH (mpiexec.hydra)'
have mpirun.openmpi || skip_all 'no Open MPI (mpirun.openmpi)'
world() { # LAUNCHER LANGUAGE MPI
	local name="$2 of $3 under $1"
	if ! mpi_program "$2" "$3"; then
		skip "$why" "$name"
		return
	fi
	mpi_job "$1"
	truth >truth.txt
	rm -rf D
	watchdog 120 "${job[@]}" "$retally" run -q --mpi server -o D -e "$counters" -- "${app[@]}" >out 2>err
	status=$?
	is $status 0 "$name: ten passes end well"
	[ $status = 0 ] || sed 's/^/# err: /' err | head -20
	echo "# $took s"
	is "$(cat out)" 'ranks 4 sum 100 node 4' "$name: four ranks in one world, in shared memory"
	is "$(sort D/output/*/pass-*.stdout 2>/dev/null | uniq -c | tr -s ' ')" ' 9 ranks 4 sum 100 node 4' "$name: in each pass"
	is "$(counts D | cut -d' ' -f1-3)" "$(cat truth.txt)" "$name: each rank's counts"
}
world none c mpich
world none python openmpi
world hydra c openmpi
world ompi fortran mpich
done_testing
