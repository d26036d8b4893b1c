#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# AMD plans without ROCm, and which GPU is here.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/rocm/rocm.sh" || exit 99
unset LD_LIBRARY_PATH

exits 2 'no GPU, no chip' env RETALLY_KFD=/nonexistent "$retally" plan --source rocm -e SQ_WAVES
like "$(cat err)" 'no AMD GPU in this machine .*--chip' 'says so, and what to do'
exits 0 'a chip that is elsewhere' "$retally" plan --source rocm --chip gfx90a --set full --count
is "$(cat out)" 12 'the full set of gfx90a: 12 passes'
exits 0 'another' "$retally" plan --source rocm --chip gfx942 --set full --count
is "$(cat out)" 12 'the full set of gfx942: 12 passes'
gpu 90010
exits 0 'the GPU that is here' "$retally" plan --source rocm -e SQ_WAVES
like "$(cat out)" 'for gfx90a: 1 pass' 'is found out'
gpu 90402
exits 0 'another one' "$retally" plan --source rocm -e SQ_WAVES
like "$(cat out)" 'for gfx942: 1 pass' 'is found out'
for wrong in 123456789 90010x 0x15f9a -90010 '90010 1' ''; do
	gpu "$wrong"
	exits 2 "the version '$wrong'" "$retally" plan --source rocm -e SQ_WAVES
	like "$(cat err)" "kfd/nodes/1/properties': '$wrong' is no gfx_target_version" 'is refused with its file'
	is "$(grep -c . err)" 1 'in one sentence'
done
gpu 90010
exits 0 'sources, without ROCm' "$retally" list sources
like "$(cat out)" 'rocm +counting on AMD GPUs +no +librocprofiler-sdk' 'says what is missing'
exits 0 'sources, with it' env LD_LIBRARY_PATH="$RETALLY_BUILD/tests/standins/rocm" "$retally" list sources
like "$(cat out)" 'rocm +counting on AMD GPUs +yes +gfx90a' 'says what is here'
done_testing
