#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What the program marked by cuProfilerStart and by NVTX: as units of --replay range, and as --range in every mode.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
launches=sm__kernels_launched.sum,smsp__threads_launched.sum,$inst.sum
values() { # COUNTER: "NAME VALUE" of each dispatch or range, sorted
	"$retally" report o --by dispatch --format csv --wide 2>/dev/null |
		awk -F, -v want="$1" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } { printf "%s %s %d\n", $1, $2, $c[want] }' | sort
}
several() { printf "$1\n%.0s" $(seq "$2"); } # LINE TIMES
"$traps" profiler >want.profiler
"$traps" nvtx >want.nvtx

# Units.
run o $launches --replay range -- "$traps" profiler
same $? want.profiler 'cuProfilerStart as a range'
clean 'cuProfilerStart as a range'
is "$(values sm__kernels_launched.sum)" "$(several 'cuProfilerStart range 2' 2)" 'two of them, of two kernels each; start twice is start'
run o $launches --replay range -- "$traps" nvtx
same $? want.nvtx 'NVTX as ranges'
clean 'NVTX as ranges'
# pair: round 0, and what follows round 0 until the inner one begins
is "$(values sm__kernels_launched.sum)" "$(several 'inner range 2' 2; several 'pair range 3' 2)" 'the innermost has the kernels'
is "$(values smsp__threads_launched.sum)" "$(several 'inner range 10240' 2; several 'pair range 15360' 2)" 'in every pass'
run o $launches --replay range --range inner -- "$traps" nvtx
same $? want.nvtx 'one of the ranges'
is "$(values sm__kernels_launched.sum)" "$(several 'inner range 2' 2)" 'one of the ranges: only that'
run o $launches --replay range --range pair -- "$traps" nvtx
same $? want.nvtx 'the outer range'
is "$(values sm__kernels_launched.sum)" "$(several 'pair range 5' 2)" 'the outer range: what is inside belongs to it, when the inner is not asked for'

# A filter.
for mode in window kernel auto none; do
	run o $launches --replay $mode --range cuProfilerStart -- "$traps" profiler
	same $? want.profiler "$mode, inside cuProfilerStart"
	clean "$mode, inside cuProfilerStart"
	is "$(values $inst.sum | cut -d' ' -f1)" "$(several add 2; several update 2)" "$mode, inside cuProfilerStart: four of seven launches"
	run o $launches --replay $mode --range exact:inner -k update -- "$traps" nvtx
	same $? want.nvtx "$mode, inside a range of NVTX"
	is "$(values $inst.sum | cut -d' ' -f1)" "$(several update 2)" "$mode, inside a range of NVTX: with -k two of twelve"
done
run o $launches --replay window --range pair -s 1 -c 2 -- "$traps" nvtx
is "$(values $inst.sum | cut -d' ' -f1)" "$(printf 'add\nupdate')" 'skip and count are of what is inside'
run o $launches --replay window --range '!inner' -- "$traps" nvtx
is "$(values $inst.sum | wc -l)" 10 'a range that is left out takes nothing from the one around it'
run o $launches --replay window --range nowhere -- "$traps" nvtx
same $? want.nvtx 'no such range'
is "$(grep -c 'passes [1-9]' "$RETALLY_STANDIN_LOG")" 0 'no such range: nothing is counted'
unlike "$(cat "$RETALLY_STANDIN_LOG")" 'replayed launches' 'and nothing is launched again'

# Another filter is another collection; a bad one is said.
run o $launches --replay window --range pair -- "$traps" nvtx
"$retally" run --source cuda -e $launches --replay window --range inner -o o -- "$traps" nvtx >out 2>err
is $? 125 'another range, the same directory: refused'
run p $launches --replay window --range 'regex:(' -- "$traps" nvtx
like "$?$(cat err)" '^125.*--range' 'a bad pattern'
run p $launches --replay application --range pair -- "$traps" nvtx
like "$?$(cat err)" '^125.*--range is for kernels that are replayed in place' 'not with application replay'
done_testing
