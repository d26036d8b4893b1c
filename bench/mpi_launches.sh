#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Wall time of 10 passes of 4 ranks in one launch against 10 launches with --pass K, for each launcher (the aim is a
# ratio of at most 1.0). Rounds alternate, so that whatever else the machine does meets both alike; medians are printed.
#   bench/mpi_launches.sh BUILD [ROUNDS [LAUNCHER...]]
set -u
build=${1:-build} rounds=${2:-3}
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
cat /proc/loadavg
launcher=${launchers[0]}
need_launcher "$launcher"
case $launcher in
ompi) version=$(mpirun.openmpi --version | head -1) ;;
hydra) version=$(mpiexec.hydra --version | sed -n 's/ *Version: */MPICH hydra /p') ;;
*) version="$(srun --version) --mpi=$launcher" ;;
esac
mpi_job "$launcher"
mpi_program c "$(mpi_of "$launcher")" || { echo "$launcher: $why"; exit; }
for i in $(seq "$rounds"); do
	begin=${EPOCHREALTIME/./}
	watchdog 300 "${job[@]}" "$retally" run -q -o "one.$i" -e "$counters" -- "${app[@]}" >/dev/null 2>err ||
		{ echo "$launcher: one launch failed: $(head -1 err)"; exit; }
	echo $((${EPOCHREALTIME/./} - begin)) >>one.us
	[ "$(samples "one.$i")" = '40|10|4' ] || { echo "$launcher: one launch lost passes"; exit; }
	# From the end of a pass's program to the begin of the next one's, in each rank.
	sqlite3 "one.$i/retally.db" 'SELECT (begin_ns - before) / 1000 FROM (SELECT begin_ns, lag(end_ns) OVER (PARTITION BY rank
		ORDER BY pass) AS before FROM run JOIN spool USING(spool)) WHERE before IS NOT NULL' >>gap.us
	begin=${EPOCHREALTIME/./}
	for k in 1 2 3 4 5 6 7 8 9 10; do
		watchdog 300 "${job[@]}" "$retally" run -q --pass $k -o "ten.$i" -e "$counters" -- "${app[@]}" >/dev/null 2>err ||
			{ echo "$launcher: launch $k failed: $(head -1 err)"; exit; }
	done
	echo $((${EPOCHREALTIME/./} - begin)) >>ten.us
	begin=${EPOCHREALTIME/./}
	for k in 1 2 3 4 5 6 7 8 9 10; do watchdog 300 "${job[@]}" "${app[@]}" >/dev/null 2>&1; done
	echo $((${EPOCHREALTIME/./} - begin)) >>plain.us
done
median() { sort -n "$1" | awk '{v[NR] = $1} END {print v[int((NR + 1) / 2)] / 1e6}'; }
awk -v l="$launcher" -v v="$version" -v one="$(median one.us)" -v ten="$(median ten.us)" -v plain="$(median plain.us)" -v n="$rounds" -v gap="$(median gap.us)" -v most="$(sort -n gap.us | tail -1)" \
	'BEGIN { printf "%-6s one launch of 10 passes %6.2f s, 10 launches %6.2f s, ratio %.2f; without retally 10 launches %6.2f s; %d rounds; between passes median %.1f ms, most %.1f ms; %s\n", l, one, ten, one / ten, plain, n, 1e3 * gap, most / 1e3, v }'
