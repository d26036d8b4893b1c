#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# How long a job of four ranks and four passes in one launch takes to end once a rank has failed: seconds from the event
# (the rank's own time stamp just before it, the first of them where all ranks do it, the signal for SIGINT) to the end of
# the launcher, for each launcher and event; beside it the same event without retally. The aim is at most 5 s.
#   bench/mpi_failures.sh BUILD [ROUNDS [LAUNCHER...]]     ompi hydra pmi2 pmix none; the longest of ROUNDS is printed
# none: srun --mpi=none with --mpi server, which makes the ranks one world; without retally each is a job of its own.
set -u
build=${1:-build} rounds=${2:-1}
[ $# -gt 2 ] && launchers=("${@:3}") || launchers=(ompi hydra pmi2 pmix none)
if [ ${#launchers[@]} -gt 1 ]; then # a process and a sandbox for each
	for launcher in "${launchers[@]}"; do bash "$0" "$build" "$rounds" "$launcher"; done
	exit
fi
RETALLY_SOURCE=$(cd "$(dirname "$0")/.." && pwd)
RETALLY_BUILD=$(cd "$build" && pwd) || exit 1
export RETALLY_SOURCE RETALLY_BUILD LC_ALL=C
[ -x "$RETALLY_BUILD/src/cli/retally" ] || { echo "no retally in $build: build first"; exit 0; }
[ "$(id -u)" = 0 ] || { echo 'needs root: functions are counted by uprobes where breakpoints do not fire'; exit 0; }
# shellcheck source=tests/cli/lib.sh
. "$RETALLY_SOURCE/tests/cli/lib.sh"
# shellcheck source=tests/mpi/lib.sh
. "$RETALLY_SOURCE/tests/mpi/lib.sh"
launcher=${launchers[0]}
need_launcher "$launcher"
mpi_program c "$(mpi_of "$launcher")" || { echo "$launcher: $why"; exit; }
server=() four=bp:f1,bp:f2,bp:f3,bp:f4
[ "$launcher" != none ] || server=(--mpi server)
export MPI_RANKS_EVENT=$sandbox/event
# With the command of `job`: sets `seconds` from the event to the end of the launcher, and `status`.
timed() { # first|last COMMAND...
	local which=$1 event
	rm -f "$MPI_RANKS_EVENT"
	watchdog 60 "${@:2}" >out 2>err
	status=$?
	event=$(sort -n "$MPI_RANKS_EVENT" 2>/dev/null | if [ "$which" = first ]; then head -1; else tail -1; fi)
	seconds=$(awk -v end="$EPOCHREALTIME" -v event="${event:-0}" 'BEGIN { print (event ? end - event : "none") }')
}
interrupted() { # COMMAND...: once all ranks have done their work and stay
	local watch of_watch begin
	rm -f "$MPI_RANKS_EVENT"
	timeout -k 5 60 env --default-signal=INT "$@" >out 2>err &
	watch=$!
	for _ in $(seq 500); do
		[ "$(wc -l 2>/dev/null <"$MPI_RANKS_EVENT")" = 4 ] && break
		sleep 0.1
	done
	sleep 0.2
	of_watch=$(pgrep -P $watch)
	begin=$EPOCHREALTIME
	kill -INT "$of_watch"
	# srun asks after the first.
	case $launcher in ompi | hydra) ;; *) sleep 0.3; kill -INT "$of_watch" ;; esac
	wait $watch
	status=$?
	seconds=$(awk -v end="$EPOCHREALTIME" -v begin="$begin" 'BEGIN { print end - begin }')
}
larger() { awk -v a="$1" -v b="$2" 'BEGIN { print (a == "none" || b == "none" ? "none" : (a + 0 > b + 0 ? a : b)) }'; }
event() { # NAME WHAT RANK PASS [first|last]: both ways, the longest of all rounds
	local worst=0 plain=0 with without i
	for i in $(seq "$rounds"); do
		# Slurm lets the other ranks wait unless told to end them.
		case $launcher in ompi | hydra) mpi_job "$launcher" ;; *) mpi_job "$launcher" --kill-on-bad-exit=1 ;; esac
		if [ "$1" = SIGINT ]; then interrupted "${job[@]}" "${app[@]}" "$2" "$3"; else
			timed "${5:-first}" "${job[@]}" "${app[@]}" "$2" "$3"
		fi
		without=$status plain=$(larger "$plain" "$seconds")
		mpi_job "$launcher"
		local run=("${job[@]}" "$retally" run -q "${server[@]}" -o "$sandbox/$1.$i" -e "$four" -- "${app[@]}" "${@:2:3}")
		if [ "$1" = SIGINT ]; then interrupted "${run[@]}"; else timed "${5:-first}" "${run[@]}"; fi
		with=$status worst=$(larger "$worst" "$seconds")
	done
	LC_ALL=C awk -v l="$launcher" -v e="$1" -v w="$worst" -v p="$plain" -v s="$with" -v ps="$without" \
		'function t(x) { return x == "none" ? "no event" : sprintf("%6.2f s", x) }
		BEGIN { printf "%-6s %-15s %s, status %3d; without retally %s, status %3d\n", l, e, t(w), s, t(p), ps }'
}
cat /proc/loadavg
event kill kill 1 3
event MPI_Abort abort 2 3
event exit-5 exit -1 3
event crash-in-pass-3 segv 3 3
event never-finalizes nofinalize -1 0 last
event SIGINT stay -1 3
