#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a driver does not tell of a kernel: its parameters, its module's variables. A kernel of which that is not known
# runs once, for a reason with a name, and what was recorded before it is not replayed with what it wrote.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
reasons() { "$retally" report o --by reason --format csv 2>/dev/null | sed -n "s/\"one pass each, live\"/live/; s/,$1,kernel,[^,]*,/ /p" | tr -d '"' | sort; }
unknown() { # FAULT TRAP KERNEL DECLINED [MODE]: that many launches of the kernel are declined
	for mode in window ${5-kernel}; do
		RETALLY_STANDIN_FAIL=$1 run o "$three" --replay $mode -- "$traps" "$2"
		same $? "$2.want" "$2, $1, $mode"
		clean "$2, $1, $mode"
		is "$(reasons "$3")" "$4" "$2, $1, $mode: declined"
	done
}
for trap in update globals library between late graph_only collectives; do "$traps" $trap >$trap.want; done

# Parameters: only "no such parameter" ends their list.
not='its parameters are not known: '
unknown cuFuncGetParamInfo@1x1=700 update update "7 ${not}CUDA_ERROR_ILLEGAL_ADDRESS (700)"
unknown cuFuncGetParamInfo@2x1=2 update update "7 ${not}CUDA_ERROR_OUT_OF_MEMORY (2)"
unknown cuFuncGetParamInfo@3x1=400 update update "7 ${not}CUDA_ERROR_INVALID_HANDLE (400)"
unknown cuFuncGetParamInfo@1x1=400 update update "7 ${not}CUDA_ERROR_INVALID_HANDLE (400)"
unknown cuKernelGetParamInfo=719 library update "3 ${not}CUDA_ERROR_INVALID_HANDLE (400)"
unknown cuKernelGetParamInfo@2x1=201 library globals "3 ${not}CUDA_ERROR_INVALID_CONTEXT (201)"
unknown cuFuncGetParamInfo@1x1=1,cuKernelGetParamInfo@1x1=201 update update "7 ${not}CUDA_ERROR_INVALID_VALUE (1)"
unknown cuFuncGetParamInfo@2x1=2 graph_only 'CUDA graph' '3 a graph with a kernel whose parameters are not known'

# Threads whose first launches ask for the same variables at once.
"$traps" threads >threads.want
RETALLY_STANDIN_FAIL=slow-names@2=3 run o "$three" --replay window -- "$traps" threads
same $? threads.want 'threads that ask at once'
clean 'threads that ask at once'
is "$(reasons update)" '' 'threads that ask at once: nothing is declined'

# Variables: only "not found" tells that a module has none of that name. What fails is asked again, twice a launch.
not='its module'"'"'s variables are not known'
unknown cuModuleGetGlobal_v2=2 globals globals "4 $not: CUDA_ERROR_OUT_OF_MEMORY (2)"
unknown cuModuleGetGlobal_v2@1x2=2 globals globals "1 $not: CUDA_ERROR_OUT_OF_MEMORY (2)"
unknown cuModuleGetGlobal_v2@2x2=201 globals globals "1 $not: CUDA_ERROR_INVALID_CONTEXT (201)"
unknown cuModuleGetGlobal_v2=1 graph_only 'CUDA graph' '3 a graph with a kernel whose module is not known'
unknown cuFuncGetModule=1 globals globals "4 $not"
unknown cuFuncLoad=2 globals globals "4 $not"
unknown image@2 between histogram '4 a module'"'"'s image could not be read: variables are not known'
unknown image globals globals '4 a module'"'"'s image could not be read: variables are not known'
# NVSHMEM's state is looked for in the same way.
RETALLY_STANDIN_FAIL=cuModuleGetGlobal_v2=2 run o "$three" --replay window -- "$traps" collectives
same $? collectives.want 'collectives without variables'
is "$(logged libcuda 'replayed launches')$(logged libcuda 'replayed graphs')" '' 'none of them is launched again'

# One that is not known between two that are: what they count is what they count without it.
counts() {
	"$retally" report o --by dispatch --format csv --wide 2>/dev/null |
		awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $1 == "histogram" { print $c["smsp__inst_executed.sum"] }' | xargs
}
run o "$three" --replay kernel -- "$traps" between
truth=$(counts)
is "$(echo "$truth" | wc -w)" 4 'four histograms have values'
unknown cuFuncGetParamInfo@5x1=700 between update '2 its parameters are not known: CUDA_ERROR_ILLEGAL_ADDRESS (700)'
RETALLY_STANDIN_FAIL=cuFuncGetParamInfo@5x1=700 run o "$three" --replay window -- "$traps" between
is "$(counts)" "$truth" 'and count the same around a kernel that is not known'
is "$("$retally" report o --by window | grep -c 'an operation outside the window')" 1 'whose launch ends the window'

# Variables that show up late: what the window had recorded is given up.
unknown '' late globals "$(printf '%s\n' '1 a variable of its module was found late' '2 an operation that was not recorded touched its memory')" ''
done_testing
