#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# retally against Nsight Compute on this GPU: the same counters of the same kernels, wall time of the
# program's loop under each, and how far the values differ (compare_values.py). Prints a table for bench/results.
#   bench/gpu/compare_ncu.sh RETALLY COUNTERS-FILE ELEMENTS ROUNDS OUT-DIR
# COUNTERS-FILE: one name a line; "set:NAME" as its only line compares ncu's --set full with our set.
# From the environment, for another pair of conditions: REPLAY (window, kernel) and CACHE (keep, flush) of retally,
# NCU_REPLAY (kernel, application) and NCU_CACHE (none, all) of ncu, PLACES of the histogram (kernels.cu).
set -u
one_of() { # NAME VALUE WORD...
	local name=$1 value=$2 word
	shift 2
	for word; do [ "$value" = "$word" ] && return; done
	echo "compare_ncu.sh: $name: '$value' is none of: $*" >&2
	exit 2
}
[ $# = 5 ] || { echo 'usage: compare_ncu.sh RETALLY COUNTERS-FILE ELEMENTS ROUNDS OUT-DIR' >&2; exit 2; }
one_of REPLAY "${REPLAY:=window}" window kernel
one_of CACHE "${CACHE:=keep}" keep flush
one_of NCU_REPLAY "${NCU_REPLAY:=kernel}" kernel application
one_of NCU_CACHE "${NCU_CACHE:=none}" none all
retally=$1 counters=$2 elements=$3 rounds=$4 out=$5
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out"
[ -x "$out/kernels" ] || nvcc -O2 -arch=native -o "$out/kernels" "$here/kernels.cu" || exit 1
kernels=$((3 * rounds))
list=$(paste -sd, "$counters")
ours=(-e "$list") theirs=(--metrics "$list")
case $list in set:*) ours=(--set "${list#set:}") theirs=(--set full) ;; esac
# With ncu's application replay the program runs once a pass: all its loops.
loop() { awk '$1 == "loop_ms" { sum += $2; n++ } END { if (n) print sum }' "$1"; }
failed() { # STATUS WHAT FILE
	[ "$1" = 0 ] && return
	echo "compare_ncu.sh: $2 ended with status $1:" >&2
	tail -3 "$3" >&2
	exit 1
}
program=("$out/kernels" "$elements" "$rounds" "${PLACES:-1}")
"${program[@]}" >"$out/plain.out" 2>"$out/plain.err"
failed $? 'the program' "$out/plain.err"
rm -rf "$out/run"
"$retally" run --source cuda "${ours[@]}" --replay "$REPLAY" --cache "$CACHE" -o "$out/run" -- "${program[@]}" \
	>"$out/ours.out" 2>"$out/ours.err"
failed $? 'the program under retally' "$out/ours.err"
ncu --clock-control none --cache-control "$NCU_CACHE" --replay-mode "$NCU_REPLAY" "${theirs[@]}" \
	--csv --page raw --print-units base --log-file "$out/ncu.csv" "${program[@]}" >"$out/ncu.out" 2>"$out/ncu.err"
failed $? 'the program under ncu' "$out/ncu.err"
"$retally" report "$out/run" --by dispatch --format csv --wide --units base >"$out/ours.csv" 2>"$out/report.err"
same=identical
cmp -s "$out/plain.out" "$out/ours.out" || same=DIFFERENT
a=$(loop "$out/plain.err") b=$(loop "$out/ours.err") c=$(loop "$out/ncu.err")
passes=$(sed -n 's/.* \([0-9]* of [0-9]* passes\).*/\1/p' "$out/ours.err" | head -1)
echo "$kernels kernels, $elements elements, $(wc -l <"$counters") lines of counters; plain ${a:-?} ms, retally ${b:-?} ms ($passes)," \
	"ncu ${c:-?} ms: $(awk -v b="${b:-0}" -v c="${c:-0}" 'BEGIN { if (b > 0) printf "%.1f", c / b; else printf "?" }') times; output $same"

python3 "$here/compare_values.py" "$out/ours.csv" "$out/ncu.csv" >"$out/values.txt" 2>&1
grep -E '^(counts|times|ratios|DRAM)|dispatches of|no counter' "$out/values.txt"
