#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Times and cycles of kernels under retally and under Nsight Compute on this GPU, over several processes of each
# (compare_means.py says why), taken in turns. Prints a table for bench/results.
#   bench/gpu/compare_times.sh RETALLY ELEMENTS ROUNDS PROCESSES OUT-DIR
# From the environment: REPLAY (window, kernel) of retally, NCU_REPLAY (kernel, application) of ncu, CACHE (keep, flush).
set -u
[ $# = 5 ] || { echo 'usage: compare_times.sh RETALLY ELEMENTS ROUNDS PROCESSES OUT-DIR' >&2; exit 2; }
retally=$1 elements=$2 rounds=$3 processes=$4 out=$5
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/gpu/lib.sh
. "$here/../../tests/gpu/lib.sh"
REPLAY=${REPLAY:-kernel} NCU_REPLAY=${NCU_REPLAY:-kernel} CACHE=${CACHE:-keep}
case $CACHE in keep) control=none ;; flush) control=all ;; *) echo "compare_times.sh: CACHE: '$CACHE' is none of: keep flush" >&2; exit 2 ;; esac
mkdir -p "$out"
[ -x "$out/kernels" ] || nvcc -O2 -arch=native -o "$out/kernels" "$here/kernels.cu" || exit 1
# These take several passes, so that memory is put back between them.
list=$( (counters; echo gpc__cycles_elapsed.max) | paste -sd,)
program=("$out/kernels" "$elements" "$rounds" "$rounds")
failed() { # WHAT FILE
	echo "compare_times.sh: $1 failed:" >&2
	tail -3 "$2" >&2
	exit 1
}
for i in $(seq "$processes"); do
	rm -rf "$out/run"
	"$retally" run --source cuda -e "$list" --replay "$REPLAY" --cache "$CACHE" -o "$out/run" -- "${program[@]}" \
		>"$out/ours.out" 2>"$out/ours.err" || failed 'the program under retally' "$out/ours.err"
	"$retally" report "$out/run" --by dispatch --format csv --wide --units base >"$out/ours.$i.csv" 2>"$out/report.err"
	ncu --clock-control none --cache-control $control --replay-mode "$NCU_REPLAY" --metrics "$list" --csv --page raw \
		--print-units base --log-file "$out/ncu.$i.csv" "${program[@]}" >"$out/ncu.out" 2>"$out/ncu.err" ||
		failed 'the program under ncu' "$out/ncu.err"
done
echo "$elements elements, $((3 * rounds)) kernels, $(sed -n 's/.* \([0-9]* of [0-9]* passes\).*/\1/p' "$out/ours.err" | head -1);" \
	"retally --replay $REPLAY --cache $CACHE, ncu --replay-mode $NCU_REPLAY --cache-control $control"
python3 "$here/compare_means.py" "$out" "$processes"
