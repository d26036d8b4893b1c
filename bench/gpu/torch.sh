#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A PyTorch program plain, under retally, and its first kernels under Nsight Compute: losses compared bit by bit,
# time a kernel of each. Needs PyTorch, a GPU and leave to read its counters.
#   bench/gpu/torch.sh RETALLY COUNTERS-FILE OUT-DIR [NCU-KERNELS [train|infer [STEPS]]]
set -u
retally=$1 counters=$2 out=$3 some=${4:-100} mode=${5:-train} steps=${6:-3}
here=$(cd "$(dirname "$0")" && pwd)
program="$here/../../tests/gpu/transformer.py"
mkdir -p "$out"
export CUBLAS_WORKSPACE_CONFIG=:4096:8
list=$(paste -sd, "$counters")
loop() { sed -n 's/^loop_ms //p' "$1"; }
python3 "$program" "$mode" "$steps" >"$out/plain.out" 2>"$out/plain.err" || { tail -3 "$out/plain.err"; exit 1; }
rm -rf "$out/run"
"$retally" run --source cuda -e "$list" --replay window -o "$out/run" -- python3 "$program" "$mode" "$steps" >"$out/ours.out" 2>"$out/ours.err"
echo "status $?"
cmp -s "$out/plain.out" "$out/ours.out" && same='bit by bit the same' || same=DIFFERENT
grep -v '^loop_ms' "$out/ours.err"
"$retally" report "$out/run" --by window 2>&1 | sed -n '/^replay/,$p'
"$retally" report "$out/run" --by reason 2>&1 | sed -n '/^reason/,$p'
kernels=$("$retally" report "$out/run" --by dispatch --format csv --wide 2>/dev/null | awk 'NR > 1' | wc -l)
plain=$(loop "$out/plain.err") ours=$(loop "$out/ours.err")
echo "$mode, $steps steps, $kernels kernels, $(wc -l <"$counters") counters: losses $same; plain $plain ms, retally $ours ms," \
	"$(awk -v a="$plain" -v b="$ours" -v n="$kernels" 'BEGIN { printf "%.1f ms a kernel", (b - a) / n }')"
[ "$some" -gt 0 ] || exit 0
# The same loop, of which Nsight Compute replays the first kernels only; what it needs for the others is not seen. It
# is given two minutes.
timeout 120 ncu --clock-control none --cache-control none --metrics "$list" --launch-count "$some" --csv --page raw --print-units base \
	--log-file "$out/ncu.csv" python3 "$program" "$mode" "$steps" >"$out/ncu.out" 2>"$out/ncu.err"
status=$?
theirs=$(loop "$out/ncu.err")
[ -n "$theirs" ] || { echo "ncu, the first $some kernels: no result, status $status (124: not within two minutes; give fewer NCU-KERNELS)"; exit 1; }
seen=$(grep -c '^"[0-9]' "$out/ncu.csv")
cmp -s "$out/plain.out" "$out/ncu.out" && same='bit by bit the same' || same=DIFFERENT
echo "ncu, $seen of the first $some kernels: losses $same; $theirs ms," \
	"$(awk -v a="$plain" -v b="$theirs" -v n="$seen" 'BEGIN { if (n > 0) printf "%.1f ms a kernel", (b - a) / n }')"
awk -v a="$plain" -v b="$ours" -v n="$kernels" -v c="$theirs" -v m="$seen" \
	'BEGIN { if (n > 0 && m > 0 && b > a) printf "%.1f times faster a kernel\n", ((c - a) / m) / ((b - a) / n) }'
