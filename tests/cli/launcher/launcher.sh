#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# `retally run -- mpirun ...`: one launch a pass, the ranks counted as by `mpirun retally run --pass K`
# rank by rank, the launcher not counted. Each launcher that is not installed is skipped.
# shellcheck disable=SC2012,SC2086 # names of our own making, lists of words
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
unset RETALLY_RANK RETALLY_SIZE
app=$programs/twelve
counters=bp:f1,bp:f2,bp:f3,bp:f4,bp:f5,bp:f6,bp:f7,bp:f8,bp:f9
run() { timeout 100 "$retally" run "$@"; }
# rank,name,value of what bp: counted, and how many executions are behind it
values() { "$retally" report "$1" --by rank --format csv | cut -d, -f3,6,8,13 | grep ',bp:' | sort; }

same() { # NAME PROGRAM COUNTERS LAUNCHER...: outside and inside of the launcher
	local name=$1 program=$2 counters=$3 k passes
	shift 3
	exits 0 "$name: from outside" run -e $counters -o "$name" -- "$@" $program
	is "$(grep -c . out)" "$(timeout 60 "$@" $program | grep -c .)" "$name: the output of one launch"
	passes=$("$retally" plan -e $counters --count -- $program)
	is "$(find "$name/spool" -type f ! -name "*.-.*" | wc -l)" "$((4 * passes))" "$name: a spool for each rank of $passes launches"
	for k in $(seq $passes); do
		timeout 60 "$@" "$retally" run -q -e $counters --pass $k -o "$name-in" -- $program >/dev/null 2>&1
	done
	is "$(values "$name")" "$(values "$name-in")" "$name: the counts of each rank are those of --pass K inside"
	like "$(values "$name")" '^3,bp:.*,1$' "$name: once each"
}

launchers=0
for launcher in 'mpirun.openmpi -n 4' 'mpiexec.hydra -n 4' \
	'srun -n 4 --mpi=none' 'srun -n 4 --mpi=pmi2' 'srun -n 4 --mpi=pmix'; do
	name=$(echo "$launcher" | tr -c 'a-z0-9\n' '_')
	if ! timeout 20 $launcher true >/dev/null 2>&1; then
		skip 'not here, or it cannot start four processes' "$launcher"
		continue
	fi
	launchers=$((launchers + 1))
	any=$launcher
	of_any=$name
	same "$name" "$app" $counters $launcher
done
[ $launchers -gt 0 ] || skip_all 'no launcher works here'
if [ -x "$programs/mpi_ranks_mpich" ] && timeout 20 mpiexec.hydra -n 1 true >/dev/null 2>&1; then
	same mpi "$programs/mpi_ranks_mpich" bp:mpi_ranks_step,bp:MPI_Sendrecv,bp:MPI_Barrier,bp:MPI_Finalize,bp:MPI_Send \
		mpiexec.hydra -n 4
else
	skip 'no MPICH' 'a program that uses MPI'
fi

# What is counted and what not, with one of them.
exits 5 'the exit status is the launch'"'"'s' run -e $counters -o five -- $any "$app" 1 5
like "$(cat err)" '1 of 3 passes' 'and a pass that failed is the last one'
unlike "$(cat err)" 'no rank was counted' 'its ranks were counted'
like "$(cat err)" 'next: retally run .* --pass 2 -o five -- '"${any%% *}" 'the next command has the launcher in it'
exits 0 'a single pass' run -q -e $counters --pass 2/3 -o single -- $any "$app"
exits 0 'and the others, later' run -q -e $counters --pass 1 -o single -- $any "$app"
exits 0 'one after the other' run -e $counters --pass 3 -o single -- $any "$app"
like "$(cat err)" '3 of 3 passes' 'come together'
is "$(values single)" "$(values "$of_any")" 'in nine counters of four ranks'
exits 0 'passes dealt over the ranks' run -e $counters --distribute rank --seed 1 -o dealt -- $any "$app"
like "$(cat err)" '^samples of the 3 passes: 2 of pass [123]; 1 of pass ' 'take one launch'
is "$(ls dealt/spool/*.rts | wc -l)" 4 'of four ranks'
printf '#!/bin/sh\nexec %s "$@"\n' "$any" >job
chmod +x job
exits 0 'a script of the user may start the launcher' \
	run -e $counters --launcher yes -o script -- ./job "$app"
is "$(values script)" "$(values single)" 'with the same counts'
exits 0 'a shell in the rank' run -e page-faults -o shell -- $any sh -c "$app; $app"
is "$(grep -c . out), $(ls shell/spool/*.rts | wc -l)" '8, 4' 'is one execution, with both of its programs'
exits 125 'a launcher without a program' run -e $counters -- ${any%% *} -n
like "$(cat err)" 'none of its words is a program' 'is refused'
exits 0 'where the library cannot be loaded' run -e page-faults -o static -- $any "$programs/actor_static" exit 0
like "$(cat err)" 'pass 1: no rank was counted: a static program' 'that is said'
exits 125 'without the library' env RETALLY_LIBRARY=/nonexistent "$retally" run -e $counters -o x -- $any "$app"
like "$(cat err)" "'/nonexistent' cannot be read" 'it is named'
exits 0 'the preloaded libraries of the user' env LD_PRELOAD="$RETALLY_BUILD/tests/programs/libperf_library.so" \
	"$retally" run -q -e page-faults -o preload -- $any sh -c 'echo "[$LD_PRELOAD]$RETALLY_LAUNCHER"'
is "$(sort -u out)" "[$RETALLY_BUILD/tests/programs/libperf_library.so]" 'reach the ranks, ours and our variables do not'
done_testing
