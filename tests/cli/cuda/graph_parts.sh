#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Graphs by what their nodes are given, graphs that are changed after they were made, graphs inside graphs, many nodes and
# many graphs: each launch has the values of its own work, or the reason names what stands against it.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
launches=sm__kernels_launched.sum
counters=$launches,$three,${inst}_op_st.sum,${inst}_op_red.sum
values() { # COUNTER: of each launch of a graph that was replayed
	"$retally" report o --by dispatch --format csv --wide 2>/dev/null | awk -F, -v name="$1" '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $1 == "CUDA graph" && $c["replayed"] == "true" { print $c[name] }' | xargs
}
graphs() { # kernels, instructions that store (two a store) and that reduce (three each) of each launch of a graph that was replayed
	"$retally" report o --by dispatch --format csv --wide 2>/dev/null | awk -F, -v st=${inst}_op_st.sum -v red=${inst}_op_red.sum -v n=$launches '
		NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next }
		$1 == "CUDA graph" && $c["replayed"] == "true" { print $c[n] "/" $c[st] "/" $c[red] }' | xargs
}
reasons() { "$retally" report o --by reason --format csv 2>/dev/null | sed -En 's/,CUDA graph,kernel,(not counted|"one pass each, live"),/ /p' | tr -d '"' | sort; }
replayed() { # TRAP VALUES REASONS [FAULT]: in both modes
	[ -e "$1.want" ] || "$traps" "$1" >"$1.want"
	for mode in window kernel; do
		RETALLY_STANDIN_FAIL=${4-} run o $counters --replay $mode -- "$traps" "$1"
		same $? "$1.want" "$1 ${4-}, $mode"
		clean "$1 ${4-}, $mode"
		is "$(graphs)" "$2" "$1 ${4-}, $mode: kernels, stores and reductions of each launch"
		values $inst.sum >$mode.work
		is "$(reasons)" "$3" "$1 ${4-}, $mode: what is declined, and why"
	done
}
times() { # N WORD: the word N times
	printf "$2 %.0s" $(seq "$1") | xargs
}

# Parameters in one buffer, of launches and of nodes; none at all; kernels that are shown as kernels of a library.
replayed graph_packed "$(times 3 2/10000/15000)" '2 it reaches memory that the host may use at any time'
replayed graph_packed "$(times 3 2/10000/15000)" '2 it reaches memory that the host may use at any time' handles
replayed graph_packed '' "$(printf '%s\n' '1 it reaches memory that the host may use at any time' '4 a graph with a kernel whose packed parameters cannot be read')" extra-key
replayed graph_bare '1/0/3 1/0/3' ''
replayed graph_bare '1/0/3 1/0/3' '' handles
# The image of a module that is loaded later cannot be read; variables show up late.
replayed graph_bare 1/0/3 '1 a graph with a kernel whose module is not known' image@3
replayed graph_late 1/0/15000 "$(printf '%s\n' '1 a graph with a variable that was found late' '1 an operation that was not recorded touched its memory')"

# Graphs inside graphs, as deep as they are followed; nodes and contexts that are not what they seem.
whole=$(times 3 3/20000/15000)
replayed graph_whole "$whole" ''
replayed graph_whole "$whole" '' handles
replayed graph_contexts 1/10000/0 "$(
	cat <<-END
		1 a graph that was made in another context
		1 a graph with kernels of several contexts
		1 a graph with more than 16 graphs inside each other
		1 a graph with nodes that kernels can change
	END
)"

# What the driver does not answer. The list of nodes is asked for twice a graph.
fails() { replayed graph_whole '' "3 $2" "$1"; }
fails cuGraphGetNodes@1x1=700 'a graph whose nodes cannot be listed'
fails cuGraphGetNodes@2x1=2 'a graph whose nodes cannot be listed'
fails cuGraphGetNodes@4x1=2 'a graph whose nodes cannot be listed'
fails cuGraphNodeGetType@3x1=400 'a graph with nodes whose kind cannot be told'
fails cuGraphKernelNodeGetParams_v2@2x1=1 'a graph whose kernels cannot be told'
fails cuGraphKernelNodeGetAttribute=719 'a graph whose kernels cannot be told'
fails cuGraphMemcpyNodeGetParams=1 'a graph whose copies cannot be told'
fails cuGraphMemsetNodeGetParams=1 'a graph whose fills cannot be told'
fails cuGraphChildGraphNodeGetGraph=1 'a graph with a graph inside that cannot be told'
fails cuFuncGetName@2x1=1 'a graph whose kernels have no names'
fails nodes=1048577 'a graph of more than 1048576 nodes'
# Drivers without nodes that kernels can change; fewer nodes than were announced.
for fault in cuGraphKernelNodeGetAttribute=1 cuGraphKernelNodeGetAttribute=801 nodes=9; do replayed graph_whole "$whole" '' $fault; done

# Changed, part by part, with nothing else between the launches: an update of a and one inside, then a histogram first, then
# an inner update of c; switched off and on; refused; whole again. What cannot be done again is told, and is over with an update.
for trap in graph_changed graph_changed_too; do
	replayed $trap "2/20000/0 $(times 4 2/10000/15000) 1/10000/0 $(times 2 2/10000/15000) $(times 3 2/20000/0)" "$(
		cat <<-END
			1 a graph with a collective (NCCL, NVSHMEM)
			1 a graph with a copy that is not between memories of the device
			1 a graph with nodes that were changed after it was made
			2 it reaches memory that the host may use at any time
		END
	)"
	is "$(cat window.work)" "$(cat kernel.work)" "$trap: each launch did in its window what it did alone"
	ok $((! ($(wc -w <window.work) == 11))) "$trap: of eleven launches"
done
replayed graph_doubted 1/10000/0 '2 a call that is not known may have changed graphs'

# Many nodes, many graphs.
replayed graph_large "$(times 3 3000/384000/0)" '1 it reaches memory that the host may use at any time'
replayed graph_many "$(times 10 1/10000/0)" ''
done_testing
