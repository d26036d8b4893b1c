# SPDX-License-Identifier: Apache-2.0
# Launchers and programs for the tests of MPI jobs: source it after tests/cli/lib.sh.
# Programs are compiled here, not by meson, because the MPI libraries may have been installed after the build was set up.
# shellcheck shell=bash disable=SC2034
: "${sandbox:?source tests/cli/lib.sh first}" "${retally:?}"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
# Only these transports: a message between two ranks that do not share memory is an error then.
export OMPI_MCA_pml=ob1 OMPI_MCA_btl=vader,self OMPI_MCA_mpi_yield_when_idle=1
# Where hwloc has its OpenCL plugin and there is an OpenCL on LLVM, MPI_Init loads that into every rank: slow, and it
# installs a handler for SIGINT, so that the status after one is a race with Slurm's SIGKILL without retally, too.
export HWLOC_COMPONENTS=-opencl
export UCX_TLS=sm,self # the same for MPICH, whose ranks of other nodes go by UCX
# One breakpoint at a time: ten functions are ten passes.
export RETALLY_PERF_SLOTS=breakpoint=1
unset RETALLY_RANK RETALLY_SIZE RETALLY_JOB PMI_RANK PMI_FD PMIX_NAMESPACE SLURM_JOB_ID SLURM_PROCID
ranks=4
single=0 why='' took=''
python=/usr/bin/python3 # Debian's, which has mpi4py
# Open MPI puts its session folder there, and the name of a socket has 107 bytes.
mkdir -p "$sandbox/t"
export TMPDIR=$sandbox/t

# Where the time goes is told, never asserted: a watchdog alone ends what hangs.
watchdog() { # SECONDS COMMAND...: status 124 or 137 when it was needed
	local begin=${EPOCHREALTIME/./} status seconds=$1
	shift
	timeout -k 5 "$seconds" "$@"
	status=$?
	took=$(awk -v us=$((${EPOCHREALTIME/./} - begin)) 'BEGIN {printf "%.1f", us / 1e6}')
	return $status
}

mpi_of() { # LAUNCHER: whose programs it starts
	case $1 in hydra | pmi2 | none) echo mpich ;; *) echo openmpi ;; esac
}
have() { command -v "$1" >/dev/null; }
need_launcher() { # LAUNCHER: skips everything where it is not, starts Slurm where that is needed
	[ "$(id -u)" = 0 ] || skip_all 'functions are counted by uprobes here, which are for root'
	case $1 in
	ompi) have mpirun.openmpi || skip_all 'no Open MPI (mpirun.openmpi)' ;;
	hydra) have mpiexec.hydra || skip_all 'no MPICH (mpiexec.hydra)' ;;
	pmi2 | pmix | none)
		if ! "$RETALLY_SOURCE/scripts/slurm-loopback" start "$sandbox/slurm" $$ >slurm.out 2>&1; then
			skip_all "no Slurm here: $(tail -1 slurm.out)"
		fi
		export SLURM_CONF=$sandbox/slurm/slurm.conf
		trap '"$RETALLY_SOURCE/scripts/slurm-loopback" stop "$sandbox/slurm"; [ "${KEEP:-0}" = 1 ] || rm -rf "$sandbox"' EXIT
		;;
	*) echo "Bail out! unknown launcher $1"; exit 99 ;;
	esac
	have "mpicc.$(mpi_of "$1")" || skip_all "no mpicc.$(mpi_of "$1")"
}
# sets the array `job`: the launcher's command for `ranks` ranks
mpi_job() { # LAUNCHER [OPTION...]
	local launcher=$1
	shift
	case $launcher in
	ompi) job=(mpirun.openmpi --oversubscribe -n "$ranks" "$@") ;;
	hydra) job=(mpiexec.hydra -n "$ranks" "$@") ;;
	*) job=(srun -n "$ranks" --mpi="$launcher" "$@") ;;
	esac
}
# sets the array `app`: the program and its fixed arguments; `counters`: ten functions of it
mpi_program() { # LANGUAGE MPI: 1 when it cannot be had, with the reason in `why`
	local sources=$RETALLY_SOURCE/tests/programs k
	unset LD_PRELOAD
	counters=
	for k in 1 2 3 4 5 6 7 8 9 10; do counters=$counters,bp:f$k; done
	counters=${counters#,}
	case $1 in
	c)
		app=("$sandbox/ranks.$2")
		[ -x "${app[0]}" ] || "mpicc.$2" -O1 -g -o "${app[0]}" "$sources/mpi_ranks.c" >compile.log 2>&1 ||
			{ why="mpicc.$2: $(head -1 compile.log)"; return 1; }
		;;
	fortran)
		have gfortran || { why='no gfortran'; return 1; }
		app=("$sandbox/fortran.$2")
		[ -x "${app[0]}" ] || "mpif90.$2" -O0 -g -J "$sandbox" -o "${app[0]}" "$sources/mpi_calls.f90" >compile.log 2>&1 ||
			{ why="mpif90.$2: $(head -1 compile.log)"; return 1; }
		;;
	python)
		[ "$2" = openmpi ] || { why="Debian's mpi4py is one for Open MPI"; return 1; }
		"$python" -c 'import mpi4py' 2>/dev/null || { why='no mpi4py'; return 1; }
		[ -f "$sandbox/libcalls.so" ] || gcc -shared -fPIC -O1 -o "$sandbox/libcalls.so" "$sources/mpi_calls_library.c" ||
			{ why='gcc failed'; return 1; }
		# There from the start: breakpoints of the machine are placed then, uprobes alone reach what is loaded later.
		export LD_PRELOAD=$sandbox/libcalls.so
		app=("$python" "$sources/mpi_calls.py" "$sandbox/libcalls.so")
		counters=${counters//,/@$sandbox/libcalls.so,}@$sandbox/libcalls.so
		;;
	esac
}
counts() { # DIR: "NAME RANK VALUE PASS STATUS" of every breakpoint counter, from the report
	"$retally" report "$1" --by rank --format csv 2>report.err | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
		$at["name"] ~ /^bp:/ {
			sub(/@.*/, "", $at["name"])
			print $at["name"], $at["rank"], $at["value"], $at["passes"], $at["status"]
		}' | sort -V
}
samples() { # DIR: how many executions of how many passes of how many ranks the store has
	sqlite3 "$1/retally.db" 'SELECT count(*), count(DISTINCT pass), count(DISTINCT rank) FROM run JOIN spool USING(spool)'
}
# What the program of `app` prints under this launcher without retally, and (for --mpi=none, where an MPI program is
# a job of its own in each rank) whether its ranks know of each other: sets `prints` and `single`.
plain() {
	prints=$(watchdog 60 "${job[@]}" "${app[@]}" 2>plain.err)
	single=0
	[ "${prints%% sum*}" = 'ranks 1' ] && single=1
}
truth() { # "NAME RANK VALUE" as `counts` would begin its lines
	local k r
	for k in 1 2 3 4 5 6 7 8 9 10; do
		for r in 0 1 2 3; do echo "bp:f$k $r $((10 * k + (single ? 0 : r)))"; done
	done | sort -V
}
# On stdin what `counts` prints: how many values there are, and how many of them are wrong.
judge() {
	awk -v single="${single:-0}" '{ split($1, name, ":f"); n++; if ($3 != 10 * name[2] + (single ? 0 : $2) || !/ ok$/) wrong++ } END { print n + 0, wrong + 0 }'
}
# Processes of a test that are alive: those that left their id in DIR, and ours that name the sandbox.
alive() { # DIR
	local file pid
	for file in "$1"/*.*; do
		pid=${file##*.}
		[ -d "/proc/$pid" ] && ! grep -q '^State:.Z' "/proc/$pid/status" 2>/dev/null && echo "$pid"
	done
	pgrep -f "^($retally|retally).* $sandbox/"
}
all_gone() { # DIR: waits for up to 10 seconds
	local left
	for _ in $(seq 100); do
		left=$(alive "$1")
		[ -z "$left" ] && return 0
		sleep 0.1
	done
	for pid in $left; do tr '\0' ' ' <"/proc/$pid/cmdline" | sed "s/^/# alive: $pid /"; echo; done
	return 1
}
