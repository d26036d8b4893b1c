#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What a launch costs without anything, under the least that a CUPTI tool can do (an empty callback), and under retally
# with a filter that matches nothing.      bench/gpu/overhead.sh RETALLY OUT-DIR
set -u
retally=$1 out=$2
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
nvcc -O2 -arch=native -o "$out/launches" "$here/launches.cu" || exit 1
cc -O2 -shared -fPIC -o "$out/empty_callback.so" "$here/empty_callback.c" -ldl || exit 1
for round in 1 2 3; do
	plain=$("$out/launches")
	empty=$(CUDA_INJECTION64_PATH=$out/empty_callback.so "$out/launches")
	rm -rf "$out/run"
	ours=$("$retally" run -q --source cuda -e smsp__inst_executed.sum -k exact:matches-nothing --replay window -o "$out/run" -- \
		"$out/launches" 2>"$out/err")
	echo "round $round: plain $plain; empty callback $empty; retally, filter matches nothing $ours;" \
		"$(awk -v a="${empty%% *}" -v b="${ours%% *}" 'BEGIN { printf "ratio %.2f", b / a }')"
done
