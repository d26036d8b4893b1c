#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# When there is nothing to count or no way to: one sentence, and the program runs as ever.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/inject/inject.sh" || exit 99
# NAME REGEX VARIABLE...: one line on stderr that matches; the program is untouched.
refuses() {
	local name=$1 want=$2
	shift 2
	env "$@" LD_PRELOAD="$libretally" bash -c 'echo out; /bin/echo again; exit 3' >out 2>err
	is "$?$(tr '\n' ' ' <out)" '3out again ' "$name: the program is untouched"
	is "$(wc -l <err)" 1 "$name: one line"
	like "$(cat err)" "$want" "$name: says why"
}
LD_PRELOAD=$libretally bash -c 'echo quiet' >out 2>&1
is "$(cat out)" quiet 'without a plan: nothing'
is "$(ls)" "$(printf 'out\nplan.json')" 'without a plan: no files'
refuses 'missing plan' "^retally: RETALLY_PLAN: .*none.json" RETALLY_PLAN=none.json
sed 's/test/tost/' plan.json >edited.json
refuses 'edited plan' 'edited.json' RETALLY_PLAN=edited.json
: >empty.json
refuses 'empty plan' 'empty.json' RETALLY_PLAN=empty.json
refuses 'pass 4 of 3' "RETALLY_PASS is '4', .*1 to 3" RETALLY_PLAN=plan.json RETALLY_PASS=4
refuses 'pass that is no number' "RETALLY_PASS is 'x'" RETALLY_PLAN=plan.json RETALLY_PASS=x
refuses 'other number of passes' "RETALLY_PASSES is '5', but the plan has 3" RETALLY_PLAN=plan.json RETALLY_PASS=1 RETALLY_PASSES=5
refuses 'another replay' "RETALLY_REPLAY is 'rnage', which is not range" RETALLY_PLAN=plan.json RETALLY_REPLAY=rnage
refuses 'no number of seconds' "RETALLY_ORPHAN_WAIT is 'x', .* from 1 to 3600" RETALLY_PLAN=plan.json RETALLY_ORPHAN_WAIT=x
refuses 'a long value' "RETALLY_PASS is 'x{100}', which is not a pass" RETALLY_PLAN=plan.json \
	RETALLY_PASS="$(head -c 5000 /dev/zero | tr '\0' x)"
refuses 'state by hand' 'RETALLY_STATE is not' RETALLY_PLAN=plan.json RETALLY_STATE=1:b:p
refuses 'no directory' "cannot make the directory '/proc/x" RETALLY_PLAN=plan.json RETALLY_OUT=/proc/x
"$programs/make_plan" other.json page-faults
mkdir -p taken.retally && cp other.json taken.retally/plan.json
refuses 'directory of another plan' 'another plan' RETALLY_PLAN=plan.json RETALLY_OUT=taken.retally
dir=$sandbox/command.retally
preloaded "$target" return 0
refuses 'directory of another command' 'another command' RETALLY_PLAN=plan.json RETALLY_OUT="$dir"

for variable in PMI_RANK OMPI_COMM_WORLD_RANK; do
	env "$variable=0" PMI_SIZE=2 PMI_FD=9 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=0 PMIX_NAMESPACE=x LD_PRELOAD="$libretally" \
		RETALLY_PLAN=plan.json RETALLY_OUT=mpi.retally bash -c 'echo out; /bin/echo again' >out 2>err
	is "$(tr '\n' ' ' <out)" 'out again ' "rank by $variable: the program runs once"
	is "$(wc -l <err)" 1 "rank by $variable: one line"
	like "$(cat err)" "rank of an MPI launch \([A-Z_]+ is set\).*mpirun -n N retally run -- .*RETALLY_PASS=K" "rank by $variable: names the command"
done
dir=$sandbox/mpi.retally
OMPI_COMM_WORLD_RANK=1 OMPI_COMM_WORLD_SIZE=2 PMIX_RANK=1 PMIX_NAMESPACE=x RETALLY_PASS=2 preloaded "$target" exit 5 >out 2>err
is "$?$(cat out err)" 5 'rank with RETALLY_PASS: runs once'
is "$("$programs/dump_spool" "$dir" | grep -v '^value')" "$(printf 'file rank 1\nbegin 2/3\nend 2 status 5')" 'rank with RETALLY_PASS: that pass'
ln -s "$(command -v bash)" mpirun
dir=$sandbox/launcher.retally
RETALLY_PASS=3 preloaded ./mpirun -c "OMPI_COMM_WORLD_RANK=0 $target exit 6; exit \$?" >out 2>err
is "$?$(cat out err)" 6 'below a launcher: status'
is "$("$programs/dump_spool" "$dir" | grep -v '^value')" "$(printf 'file rank 0\nbegin 3/3\nend 3 status 6')" 'below a launcher: the rank counts, the launcher does not'

dir=$sandbox/rank.retally
RETALLY_RANK=junk RETALLY_PASS=2 preloaded "$target" exit 5 >out 2>err
is "$?$(cat out)$(cat err)" "5retally: warning: RETALLY_RANK='junk' is not a number from 0 to 2147483647 and is ignored" 'a rank that is no number: said once, and counted'
is "$("$programs/dump_spool" "$dir" | grep -c '^end 2 status 5')" 1 'its pass is there'
dir=$sandbox/single.retally
for p in 1 2 3; do RETALLY_PASS=$p preloaded bash -c 'echo $RETALLY_PASS/$RETALLY_PASSES; /bin/true'; done >out 2>err
is "$(tr '\n' ' ' <out)$(cat err)" '1/3 2/3 3/3 ' 'passes by number: one each'
is "$("$programs/dump_spool" "$dir" | grep -c '^end')" 3 'passes by number: come together in one directory'
done_testing
