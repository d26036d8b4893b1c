#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --repeat N and the labels of kernels, on the simulated device with noise that is known: cycles are off by up to 10 %,
# evenly, in each of two instances, so their standard deviation is 0.1 / sqrt(3) / sqrt(2) = 4.1 %.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
command -v python3 >/dev/null || skip_all 'no python3'
program=$programs/sim_program
run() { # DIR OPTION...
	exits 0 "$1: ends well" "$retally" run -q --source sim -o "$1" "${@:2}" -- "$program" 20 return
	"$retally" report "$1" --format json >"$1.json"
}
kernel() { # DIR KERNEL EXPRESSION of r
	python3 -c '
import json, sys
r = next(r for r in json.load(open(sys.argv[1]))["kernels"] if r["kernel"] == sys.argv[2])
print(eval(sys.argv[3]))' "$1.json" "$2" "$3"
}
five=L2_READS,L2_WRITES,L2_ATOMICS,L2_HITS,L2_MISSES

# What the device does is the same each time, and so are the anchors that are not noisy.
export RETALLY_SIM_NOISE=100
run same -e $five --replay window --repeat 5
for k in update vector_add walk; do
	is "$(kernel same $k '(r["sameness"], r["anchor_compared"], r["anchor_largest"], r["anchor_within"], r["anchor_between"])')" \
		"('deterministic', 21, 0, 0, 0)" "$k is deterministic, within and between passes"
done
like "$("$retally" report same)" '^  walk .* deterministic *$' 'the report says so'

# Cycles as the anchor: varying, by as much as the noise.
cp -r "$RETALLY_DATA" noisy
sed -i 's/^anchors: .*/anchors: [SEQ_CYCLES]/' noisy/chips/sim.yaml
RETALLY_DATA=$PWD/noisy run varies -e $five --replay window --repeat 20
for k in update vector_add walk; do
	is "$(kernel varies $k '(r["sameness"], r["anchor"], r["anchor_compared"])')" "('varying', 'SEQ_CYCLES', 21)" "$k is varying"
	is "$(kernel varies $k '0.037 < r["anchor_within"] < 0.045')" True "$k: 4.1 % within a pass ($(kernel varies $k 'r["anchor_within"]'))"
	# Means of 20: a 4.5th of it.
	is "$(kernel varies $k '0.005 < r["anchor_between"] < 0.014')" True "$k: 0.9 % between the means of two passes ($(kernel varies $k 'r["anchor_between"]'))"
	is "$(kernel varies $k 'r["anchor_typical"] <= r["anchor_largest"] < 0.1')" True "$k: and the largest difference of a dispatch"
done
like "$("$retally" report varies)" '^repeats    SEQ_CYCLES: standard deviation 4\.[0-9] % within a pass, [01]\.[0-9]+ % between passes' 'the report has both'
like "$("$retally" report varies)" '^  walk .* varying [0-9.]+ % \(SEQ_CYCLES\)' 'and the label with its figure'
RETALLY_SIM_NOISE=0 RETALLY_DATA=$PWD/noisy run calm -e $five --replay window --repeat 3
is "$(kernel calm walk '(r["sameness"], r["anchor_within"], r["anchor_between"])')" "('deterministic', 0, 0)" 'without noise the same anchor is the same'

# Nothing to compare.
run none --no-anchors -e $five --replay window
is "$(kernel none walk '(r["sameness"], r["anchor"], r["anchor_compared"])')" "('incomparable', None, 0)" 'without anchors: incomparable'
like "$("$retally" report none)" '^  walk .* incomparable' 'which the report says'
run dealt -e $five --distribute dispatch --seed 1
is "$(kernel dealt walk '(r["sameness"], r["anchor_compared"])')" "('incomparable', 0)" 'a pass for each dispatch: no dispatch is in two'
like "$("$retally" report dealt)" '^  walk .* incomparable \(0 of 21 in two passes\)' 'which the report says'
done_testing
