#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --engine sdk: kernels replayed by rocprofiler-sdk itself, where it can do that.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/rocm/rocm.sh" || exit 99
gpu 90010
sq=SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_SALU,SQ_INSTS_SMEM,SQ_INSTS_LDS,SQ_BUSY_CYCLES,SQ_WAVE_CYCLES,SQ_WAIT_ANY,SQ_INSTS_BRANCH
sq=$sq,SQ_IFETCH,SQ_ACTIVE_INST_ANY,SQ_ACTIVE_INST_LDS,SQ_ACTIVE_INST_VALU,SQ_WAIT_INST_ANY,SQ_ACTIVE_INST_SCA,SQ_ACTIVE_INST_MISC,SQ_INSTS_SENDMSG,TCC_HIT
sdk() { # DIR TRAP OPTION...
	local dir=$1 trap=$2
	shift 2
	RETALLY_T0_MUTATE=replay run "$dir" "$trap" --replay kernel --engine sdk "$@"
}
values() { "$retally" report dir --by dispatch --wide --format csv -e SQ_WAVES,TCC_HIT | cut -d, -f1,16-17 | sort; }

while read -r trap launches counted; do
	alone "$trap"
	sdk dir "$trap" -e "$sq"
	is "$status $(cat out)" "0 $(cat "alone.$trap")" "$trap: the output is the program's"
	is "$(counted dir) $(accounted dir)" "$counted $launches" "$trap: dispatches that are counted, that are accounted for"
	like "$(cat report)" "$((counted * 3)) dispatches counted, $((counted * 3)) record" "$trap: three passes of each"
	unlike "$(cat report)" 'MISUSE|[1-9][0-9]* configurations' "$trap: no misuse, no configuration left"
	values >by_sdk
	run dir "$trap" --replay kernel -e "$sq"
	values >ours
	is "$(cat by_sdk)" "$(cat ours)" "$trap: the same counts as with our own replay"
done <<'END'
accumulate 4 4
atomics 4 4
two_queues 8 8
many 160 160
END
alone collective
sdk dir collective -e "$sq"
is "$(cat out)" "$(cat alone.collective)" 'a collective: the output is the program'\''s'
like "$("$retally" report dir --by reason)" 'not counted +a collective' 'a collective is not left to it'

sdk dir accumulate -e SQ_WAVES
is "$(cat out) $(counted dir)" "$(cat alone.accumulate) 4" 'a plan of one pass'
like "$(cat report)" '4 dispatches counted' 'runs each dispatch once'
sdk dir accumulate -e "$sq" --repeat 2
like "$(cat report)" '24 dispatches counted' '--repeat: twice three passes'
is "$("$retally" report dir --by dispatch --format csv 2>/dev/null | cut -d, -f3 | sed 1d | sort -u | wc -l)" 4 '--repeat: of four dispatches'
sdk dir accumulate -e "$sq" --pass 2
like "$(cat report)" '4 dispatches counted' '--pass: only that one'
sdk dir collective -e "$sq" -k scale -s 1 -c 2
is "$(cat out) $(counted dir)" "$(cat alone.collective) 2" 'filters choose'

RETALLY_T0_FAULTS=unreplayed:2 sdk dir accumulate -e "$sq"
is "$(cat out) $(counted dir) $(accounted dir)" "$(cat alone.accumulate) 3 4" 'what the library leaves out is not counted'
like "$("$retally" report dir --by reason)" 'accumulate +not counted +rocprofiler-sdk did not replay it' 'and named'
RETALLY_T0_FAULTS=record_lost:3 sdk dir accumulate -e "$sq"
is "$status $(cat out) $(accounted dir)" "0 $(cat alone.accumulate) 4" 'a lost record: the output is the program'\''s'
like "$("$retally" report dir --by reason)" 'gave no records of a dispatch' 'and the dispatch is declined'

# Versions without it.
run dir accumulate --replay kernel --engine sdk -e "$sq"
is "$status $(cat out)" "0 $(cat alone.accumulate)" '1.0.0 has none: the program runs'
like "$(findings dir)" '- rocprofiler-sdk 1\.0\.0 has no kernel replay of its own .*1\.4\.1' 'refused in one sentence'
rm -rf dir
"$retally" run --strict -q --source rocm --replay kernel --engine sdk -e "$sq" -o dir -- "$traps" accumulate >out 2>err
is "$?" 125 '--strict: nothing was collected'

refused() { # TEXT OPTION...
	local text=$1
	shift
	exits 125 "$*" "$retally" run -o none "$@" -- "$traps" accumulate
	like "$(cat err)" "$text" 'is refused'
}
refused 'it goes with --replay kernel' --source rocm -e SQ_WAVES --engine sdk --replay window
refused 'it goes with --replay kernel' --source rocm -e SQ_WAVES --engine sdk
refused "'other' is not own or sdk" --source rocm -e SQ_WAVES --engine other --replay kernel
refused '--verify is about our own replay' --source rocm -e SQ_WAVES --engine sdk --replay kernel --verify always
refused "not for source 'sim'" --source sim --engine sdk --replay kernel
done_testing
