#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Collectives of NCCL under retally, one process a GPU of this machine (one GPU will do): same output and status as
# without, in window, kernel and auto mode; kernels of NCCL's collectives are declined by that name and have run as
# often as the program launched them; every other kernel has values or a reason. Needs PyTorch.
#   tests/gpu/nccl.sh RETALLY OUT-DIR [RANKS]
set -u
retally=${1:?use: tests/gpu/nccl.sh RETALLY OUT-DIR} out=${2:?the directory for what it leaves}
shift 2
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/gpu/lib.sh
. "$here/lib.sh"
mkdir -p "$out" && cd "$out" || exit 1
machine
python3 -c 'import torch; print("PyTorch", torch.__version__, "NCCL", torch.cuda.nccl.version())' || exit 1
many=$(counters | paste -sd,)
ranks=${1:-$(python3 -c 'import torch; print(torch.cuda.device_count())')}
timeout 120 python3 "$here/nccl.py" "$ranks" >plain 2>plain.err
check $? 'runs without retally'
for mode in window kernel auto; do
	rm -rf "run.$mode"
	# A collective that ran twice in one process waits for its peers for ever.
	timeout 240 "$retally" run --source cuda -e "$many" --replay "$mode" -o "run.$mode" -- \
		python3 "$here/nccl.py" "$ranks" >"$mode.out" 2>"$mode.err"
	check $? "$mode: ends with status 0"
	[ -s plain ] && cmp -s plain "$mode.out"
	check $? "$mode: the same output"
	accounted "run.$mode"
	check $? "$mode: $accounted"
	declined=$(reasons "run.$mode" | awk -F '\t' '$3 ~ /^a collective/ { n += $1 } END { print n + 0 }')
	replayed=$("$retally" report "run.$mode" --by dispatch --kernel-name mangled --format csv --wide 2>/dev/null | python3 -c 'import csv, sys
print(sum("nccl" in row["kernel"] and row["replayed"] == "true" for row in csv.DictReader(sys.stdin)))')
	[ "$replayed" = 0 ] && { [ "$ranks" = 1 ] || [ "$declined" -gt 0 ]; }
	check $? "$mode: of NCCL's collectives $declined declined by that name, ${replayed:-?} replayed"
	[ "$declined" -gt 0 ] || echo "# $mode: NCCL launched no kernel of a collective: with one rank it copies"
	reasons "run.$mode" | sed 's/^/# /'
done
ended
