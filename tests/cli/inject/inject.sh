# SPDX-License-Identifier: Apache-2.0
# What the tests of libretally.so share: source it after tests/cli/lib.sh.
# shellcheck shell=bash disable=SC2034,SC2154
: "${sandbox:?source tests/cli/lib.sh first}"
target=$programs/inject_target
"$programs/make_plan" plan.json page-faults context-switches minor-faults || exit 99
runs=0
# COMMAND...: runs it without and with retally; leaves plain.out, plain.err, plain_rc, out, err, rc and records.
both() {
	local stdin=/dev/stdin
	runs=$((runs + 1))
	dir=$sandbox/run-$runs.retally
	"$@" <"${input:-/dev/null}" >plain.out 2>plain.err
	plain_rc=$?
	rm -f lockfile
	preloaded "$@" <"${input:-/dev/null}" >out 2>err
	rc=$?
	records=$("$programs/dump_spool" "$dir" 2>&1)
}
preloaded() { LD_PRELOAD=$libretally RETALLY_PLAN=$sandbox/plan.json RETALLY_OUT=$dir "$@"; }
# NAME COMMAND...: output and status are those without retally, three passes ended with STATUS of the program.
replays() {
	local name=$1
	shift
	both "$@"
	is "$rc" "$plain_rc" "$name: exit status"
	is "$(cat out)" "$(cat plain.out)" "$name: output"
	is "$(cat err)" "$(cat plain.err)" "$name: stderr"
	is "$(grep -E '^(begin|end|note|bad)' <<<"$records")" "$(for p in 1 2 3; do
		printf 'begin %d/3\nend %d status %d\n' $p $p "$plain_rc"
	done)" "$name: three passes"
	is "$(values)" 3 "$name: three values"
}
values() { grep -cE '^value [0-9]+ [0-9]+ [0-9]+$' <<<"$records"; }
# What pass K printed.
pass_output() { cat "$dir"/output/*/pass-"$1".stdout; }
