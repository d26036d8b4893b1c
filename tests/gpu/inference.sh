#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# PyTorch inference of small models under retally on this GPU: the outputs are bit for bit those without, in window,
# kernel and auto mode, with one pass and with several; every kernel has values or is declined by name. Needs a GPU,
# PyTorch, and leave to read its counters.
#   tests/gpu/inference.sh RETALLY OUT-DIR [MODEL...]       models: transformer convolutions graph
set -u
retally=${1:?use: tests/gpu/inference.sh RETALLY OUT-DIR} out=${2:?the directory for what it leaves}
shift 2
[ $# -gt 0 ] && models=("$@") || models=(transformer convolutions graph)
here=$(cd "$(dirname "$0")" && pwd)
# shellcheck source=tests/gpu/lib.sh
. "$here/lib.sh"
mkdir -p "$out" && cd "$out" || exit 1
machine_torch || exit 1
many=$(counters | paste -sd,)
steps=${STEPS:-3}
for model in "${models[@]}"; do
	for i in 1 2; do
		timeout 120 python3 "$here/inference.py" "$model" "$steps" >"$model.plain.$i" 2>"$model.plain.err"
		check $? "$model: runs without retally"
	done
	cmp -s "$model.plain.1" "$model.plain.2"
	check $? "$model: is the same each time without retally"
	for how in window.one window.many kernel.many auto.many; do
		mode=${how%.*} list=smsp__inst_executed.sum run=$model.$how
		[ "${how#*.}" = many ] && list=$many
		rm -rf "$run"
		timeout 240 "$retally" run --source cuda -e "$list" --replay "$mode" -o "$run" -- \
			python3 "$here/inference.py" "$model" "$steps" >"$run.out" 2>"$run.err"
		check $? "$run: ends with status 0"
		[ -s "$model.plain.1" ] && cmp -s "$model.plain.1" "$run.out"
		check $? "$run: outputs bit for bit the same"
		accounted "$run"
		check $? "$run: $accounted"
		echo "# $run: loop $(sed -n 's/^loop_ms //p' "$run.err") ms, without retally $(sed -n 's/^loop_ms //p' "$model.plain.err") ms"
		"$retally" report "$run" --by reason 2>/dev/null | sed -n '/^declined/,$s/^/# /p'
	done
done
ended
