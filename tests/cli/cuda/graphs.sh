#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Graphs: a launch is one dispatch, replayed as a whole, or it runs once and the reason names what stands against it.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
launches=sm__kernels_launched.sum,$three

# Replayed: kernels, fills, copies on the device; a module of which nothing else was launched.
"$traps" graph graph_only >want
for mode in window kernel; do
	run o $launches --replay $mode -- "$traps" graph graph_only
	same $? want "$mode"
	clean "$mode"
	is "$("$retally" report o --by reason --format csv | wc -l)" 1 "$mode: nothing is declined"
	is "$("$retally" report o --by dispatch --format csv --wide 2>/dev/null |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $1 == "CUDA graph" { print $c["sm__kernels_launched.sum"] }' | xargs)" \
		'2 2 2 2 2 2 2' "$mode: seven launches of two kernels each"
	is "$(logged libcuda 'replayed graphs')" $((7 * $("$retally" plan --source cuda -e $launches --count))) "$mode: each once a pass"
done
RETALLY_STANDIN_FAIL=restore run o $launches --replay window -- "$traps" graph_only
! grep -qxF "$(grep '^graph table ' want)" out
ok $? 'the control: without restoring, the output of graph_only breaks'

# Captured while it has work to do, and launches beside the capture: those are left alone.
"$traps" capture >want.capture
for mode in window kernel auto none; do
	run o $launches --replay $mode -- "$traps" capture
	same $? want.capture "capture, $mode"
	clean "capture, $mode"
	is "$("$retally" report o --by reason --format csv | tail -n +2)" '3,update,kernel,not counted,a stream is being captured' \
		"capture, $mode: only what is launched beside it is declined"
done
"$traps" graph graph_only >want

# Not replayed. Each is counted, live: with the one pass, or with one group of counters that fit a pass, in turn.
"$traps" graph_kinds >want
for counter in ${three//,/ }; do
	run alone "$counter" --replay window -- "$traps" graph_kinds
	values alone
done >truth
for counters in one three; do
	for mode in window kernel; do
		run o "${!counters}" --replay $mode -- "$traps" graph_kinds
		same $? want "kinds, $counters, $mode"
		clean "kinds, $counters, $mode"
		is "$("$retally" report o --by reason --format csv | sed -n 's/,CUDA graph,kernel,/ /p' | tr -d '"' | sort)" "$(
			instead='one pass each, live'
			sort <<-END
				2 $instead,a graph with a collective (NCCL, NVSHMEM)
				1 $instead,a graph that takes or frees memory
				1 $instead,a graph that waits for or writes single words
				1 $instead,a graph with a copy that is not between memories of the device
				1 $instead,a graph with a host function
				1 $instead,a graph with conditional nodes
				1 $instead,a graph with events
				1 $instead,a graph with nodes of an unknown kind
				1 $instead,a graph with semaphores of another API
				1 $instead,it reaches memory that the host may use at any time
				1 $instead,the program has a graph that kernels can launch
			END
		)" "kinds, $counters, $mode: each by its name"
		values o >counted
		is "$(grep -vxFf truth counted)" '' "kinds, $counters, $mode: $(wc -l <counted) values, each that of its dispatch counted alone"
		is "$(grep -c '^live' counted) $(grep '^live' counted | cut -d' ' -f3 | sort -u | wc -l)" \
			"$("$retally" report o --by reason --format csv | awk -F, '{ n += $1 } END { print n }') $([ $counters = one ] && echo 1 || echo 3)" "kinds, $counters, $mode: one value of each that is not replayed, of every counter some"
		is "$(logged libcuda 'replayed graphs')" "$([ $counters = one ] && echo 3 || echo 9)" "kinds, $counters, $mode: three others are replayed"
	done
done
done_testing
