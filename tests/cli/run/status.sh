#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Exit status and streams: the program's own, whatever happens; 125, 126, 127 for our own failures.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99

run() { "$retally" run -q -o d -e page-faults,task-clock "$@"; }

exits 7 'the exit status is the program'"'"'s' run -- sh -c 'exit 7'
rm -rf d
exits 127 'a program that is not there' run -- ./nothing
like "$(cat err)" "nothing.*No such file" 'is named'
touch plain
exits 126 'a file that may not be executed' run -- ./plain
exits 125 'an unknown counter' run -e no-such-counter -- true
like "$(cat err)" "no-such-counter" 'is named'
exits 125 'an unknown option' "$retally" run --no-such-option -- true
exits 125 'no program' "$retally" run
exits 125 'a tool we are not' "$retally" run -a -- true
like "$(cat err)" 'perf stat -a' 'is refused with the better tool'
exits 2 'an unknown command' "$retally" frobnicate
(run -- sh -c 'kill -SEGV $$') >/dev/null 2>&1
is $? 139 'killed by a signal: retally dies of the same'
rm -rf d
exits 0 'a bare run' "$retally" run true
like "$(cat err)" 'retally report' 'ends with a summary that names the next command'
is "$(cat out)" '' 'and writes nothing to standard output'
[ -f true.retally/plan.json ] && [ -f true.retally/run.json ]
ok $? 'the directory holds the plan and the run'
exits 0 'standard input reaches the program' sh -c "printf 'a\nb\n' | $retally run -q -o e -e task-clock -- cat"
is "$(cat out)" "$(printf 'a\nb\n')" 'unchanged'
mkdir ro
exits 125 'a directory that cannot be made' "$retally" run -o /proc/nowhere/d -e task-clock -- true
like "$(cat err)" '/proc/nowhere' 'is named'
two='page-faults,task-clock,bp:f1,bp:f2,bp:f3,bp:f4,bp:f5'
if "$retally" plan --count -e "$two" -- "$programs/twelve" >/dev/null 2>err; then
	PMI_RANK=1 PMI_FD=9 exits 125 'two passes in a rank of an MPI job' \
		"$retally" run -q -o rank -e "$two" -- "$programs/twelve"
	like "$(cat err)" 'PMI_.*--distribute rank.*--pass K' 'are refused with the ways that work'
	PMI_RANK=1 PMI_FD=9 exits 0 'one of them is fine' \
		"$retally" run -q -o rank --pass 2 -e "$two" -- "$programs/twelve"
else
	skip "$(head -1 err)" 'two passes in a rank of an MPI job'
fi
done_testing
