#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The PMIx server alone, under Open MPI: a job once per pass, over shared memory, and its bad ends.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
# shellcheck source=tests/mpi/lib.sh
. "$RETALLY_SOURCE/tests/mpi/lib.sh" || exit 99
have mpicc.openmpi || skip_all 'no Open MPI (mpicc.openmpi)'
mpi_program c openmpi || skip_all "$why"
ranks=${app[0]}
export OMPI_MCA_rmaps_base_oversubscribe=1
# What a launcher leaves in the environment must do no harm.
export PMIX_NAMESPACE=of-a-launcher PMIX_RANK=3 PMIX_SERVER_URI2='nowhere;tcp4://127.0.0.1:1'
export OMPI_MCA_ess_base_jobid=1234 OMPI_MCA_orte_node_regex=x

drive() { timeout -k 5 120 "$programs/pmix_driver" -w 60 "$@"; }
left_over() { # shared memory that is new and that nobody has mapped: other jobs of Open MPI may run here
	local found file
	found=$(find /dev/shm -newer stamp -name '*_segment*' -user "$(id -u)" 2>/dev/null)
	[ -n "$found" ] && sleep 1
	for file in $found; do
		[ -e "$file" ] && ! grep -qsF "$file" /proc/[0-9]*/maps && echo "$file"
	done
}
clean() { # NAME: nothing is left of the run
	is "$(find "$TMPDIR" -name 'retally-pmix*' | wc -l)" 0 "$1: no folder is left"
	is "$(left_over)" '' "$1: no shared memory is left"
}

touch stamp
exits 0 'ten passes in one go' drive -P 10 "$ranks"
is "$(sort out | uniq -c | tr -s ' ')" ' 10 ranks 4 sum 100 node 4' 'each: all ranks in one world, memory shared by all'
is "$(grep -c '^pass [0-9]* rank [0-9] exit 0$' err)" 40 'every rank of every pass ended well'
cp err library
like "$(cat err)" '^library .*libpmix.so.* version ([5-9]|4\.[2-9])' 'the library is named'
clean 'ten passes'

exits 0 'two nodes: fences are exchanged' env OMPI_MCA_btl=tcp,self timeout -k 5 120 "$programs/pmix_driver" \
	-w 60 -N 2 -P 3 "$ranks"
is "$(sort out | uniq -c | tr -s ' ')" ' 3 ranks 4 sum 100 node 2' 'two ranks share memory in each'
drive -N 2 "$ranks" >out 2>err
isnt=$?
[ $isnt -ne 0 ] && [ $isnt -ne 124 ]
ok $? 'without TCP two nodes cannot talk: the check of shared memory can fail'

exits 7 'MPI_Abort(7) in pass 2' drive -P 3 "$ranks" abort 2 2
like "$(cat err)" '^pass 2 aborted by 2 status 7$' 'is told'
unlike "$(cat err)" '^pass 3' 'and is the end'
exits 137 'a rank that is killed in pass 2' drive -P 3 "$ranks" kill 1 2
is "$(grep -c '^pass 1 rank [0-9] exit 0$' err)" 4 'pass 1 stands'
exits 5 'exit status 5' drive -P 3 "$ranks" exit -1 2
exits 0 'ranks that never finalize' drive -P 3 "$ranks" nofinalize
is "$(grep -c '^pass [0-9]* rank [0-9] exit 0$' err)" 12 'every pass runs'
exits 124 'a rank that does not end meets the time limit' timeout -k 5 120 "$programs/pmix_driver" -w 3 -P 2 "$ranks" stay 1
exits 0 'a program without MPI' drive -P 2 true
exits 125 'a server that is killed' drive -P 2 -s 9 "$ranks"
like "$(cat err)" 'the PMIx server is gone' 'is an error and no hang'
# libpmix is stuck in its start: once only, and always.
library=$(sed -n 's/^library \([^ ]*\) .*/\1/p' library)
cat >stuck.c <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
int PMIx_server_init(void *module, void *info, size_t n)
{
	int (*next)(void *, void *, size_t) = (int (*)(void *, void *, size_t))dlsym(RTLD_NEXT, "PMIx_server_init");
	while (open(getenv("STUCK"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) >= 0 || !access(getenv("STUCK_AGAIN"), F_OK))
		pause();
	return next(module, info, n);
}
END
cc -shared -fPIC -o libstuck.so stuck.c -Wl,--no-as-needed "$library" 2>log || sed 's/^/# /' log
export RETALLY_PMIX=$PWD/libstuck.so STUCK=$PWD/once STUCK_AGAIN=$PWD/again
exits 0 'stuck in its start' drive -P 2 "$ranks"
is "$(sort out | uniq -c | tr -s ' ')" ' 2 ranks 4 sum 100 node 4' 'is begun again, and every pass runs'
[ -e once ]
ok $? 'it was stuck'
clean 'stuck once'
touch again
exits 125 'stuck twice' drive -P 2 "$ranks"
like "$(cat err)" 'libpmix: PMIx_server_init did not end within 10 s, twice' 'is said'
clean 'stuck twice'
export RETALLY_PMIX=/no/such/library
exits 125 'a library that is not there' drive "$ranks"
like "$(cat err)" "RETALLY_PMIX: cannot open '/no/such/library'" 'is named'
unset RETALLY_PMIX
done_testing
