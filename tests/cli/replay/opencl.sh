#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# An ordinary OpenCL program on a CPU device, its kernels replayed over the command: same output, every dispatch counted.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
program=$RETALLY_BUILD/examples/opencl_diffusion
[ -x "$program" ] || skip_all 'no OpenCL headers when this was built'
"$program" >plain 2>/dev/null || skip_all 'no OpenCL device'
"$retally" doctor | grep -q '^ok .*OpenCL device' || skip_all 'no OpenCL device that is a CPU'
counters=task-clock,page-faults,context-switches
for mode in kernel window; do
	exits 0 "--replay $mode" "$retally" run --replay $mode -e $counters -o $mode -- "$program"
	cmp -s plain out; ok $? "$mode: the output"
	like "$(cat err)" '3 kernels, 81 dispatches, 1 of 1 passes, 3 of 3 counters' "$mode: every dispatch is counted"
	is "$("$retally" report $mode --by dispatch --format csv -e task-clock | awk -F, 'NR > 1 { print $1 }' | sort | uniq -c | tr -s ' \n' ' ')" \
		' 40 diffuse 40 heat 1 sum ' "$mode: of each kernel"
done
like "$("$retally" report window --by window --format csv)" '^10-99,clFinish,true,4,' 'windows end at clFinish'
exits 0 'a filter and one pass' "$retally" run --replay kernel -k sum --pass 1/1 -e $counters -o sum -- "$program"
like "$(cat err)" '1 kernel, 1 dispatch,' 'leave one dispatch'
exits 0 'a plan without CPU counters' "$retally" run --source sim --replay window -o sim -- "$program"
cmp -s plain out; ok $? 'the output'
like "$(cat err)" 'declined: .*no counter of the plan is of source perf' 'nothing to count there, and why'
traps=$programs/opencl_traps
exits 0 'another program' "$traps"
cp out plain
# Counts that are always the same, 0: how often others differ is the machine's business.
exits 0 '--until' "$retally" run --distribute dispatch --no-anchors --until 90% -e alignment-faults,emulation-faults -o until -- "$traps"
cmp -s plain out; ok $? 'until: the output'
like "$("$retally" report until)" '^  inc +569 +[1-9][0-9]* .* [1-9][0-9]* left out, known after' 'until: dispatches are left out when enough is known'
exits 0 'application mode is the default for these counters' "$retally" run -e $counters -o whole -- "$program"
like "$(cat err)" '^retally: opencl_diffusion: 1 of 1 passes' 'of the process'
done_testing
