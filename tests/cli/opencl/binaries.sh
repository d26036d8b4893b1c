#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# OpenCL programs that come as binaries, built by another process, or are linked of several: what they say of
# themselves is in the binary only. Replayed where it has no variable that keeps its value, declined by name where it
# has one; same output always.
# shellcheck disable=SC1091,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
program=$programs/opencl_binary
[ -x "$program" ] || skip_all 'built without OpenCL'
export POCL_CACHE_DIR=$sandbox/pocl
mkdir pocl
keeps='its program has variables at program scope'
# NAME REASON COMMAND...: by kernel and by window: replayed (no reason), or declined for it
try() {
	local name=$1 reason=$2 mode
	shift 2
	timeout 60 "$program" "$@" >plain
	case $? in 0) ;; 77) skip "$(tail -1 plain)" "$name" && return ;; *) ok 1 "$name: the program alone" && return ;; esac
	for mode in kernel window; do
		rm -rf r
		exits 0 "$name, by $mode: ends well" timeout 120 "$retally" run --replay $mode -e task-clock,page-faults -o r -- "$program" "$@"
		cmp -s plain out
		ok $? "$name, by $mode: same output"
		if [ -n "$reason" ]; then
			like "$(cat err)" "^  declined: 5 dispatches of k: $reason" "$name, by $mode: declined by name"
		else
			is "$("$retally" report r --by window --format csv | awk -F, 'NR > 1 && $3 == "true" { d += $5 } END { print d + 0 }')" 5 \
				"$name, by $mode: replayed"
		fi
	done
}
saved() { # NAME REASON OPTIONS SOURCE
	timeout 60 "$program" save k.bin "$4" "$3" >out 2>&1
	case $? in 0) ;; 77) skip "$(tail -1 out)" "$1" && return ;; *) ok 1 "$1: it is saved" && return ;; esac
	try "$1" "$2" run k.bin
}
"$program" save k.bin 'kernel void k(global int *a) { a[0] = 1; }' '' >out 2>&1 || skip_all "$(tail -1 out)"
saved 'nothing is kept' '' '' 'kernel void k(global int *a) { a[get_global_id(0)] += (int)get_global_id(0); }'
saved 'nothing is kept, OpenCL C 2.0' '' -cl-std=CL2.0 'kernel void k(global int *a) { a[get_global_id(0)] += 3; }'
saved 'constants and local memory' '' '' 'constant int t[3] = {4, 5, 6};
	kernel void k(global int *a) { local int l[8]; size_t i = get_local_id(0); if (i < 8) l[i] = t[i % 3];
		barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] += l[(i + 1) % 8 % get_local_size(0)]; }'
saved 'functions of the library' '' '' 'kernel void k(global int *a) { float x = a[get_global_id(0)];
	a[get_global_id(0)] = (int)(sin(x) * 10 + pow(x, 1.5f) + lgamma(x + 1) + tan(x)) % 100 + 1; }'
saved 'a variable' "$keeps" -cl-std=CL2.0 'global int c = 5; kernel void k(global int *a) { if (!get_global_id(0)) { c += 3; a[0] += c; } }'
saved 'a variable that begins with 0' "$keeps" -cl-std=CL2.0 'global int c; kernel void k(global int *a) { if (!get_global_id(0)) { c += 3; a[0] += c; } }'
saved 'an array' "$keeps" -cl-std=CL2.0 'global int c[64]; kernel void k(global int *a) { size_t i = get_global_id(0); a[i] += ++c[i]; }'
saved 'it prints' 'its program prints' '' 'kernel void k(global int *a) { if (!get_global_id(0)) printf("k %d\n", a[0]); a[get_global_id(0)] += 1; }'
user='int f(int x); kernel void k(global int *a) { size_t i = get_global_id(0); a[i] = f(a[i]); }'
try 'linked of two' '' link "$user" 'int f(int x) { return x * 2 + 1; }' ''
try 'linked of two, one with a variable' "$keeps" link "$user" \
	'global int c[64]; int f(int x) { size_t i = get_global_id(0); return x + ++c[i]; }' -cl-std=CL2.0
# The options allow variables and the source includes text: the binary says that there are none.
echo 'int f(int x) { return x + 7; }' >f.h
printf '#include "f.h"\nkernel void k(global int *a) { size_t i = get_global_id(0); a[i] = f(a[i]); }\n' >k.cl
try 'a source with an include' '' link "$(cat k.cl)" 'int g(int x) { return x; }' "-cl-std=CL2.0 -I$PWD"
done_testing
