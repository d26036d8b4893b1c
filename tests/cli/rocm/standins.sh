#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The model device itself, without retally: programs give the same output whatever its timing, wrong ones are found.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/rocm/rocm.sh" || exit 99
export RETALLY_T0_AGENTS=gfx90a,gfx942

for trap in accumulate many atomics through_pointer module_variable two_queues waits_for_host waits_for_kernel freed \
	lists astray arguments_change copies virtual_memory batch collective threads two_gpus forks; do
	rm -f report
	timeout 60 "$traps" $trap >first 2>err
	is "$?" 0 "$trap: ends"
	like "$(cat first)" '[0-9a-f]{16}$' "$trap: prints a sum"
	same=yes
	for seed in 2 3; do
		RETALLY_T0_SEED=$seed RETALLY_T0_KERNEL_US=300 timeout 60 "$traps" $trap >again 2>err
		cmp -s first again || same="no, with seed $seed"
	done
	is "$same" yes "$trap: the same with other timing"
	unlike "$(cat report)" 'work in flight' "$trap: nothing is left running"
done
timeout 60 "$traps" accumulate >first
timeout 60 "$traps" accumulate 5 >again
if cmp -s first again; then false; else true; fi
ok $? 'another number of launches: another sum'

wrong() { # TRAP SIGNAL TEXT
	rm -f report
	{ timeout 60 "$traps" "$1" >out 2>err; } 2>/dev/null
	is "$?" $((128 + $2)) "$1: ends by signal $2"
	[ -z "$3" ] || like "$(cat report)" "$3" "$1: the report tells"
}
wrong host_touches 11 ''
wrong kernel_beyond 6 'memory fault: a kernel touches 4100 bytes .* 4096 are allocated'
wrong kernel_after_free 6 'memory fault: a kernel .*, not allocated'
rm -f report
timeout 60 "$traps" ends_early >out 2>err
is "$? $(cat out)" '7 ends_early' 'a program that ends with work in flight ends with its own status'

# Faults on demand, as a program without retally sees them.
RETALLY_T0_FAULTS=copy:1 timeout 60 "$traps" accumulate >out 2>err
is "$?" 3 'a copy that fails is reported to the program'
RETALLY_T0_FAULTS=alloc:1 timeout 60 "$traps" accumulate >out 2>err
is "$?" 3 'and memory that cannot be had'
RETALLY_T0_VRAM=1024 timeout 60 "$traps" accumulate >out 2>err
is "$?" 3 'also when there is too little of it'
{ RETALLY_T0_FAULTS=nonsense:1 timeout 60 "$traps" accumulate >out 2>err; } 2>/dev/null
is "$?" 134 'an unknown fault is refused'
# No tool: no SDK is loaded.
rm -f report
LD_DEBUG=libs timeout 60 "$traps" accumulate >out 2>err
unlike "$(cat err)" 'librocprofiler-sdk\.so' 'without a tool the SDK is not loaded'
done_testing
