# SPDX-License-Identifier: Apache-2.0
# For the tests on the stand-in driver and CUPTI (tests/standins/cuda): the same command and library as anywhere.
# shellcheck shell=bash
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
standins=$RETALLY_BUILD/tests/standins/cuda
traps=$programs/cuda_traps
export LD_LIBRARY_PATH=$standins RETALLY_STANDIN_LOG=$sandbox/self-check
# The turns at the GPU are those of this test alone: other tests run beside it.
mkdir -m 700 "$sandbox/turns" && export XDG_RUNTIME_DIR=$sandbox/turns
unset RETALLY_CUPTI RETALLY_STANDIN_FAIL CUDA_INJECTION64_PATH
inst=smsp__inst_executed
# shellcheck disable=SC2034
one=$inst.sum
three=$inst.sum,smsp__threads_launched.sum,smsp__sass_thread_inst_executed.sum
# shellcheck disable=SC2034
six=$three,${inst}_op_ld.sum,${inst}_op_st.sum,${inst}_op_red.sum,dram__bytes.sum,sm__ctas_launched.sum
six=$six,l1tex__throughput.avg.pct_of_peak_sustained_elapsed,gpu__time_duration.sum
run() { # DIRECTORY COUNTERS OPTION... -- COMMAND...: stdout and stderr go to the files out and err
	local dir=$1 counters=$2
	shift 2
	rm -rf "$dir" "$RETALLY_STANDIN_LOG"
	timeout 200 "$retally" run --source cuda -e "$counters" -o "$dir" "$@" >out 2>err
}
same() { # STATUS FILE NAME: the program said what is in FILE and the status is STATUS
	local got=$1
	is "$got" "${status:-0}" "$3: exit status"
	if cmp -s "$2" out; then ok 0 "$3: same output"; else
		ok 1 "$3: same output"
		diff "$2" out | sed 's/^/# /' | head -20
		sed 's/^/# err: /' err | head -5
	fi
}
clean() { # NAME: driver and CUPTI were used by the rules, and both libraries say so
	is "$(grep -v ': self-check: 0 violations' "$RETALLY_STANDIN_LOG")" '' "$1: no violation"
	like "$(cat "$RETALLY_STANDIN_LOG")" '^libcuda: self-check: .* launches' "$1: the driver's self-check was reached"
}
values() { # DIR: "live|replayed DISPATCH COUNTER VALUE" of what each dispatch has
	"$retally" report "$1" --by dispatch --format csv --wide 2>/dev/null | awk -F, '
		NR == 1 { for (i = 1; i <= NF; i++) { name[i] = $i; at[$i] = i } next }
		{ for (i = at["shared_bytes"] + 1; i < at["replayed"]; i++)
			if ($i != "") print $at["replayed"] == "true" ? "replayed" : "live", $at["dispatch"], name[i], $i }'
}
logged() { sed -n "s/^$1:.*, $2 \([0-9]*\).*/\1/p" "$RETALLY_STANDIN_LOG"; } # LIBRARY WHAT
