#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The values are those of the right dispatch, in every pass: the stand-in counts the work that its kernels really do,
# which for these is another from one launch to the next, and nothing when memory was not put back.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
counters=$inst.sum,smsp__threads_launched.sum,${inst}_op_ld.sum,${inst}_op_st.sum,${inst}_op_red.sum
counters=$counters,sm__kernels_launched.sum
exits 0 'planned' "$retally" plan --source cuda -e "$counters" --count
is "$(cat out)" 5 'five passes'
values() { # DIRECTORY COUNTER KERNEL: of each dispatch, one after the other
	"$retally" report "$1" --by dispatch --format csv --wide 2>/dev/null |
		awk -F, -v want="$2" -v kernel="$3" 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
			$1 == kernel { printf "%s%s", sep, $c[want]; sep = " " } END { print "" }'
}
"$traps" append once chain graph update surfaces handles >want
# Two instructions for each of 63300 or 5000 elements read and written, one a thread, and one for each with a certain
# bit set: computed apart from the stand-in.
on_surfaces='289969 27617 27619 289968 27619 27620 289969 27619 27620'
by_textures='37617 37619 37619 37620'
for mode in window kernel; do
	run o "$counters" --replay "$mode" -- "$traps" append once chain graph update surfaces handles
	same $? want "$mode"
	clean "$mode"
	is "$(values o ${inst}_op_st.sum append)" '2600 2600 2600 2200 0' "$mode: what each launch appends"
	is "$(values o $inst.sum append)" '11620 11620 11620 11220 9020' "$mode: and all of its instructions, in another pass"
	is "$(values o $inst.sum once)" '45120 15120' "$mode: the first does the work, the second finds it done"
	is "$(values o ${inst}_op_ld.sum once)" '20000 10000' "$mode: in every pass"
	is "$(values o ${inst}_op_st.sum chain)" '30000 30000 30000 30000 30000 30000 30000' \
		"$mode: what no argument tells of, but for the launch that showed it"
	is "$(values o sm__kernels_launched.sum 'CUDA graph')" '2 2 2 2' "$mode: a graph is its two kernels"
	is "$(values o ${inst}_op_red.sum 'CUDA graph')" '15000 15000 15000 15000' "$mode: with their atomics"
	is "$(values o smsp__threads_launched.sum update | cut -d' ' -f1-8)" '5120 5120 5120 5120 5120 5120 5120 5120' "$mode: threads"
	is "$(values o $inst.sum surface)" "$on_surfaces" "$mode: what surfaces write in place"
	is "$(values o $inst.sum texture)" "$by_textures" "$mode: and textures read"
	is "$(values o ${inst}_op_st.sum surface_at)" '126600 126600 126600 126600 126600' \
		"$mode: through a surface that is named in memory, but for the launch that showed it"
done
run o "$counters" --replay window --repeat 2 -- "$traps" append once
is "$(values o ${inst}_op_st.sum append)" '2600 2600 2600 2200 0' 'twice: the same'
like "$(cat err)" '2 kernels, 7 dispatches, ' 'twice: each launch is one dispatch'

# Spread over launches that are alike, each in one pass, nothing replayed.
"$traps" update streams >want
run o "$counters" --distribute dispatch -- "$traps" update streams
same $? want 'distributed'
clean 'distributed'
is "$(grep -c 'replayed launches' "$RETALLY_STANDIN_LOG")" 0 'distributed: nothing was launched again'
like "$("$retally" report o -e ${inst}_op_ld.sum --format csv 2>&1)" 'update.*10000' 'distributed: the value of its pass'
with=$(values o $inst.sum update | wc -w)
ok $((with < 2 || with > 6)) "distributed: $with of the dispatches have that of another pass"

# Left uncounted once enough is known.
"$traps" waits >want
run o "$inst.sum" --no-anchors --distribute dispatch --until 5% -- "$traps" waits
same $? want 'until'
clean 'until'
like "$("$retally" report o)" '^  update +150 +45 .* 105 left out, known after 45' 'until: launches are left out when enough is known'
like "$(cat "$RETALLY_STANDIN_LOG")" 'libcuda: self-check: 0 violations, launches 150' 'until: and are launched as ever'

# A launch that ends whatever the host does gets a range that holds nothing else; of others the time is not told.
"$traps" update managed graph >want
run o "gpu__time_duration.sum,$counters" --replay window -- "$traps" update managed graph
same $? want 'times'
clean 'times'
like "$(cat "$RETALLY_STANDIN_LOG")" '^libcupti: .* automatic ranges' 'times: CUPTI made ranges of its own'
is "$(values o gpu__time_duration.sum update | wc -w)" 8 'times: of what nobody else can reach'
is "$(values o gpu__time_duration.sum 'CUDA graph' | wc -w)" 4 'times: of graphs'
is "$(values o $inst.sum update | wc -w)" 14 'times: not of the six that reach what the host may, but their other counts'
like "$("$retally" report o 2>&1)" 'elapsed time are not collected of some dispatches' 'times: the report says so'
run o gpu__time_duration.sum --replay none -- "$traps" update
same $? <(grep '^update' want) 'times, nothing replayed'
is "$(values o gpu__time_duration.sum update | wc -w)" 6 'times, nothing replayed: of all but the first, which showed that it ends'

# Each process one pass of its own, by its rank: together all passes, and the last one can be had by its command.
"$traps" update >want
rm -rf d
for rank in 0 1; do
	OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=3 "$retally" run --source cuda -e "$three" --distribute rank --seed 3 -o d -- \
		"$traps" update >out 2>err
	same $? want "rank $rank of 3"
done
"$retally" report d >text 2>&1
like "$(cat text)" 'collected *2 of 3 passes, 2 of 3 counters' 'two ranks: two passes'
next=$(sed -n 's/^  \(retally run .*--pass .*\)/\1/p' text)
unlike "$next" 'distribute|seed' 'the missing pass is named, not dealt'
eval "${next/retally/\"\$retally\"}" >out 2>err
same $? want 'the missing pass'
like "$("$retally" report d 2>&1)" 'collected *3 of 3 passes, 3 of 3 counters' 'then all are there'

# The control: when nothing that is put back arrives, output and counts are wrong. So both are really looked at.
"$traps" append once update atomics surfaces parts handles reference >want
RETALLY_STANDIN_FAIL=restore run o "$counters" --replay window -- "$traps" append once update atomics surfaces parts handles reference
for trap in append atomics update 'surface x' 'surface y' slices layers level 'by a word' 'by reference'; do
	! grep -qxF "$(grep "^$trap " want)" out
	ok $? "without restoring: the output of $trap breaks"
done
unlike "$(values o ${inst}_op_st.sum append)" '^2600 2600 2600 2200 0$' 'without restoring: the counts of append are wrong'
unlike "$(values o $inst.sum surface)" "^$on_surfaces" 'without restoring: those of surfaces, too'
unlike "$(values o $inst.sum once)" '^45120 15120$' 'without restoring: those of once, too'
done_testing
