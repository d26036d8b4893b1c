#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Options of replaying in place that mean nothing: one sentence on stderr, status 125, the program does not run.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
refused() { # SENTENCE OPTION...
	exits 125 "refused: ${*:2}" "$retally" run -o d "${@:2}" -- sh -c 'echo ran'
	is "$(wc -l <err) $(cat out)" '1 ' 'with one sentence, and nothing ran'
	like "$(cat err)" "^retally: error: $1" 'which says why'
}
refused "--replay: 'bogus' is not auto, application, kernel, window, range or none" --replay bogus
refused "--window: '0' is not a number from 1" --replay window --window 0
refused "--window: '3x' is not a number from 1" --replay window --window 3x
refused '--window: 99999999999 is too large' --replay window --window 99999999999
refused '--window: windows have no size with --replay kernel' --replay kernel --window 3
refused "--repeat: '-1' is not a number from 1" --replay kernel --repeat -1
refused "--max-snapshot: '0' is not a size above 0" --replay kernel --max-snapshot 0
refused "--max-snapshot: '1Q' is not a size" --replay kernel --max-snapshot 1Q
refused "--max-snapshot: '99999999999999T' is not a size" --replay kernel --max-snapshot 99999999999999T
refused "--verify: 'maybe' is not first, always or never" --replay kernel --verify maybe
refused "-k: pattern 'regex:\\(': " --replay kernel -k 'regex:('
refused "-k: pattern 'exact:' is empty" --replay kernel -k exact:
refused "--launch-skip: ' 1' is not a number from 0" --replay kernel -s ' 1'
refused "--launch-count: '0' is not a number from 1" --replay kernel -c 0
refused '-k is for kernels that are replayed in place' -k add
refused '--repeat is for kernels that are replayed in place' --replay application --repeat 2
refused '--keep-going is about the later passes of application mode' --replay window --keep-going
refused '--chdir-per-pass is about the later passes' --replay kernel --chdir-per-pass
refused '--distribute rank runs one pass in each process' --replay window --distribute rank
refused '--distribute dispatch replays nothing' --replay kernel --distribute dispatch
refused '--pass chooses a pass and so does --distribute dispatch' --distribute dispatch --pass 1
refused "--distribute: 'dispatches' is not rank, process or dispatch" --distribute dispatches
refused '--seed goes with --distribute' --replay window --seed 3
refused "--seed: 'x' is not a number" --distribute dispatch --seed x
# What each mode takes of the options, with a device's counters and with CPU counters of regions: taken, or refused by
# its name and with nothing run. (-k, -s and -c with kernels that are there: modes.sh.)
while read -r options mode; do
	for option in '-k update' '-s 1' '-c 1' '--window 2' '--max-snapshot 1M' '--repeat 2' '--verify always' '--range pair'; do
		name=${option% *}
		case $name in -s) name=--launch-skip ;; -c) name=--launch-count ;; esac
		# shellcheck disable=SC2086
		"$retally" run $mode $option -o took -- "$programs/sim_program" 2 return >out 2>err
		status=$?
		rm -rf took
		case ",$options," in
		*",$name,"*) is "$status $(grep -c '^retally: error' err)" '0 0' "$mode takes $option" ;;
		*)
			is "$status $(wc -c <out) $(wc -l <err)" '125 0 1' "$mode refuses $option with one sentence, and nothing ran"
			like "$(cat err)" "^retally: error: $name" 'by its name'
			;;
		esac
	done
done <<'END'
-k,--launch-skip,--launch-count,--max-snapshot,--repeat,--verify,--range --source sim --replay kernel
-k,--launch-skip,--launch-count,--window,--max-snapshot,--repeat,--verify,--range --source sim --replay window
-k,--launch-skip,--launch-count,--window,--max-snapshot,--repeat,--verify,--range --source sim --replay auto
-k,--launch-skip,--launch-count,--window,--max-snapshot,--repeat,--verify,--range --source sim
-k,--launch-skip,--launch-count,--max-snapshot,--repeat,--verify,--range --source sim --replay range
-k,--launch-skip,--launch-count,--range --source sim --replay none
-k,--launch-skip,--launch-count,--range --source sim --distribute dispatch
--range -e task-clock --replay range
none -e task-clock --replay application
none -e task-clock
-k,--launch-skip,--launch-count,--max-snapshot,--repeat,--verify,--range -e task-clock --replay kernel
-k,--launch-skip,--launch-count,--window,--max-snapshot,--repeat,--verify,--range -e task-clock --replay window
END
refused '--replay application counts processes from outside' --source sim --replay application
RETALLY_LIBRARY=/nowhere/libretally.so refused "there is no '/nowhere/libretally.so'" --replay kernel
# in the program: settings that nobody wrote leave it alone
exits 0 'bad settings in the environment' env LD_PRELOAD="$libretally" RETALLY_REPLAY=mode=fast "$programs/sim_program" 2 return
like "$(cat err)" "^retally: RETALLY_REPLAY: 'fast' is no value of 'mode'; dispatches run uncounted$" 'are said'
"$programs/sim_program" 2 return >plain
cmp -s plain out; ok $? 'and the program is what it was'
done_testing
