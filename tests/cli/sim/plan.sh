#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Planning for the simulated device: no hardware, no device, no library.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99

exits 0 'the default set is planned' "$retally" plan --source sim
like "$(cat out)" '^plan [0-9a-f]{12} for sim: 4 passes, proven minimal' 'in four passes'
exits 0 'a pass holds the overview' "$retally" plan --source sim --set overview --count
is "$(cat out)" 1 'one pass'
exits 0 'the chip alone is enough' "$retally" plan --chip sim -m ipc --count
exits 0 'an accumulator brings its level counter' "$retally" plan --source sim --no-anchors -e SEQ_LEVEL_GROUPS_ACCUM
like "$(cat out)" 'SEQ_LEVEL_GROUPS SEQ_LEVEL_GROUPS_ACCUM' 'both are in the pass'
exits 0 'two that exclude each other' "$retally" plan --source sim --no-anchors -e 'DEV_SAMPLED_*' --count
is "$(cat out)" 2 'take two passes, though the block has three slots'
exits 0 'five of a block with four slots' "$retally" plan --source sim --no-anchors \
	-e L2_READS,L2_WRITES,L2_ATOMICS,L2_HITS,L2_MISSES --count
is "$(cat out)" 2 'take two'
exits 0 'an instance' "$retally" plan --source sim -e 'L2_HITS[3]' --count
exits 2 'an instance that is not there' "$retally" plan --source sim -e 'L2_HITS[4]'
like "$(cat err)" "'L2_HITS' has no instance 4 of 4" 'is named'
exits 2 'a counter that is not there' "$retally" plan --source sim -e L2_HITZ
like "$(cat err)" "L2_HITS" 'the nearest one is named'
exits 2 'a source that does not count on the chip' "$retally" plan --source sim --chip gfx90a
like "$(cat err)" "'sim' does not count on gfx90a, 'rocm' does" 'is said'
exits 0 'counters are listed' "$retally" list counters --source sim
is "$(grep -v '\[' out | grep -c ' sim ')" 27 'all of them'
exits 0 'and the source' "$retally" list sources
like "$(cat out)" '^sim +the simulated device +yes' 'with what it is for'
cat >my.yaml <<'END'
chips: [sim]
counters:
  - {name: MINE, block: SEQ, event: "99"}
END
exits 2 'a counter that the device does not have' "$retally" plan --source sim --metrics-file my.yaml -e MINE
like "$(cat err)" "'MINE': the simulated device has no counter 99" 'is found before the run'
done_testing
