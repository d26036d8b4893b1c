#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The tool library that the tests load is the one that is installed, bit for bit; model.sh asks the same on AMD's libraries.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/rocm/rocm.sh" || exit 99
shipped=$(sha256sum "$libretally" | cut -d' ' -f1)
for chip in '90010 gfx90a' '90402 gfx942'; do
	gpu "${chip% *}"
	export RETALLY_T0_AGENTS=${chip#* }
	alone accumulate
	for options in '--replay kernel' '--replay window' '--distribute dispatch'; do
		# shellcheck disable=SC2086
		HSA_MAPS_TO=$sandbox/maps run dir accumulate $options -e SQ_WAVES
		is "$status $(cat out)" "0 $(cat alone.accumulate)" "${chip#* }, $options: runs"
		is "$(tool_library maps)" "$shipped" "${chip#* }, $options: what is loaded is the library that is shipped"
		rm -f maps
	done
done
if ! command -v meson >meson_is || ! DESTDIR=$sandbox/installed meson install -C "$RETALLY_BUILD" --no-rebuild --quiet --tags runtime >log 2>&1; then
	skip "meson install: $(tail -1 log)" 'the installed library'
	done_testing
fi
find installed -name libretally.so -exec sha256sum {} + | cut -d' ' -f1 >sums
is "$(cat sums)" "$shipped" 'it is installed as it was tested'
# What it needs is there without ROCm, and nothing of ROCm is linked.
readelf -d "$libretally" | grep -E 'NEEDED' >needed
unlike "$(cat needed)" 'roc|hsa|hip|amd' 'no library of ROCm is needed'
LD_LIBRARY_PATH='' LD_PRELOAD=$libretally sh -c 'echo ran' >out 2>err
is "$(cat out err)" ran 'a program without ROCm runs with it'
done_testing
