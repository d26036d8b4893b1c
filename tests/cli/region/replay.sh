#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Replaying regions by fork: the program's output is its own whatever the number of passes, and every pass of a
# region counts the same work.
# shellcheck disable=SC1091,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/region/region.sh" || exit 99
# PASSES COUNT...: what counts() gives when each region ran the work of COUNT in every pass
every() {
	local n=$1 c k all=()
	shift
	for c in "$@"; do
		for ((k = 1; k <= n; k++)); do all+=("$k:$c"); done
	done
	echo "${all[*]}"
}
count_is() { # REGION WANTED NAME
	if [ $exact = yes ]; then is "$(counts "$1")" "$2" "$3"; else skip 'no uprobes here' "$3"; fi
}
for p in 1 3 13; do
	plan_for "$programs/region_c" $p
	both range "$programs/region_c" plain
	same "plain, $p passes"
	count_is outer "$(every $p 11 22 33)" "plain, $p passes: the region that encloses another"
	count_is inner "$(every $p 1 2 3)" "plain, $p passes: the inner region"
	is "$(grep -c "^window $p\$" <<<"$records")" 3 "plain, $p passes: three regions replayed"
	both range "$programs/region_c" allocate
	same "malloc and free, $p passes"
	count_is allocate "$(every $p 1000)" "malloc and free, $p passes: counts"
	both range "$programs/region_c" watch
	same "SIGCHLD and wait, $p passes"
done
plan_for "$programs/region_c" 3
both range "$programs/region_c" memory
same '64 MiB changed in place'
count_is memory "$(every 3 100 100)" '64 MiB changed in place: counts'
both range "$programs/region_c" recurse
same 'recursion'
count_is recurse "1:1 1:2 1:3 1:4 1:5 2:1 2:2 2:3 2:4 2:5 3:1 3:2 3:3 3:4 3:5" 'recursion: counts'
both range "$programs/region_c" alarmed
same 'a handler of SIGALRM at work'
if [ $exact = yes ]; then
	is "$(counts alarmed | tr ' ' '\n' | grep -v ':1000$')" '' 'a handler of SIGALRM at work: counts'
fi
both range "$programs/region_c" threads
same 'threads'
count_is 'own threads' "$(every 3 1000)" 'threads that the region starts: counts'
is "$(counts thread | wc -w)" 8 'regions of other threads are counted live'
plan_for "$programs/region_fixed" 3
both range "$programs/region_fixed" plain
same 'not position independent'
count_is outer "$(every 3 11 22 33)" 'not position independent: counts'
# The page faults of a replayed pass are those of its own work, not of the copy.
plan_for "$programs/region_c" 3
if [ $exact = yes ]; then
	both range "$programs/region_c" memory
	faults=$(awk '/^value 1 1 / { print $4 }' <<<"$records" | sort -n | tail -1)
	ok "$([ "${faults:-9999}" -lt 100 ]; echo $?)" "a copy of 16384 pages takes few page faults ($faults)"
fi
if [ -x "$programs/region_cpp" ]; then
	for p in 1 3 13; do
		plan_for "$programs/region_cpp" $p
		both range "$programs/region_cpp"
		same "C++, $p passes"
		count_is scope "$(every $p 1 2 3)" "C++, $p passes: a scope that an exception leaves"
		count_is containers "$(every $p 500)" "C++, $p passes: containers"
		count_is destructor "$(every $p 1)" "C++, $p passes: at the end"
	done
fi
if [ -x "$programs/region_fortran" ]; then
	for p in 1 3 13; do
		plan_for "$programs/region_fortran" $p
		both range "$programs/region_fortran"
		same "Fortran, $p passes"
		is "$(grep -c "^window $p\$" <<<"$records")" 4 "Fortran, $p passes: four regions replayed"
		is "$(grep -c '^range . again ' <<<"$records")" "$(grep -c . <<<"$(grep '^range . again ' <<<"$records")")" \
			"Fortran, $p passes: recursion"
	done
fi
if [ -x "$programs/region_omp" ]; then
	for threads in 1 4; do
		export OMP_NUM_THREADS=$threads OMP_WAIT_POLICY=passive OMP_DYNAMIC=false
		for p in 1 3 13; do
			plan_for "$programs/region_omp" $p
			both range "$programs/region_omp"
			same "OpenMP, $threads threads, $p passes"
			count_is relax "$(every $p 64 64 64)" "OpenMP, $threads threads, $p passes: all threads are counted"
			count_is sum "$(every $p 8)" "OpenMP, $threads threads, $p passes: tasks"
			is "$(grep -c "^window $p\$" <<<"$records")" 7 "OpenMP, $threads threads, $p passes: all replayed"
		done
	done
	unset OMP_WAIT_POLICY
	plan_for "$programs/region_omp" 3
	both range "$programs/region_omp"
	same 'OpenMP with spinning threads'
fi
done_testing
