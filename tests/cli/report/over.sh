#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Percentages above 100 on programs that really ran: put together from passes that did not do the same work they are shown
# as they are, with the passes and the cause; of one pass, or of passes that did the same, they are not above 100.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
command -v python3 >/dev/null || skip_all 'no python3'
value() { # DIR KERNEL METRIC: value, passes, status and reason
	"$retally" report "$1" --format csv | python3 -c '
import csv, sys
for r in csv.DictReader(sys.stdin):
    if (r["kernel"], r["kind"], r["name"]) == (sys.argv[1], "metric", sys.argv[2]):
        print(r["value"], r["passes"].replace(", ", "+"), r["status"], r["reason"])' "$2" "$3"
}

# Functions of a CPU program, each pass an execution of its own that does as much as its number; f5 is called 50 times of the
# 150 of the five, and the five do not fit into one pass. So pass 1 has 10 + 20 + 30 + 40, and pass 2 twice 50.
cat >cpu.yaml <<'YAML'
chips: [cpu]
metrics:
  - {name: fifth, unit: "%", percent: true, title: The fifth, expression: "300 * `bp:f5` / (`bp:f1` + `bp:f2` + `bp:f3` + `bp:f4` + `bp:f5`)"}
  - {name: fourth, unit: "%", percent: true, title: The fourth, expression: "100 * `bp:f4` / (`bp:f1` + `bp:f3`)"}
YAML
run_cpu() { # DIR ARGUMENT
	"$retally" run -q --replay application --metrics-file cpu.yaml -m fifth,fourth -o "$1" -- "$programs/twelve" "$2" >out 2>err
}
run_cpu varies pass
is "$(value varies twelve fifth | cut -d' ' -f1-3)" '150 1+2 split' 'passes of different work: 150 % is shown, with its passes'
like "$(value varies twelve fifth)" 'split over passes 1, 2; over 100 %: these passes did not do the same work, (page-faults|task-clock) of the process differs by up to [0-9.]+ %' \
	'and with the cause'
is "$(value varies twelve fourth | cut -d' ' -f1-3)" '100 1 ok' 'of the same run and one pass: 100 %'
like "$("$retally" report varies)" '^  fifth +150\.0 +% .*over 100 %: these passes did not do the same work' 'the text says it, too'
run_cpu same 1
is "$(value same twelve fifth | cut -d' ' -f1-3)" '100 1+2 split' 'passes of the same work: 100 %'
unlike "$("$retally" report same)" 'over 100' 'and no word of it'

# Kernels. Pass 2 runs in an execution of its own, whose input is larger: 52 groups instead of 50. An update has one load
# and one store for each item, of which one in 16 is sampled; loads and stores never in one pass.
cat >sim.yaml <<'YAML'
chips: [sim]
metrics:
  - {name: stores_of_loads, unit: "%", percent: true, title: Stores of loads, expression: 100 * DEV_SAMPLED_STORES / DEV_SAMPLED_LOADS}
  - {name: together, unit: "%", percent: true, title: Stores of loads in one pass, expression: 100 * SEQ_STORES / SEQ_LOADS}
YAML
run_sim() { # DIR GROUPS OPTION...
	local dir=$1
	echo "$2" >groups
	shift 2
	# shellcheck disable=SC2016
	"$retally" run -q --source sim --metrics-file sim.yaml -m stores_of_loads,together -o "$dir" "$@" -- \
		sh -c 'exec "$0" 6 groups "$(cat groups)"' "$programs/sim_program" >out 2>err
}
run_sim apart 50 --replay window --pass 1
run_sim apart 52 --replay window --pass 2
is "$(value apart update stores_of_loads | cut -d' ' -f1-3)" '104 1+2 split' 'kernels of other work in pass 2: 104 %'
like "$(value apart update stores_of_loads)" 'over 100 %: these passes did not do the same work, SEQ_ITEMS of one dispatch differs by up to 3.9 %' \
	'with the cause: 3328 items instead of 3200'
is "$(value apart update together | cut -d' ' -f1-3)" '100 1 ok' 'in one pass: 100 %'
is "$(value apart walk stores_of_loads | cut -d' ' -f1-3)" '100 1+2 split' 'a kernel that does the same: 100 %'
for mode in window kernel; do
	run_sim $mode 52 --replay $mode
	is "$(value $mode update stores_of_loads | cut -d' ' -f1-3)" '100 1+2 split' "replayed, $mode: 100 % from the same two passes"
	unlike "$("$retally" report $mode)" 'over 100' "$mode: and no word of it"
done
done_testing
