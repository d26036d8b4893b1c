#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Options of replaying in place that mean nothing: one sentence on stderr, status 125, the program does not run.
. "$RETALLY_SOURCE/tests/cli/lib.sh"
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
for option in '-k add' '-s 1' '-c 1' '--repeat 2'; do
	# shellcheck disable=SC2086
	refused '--?[a-z-]+ chooses kernels of devices: .* every region is counted once a pass' --replay range -e task-clock $option
done
refused '--replay application counts processes from outside' --source sim --replay application
RETALLY_LIBRARY=/nowhere/libretally.so refused "there is no '/nowhere/libretally.so'" --replay kernel
# in the program: settings that nobody wrote leave it alone
exits 0 'bad settings in the environment' env LD_PRELOAD="$libretally" RETALLY_REPLAY=mode=fast "$programs/sim_program" 2 return
like "$(cat err)" "^retally: RETALLY_REPLAY: 'fast' is no value of 'mode'; dispatches run uncounted$" 'are said'
"$programs/sim_program" 2 return >plain
cmp -s plain out; ok $? 'and the program is what it was'
done_testing
