#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Drivers that lack functions which retally can do without: the output is the program's own, and what cannot be known or
# done without them is declined, for a reason with a name.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
# Those that call such a function themselves are left out; a kernel that waits for the host takes its time.
list="$("$traps" list | grep -vE '^(ways|library|spin)$') graph_kinds collectives unsavable"
# shellcheck disable=SC2086
"$traps" $list >want
reasons() { "$retally" report o --by reason --format csv 2>/dev/null | sed -En 's/^([0-9]*),([^,]*),kernel,(not counted|"one pass each, live"),/\1 \2: /p' | tr -d '"'; }
for driver in bare lean; do
	export LD_LIBRARY_PATH=$standins/$driver:$standins
	for mode in window kernel auto; do
		# shellcheck disable=SC2086
		run o "$three" --replay $mode -- "$traps" $list
		same $? want "$driver, $mode"
		clean "$driver, $mode"
		[ $mode = auto ] && continue
		case $driver in
		bare)
			is "$(logged libcuda 'replayed launches')$(logged libcuda 'replayed graphs')" '' "$driver, $mode: nothing is launched again"
			like "$(reasons)" "^[0-9]* update: its module's variables are not known$" "$driver, $mode: for a reason"
			;;
		lean)
			is "$(($(logged libcuda 'replayed launches') > 300))$(logged libcuda 'replayed graphs')" 1 "$driver, $mode: kernels are replayed, graphs not"
			is "$(reasons | grep -cE '^[0-9]+ (update|add|append|once|globals|histogram): .* not known')" 0 "$driver, $mode: all is known of kernels with parameters"
			;;
		esac
		like "$(reasons)" '^[0-9]* CUDA graph: a graph whose kernels cannot be told$' "$driver, $mode: graphs have their reason"
		like "$(reasons)" '^[0-9]* surface: ' "$driver, $mode: surfaces are declined"
	done
done
# No names of errors either.
RETALLY_STANDIN_FAIL=cuModuleGetGlobal_v2=2 run o "$three" --replay window -- "$traps" globals
like "$(reasons)" "globals: its module's variables are not known: CUDA error \(2\)$" 'an error is told by its number'
done_testing
