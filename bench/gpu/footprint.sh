#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What replaying a kernel costs that could write GIB GiB and writes 4 KiB, in one window and in a window each.
#   bench/gpu/footprint.sh RETALLY COUNTERS-FILE OUT-DIR [GIB]
set -u
retally=$1 counters=$2 out=$3 gib=${4:-60}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
[ -x "$out/footprint" ] || nvcc -O2 -arch=native -o "$out/footprint" "$here/footprint.cu" || exit 1
for sync in none sync; do
	"$out/footprint" "$gib" 10 $sync >"$out/plain.out" 2>/dev/null
	rm -rf "$out/run"
	"$retally" run --source cuda -e "$(paste -sd, "$counters")" -k touch --replay window -o "$out/run" -- \
		"$out/footprint" "$gib" 10 $sync >"$out/ours.out" 2>"$out/ours.err"
	cmp -s "$out/plain.out" "$out/ours.out" && same=identical || same=DIFFERENT
	echo "$gib GiB, 10 kernels of 4 KiB, synchronised after each: $sync; output $same"
	"$retally" report "$out/run" --by window 2>&1 | sed -n '/^plan/p; /^replay/,$p'
	"$retally" report "$out/run" --by reason 2>&1 | sed -n '/^reason/,$p'
done
