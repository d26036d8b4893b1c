#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# code.sh OUT: a code object for gfx942 with the names of the model's kernels, whose code ends at once (the model runs
# functions of its own), and with the variables "total" and "table". Exit status 77 without an assembler for AMD GPUs.
set -eu
out=${1:?use: code.sh OUT}
cc=
for c in ${CLANG:-} clang-19 clang-18 clang-17 clang; do
	if command -v "$c" >/dev/null && "$c" --print-targets 2>/dev/null | grep -q amdgcn; then cc=$c && break; fi
done
[ -n "$cc" ] || { echo 'no clang 17 or later with the target amdgcn' >&2; exit 77; }
ld=
for l in ${LLD:-} "ld.lld${cc#clang}" ld.lld; do
	if command -v "$l" >/dev/null; then ld=$l && break; fi
done
[ -n "$ld" ] || { echo 'no ld.lld' >&2; exit 77; }
# NAME BYTES-OF-ARGUMENTS
kernels='accumulate 16
atomics 24
through_pointer 16
module_variable 8
produce 16
consume 24
wait_for_flag 24
set_flag 16
fill 16
copy 24
append 24
only_once 24
astray 16
nothing 0
ncclDevKernel_AllReduce_Sum_f32_RING_LL 16
_Z5scalePfi 16'
{
	echo '.amdgcn_target "amdgcn-amd-amdhsa--gfx942"'
	echo '.data'
	printf '.globl total\n.p2align 2\n.type total,@object\n.size total,4\ntotal:\n.long 0\n'
	printf '.section .rodata,"a",@progbits\n.globl table\n.p2align 2\n.type table,@object\n.size table,4096\ntable:\n.zero 4096\n'
	echo "$kernels" | while read -r name bytes; do
		printf '.text\n.globl %s\n.p2align 8\n.type %s,@function\n%s:\n  s_endpgm\n.Lend_%s:\n.size %s,.Lend_%s-%s\n' \
			"$name" "$name" "$name" "$name" "$name" "$name" "$name"
		printf '.section .rodata,"a",@progbits\n.p2align 6\n.amdhsa_kernel %s\n .amdhsa_kernarg_size %s\n .amdhsa_next_free_vgpr 8\n .amdhsa_next_free_sgpr 8\n .amdhsa_accum_offset 8\n.end_amdhsa_kernel\n' \
			"$name" "$bytes"
	done
	printf '.amdgpu_metadata\n---\namdhsa.version: [1, 2]\namdhsa.target: amdgcn-amd-amdhsa--gfx942\namdhsa.kernels:\n'
	echo "$kernels" | while read -r name bytes; do
		printf '  - .name: %s\n    .symbol: %s.kd\n    .kernarg_segment_size: %s\n    .group_segment_fixed_size: 0\n    .private_segment_fixed_size: 0\n    .kernarg_segment_align: 8\n    .wavefront_size: 64\n    .sgpr_count: 8\n    .vgpr_count: 8\n    .agpr_count: 0\n    .max_flat_workgroup_size: 1024\n' \
			"$name" "$name" "$bytes"
	done
	printf '...\n.end_amdgpu_metadata\n'
} >"$out.s"
"$cc" -x assembler -target amdgcn-amd-amdhsa -mcpu=gfx942 -c "$out.s" -o "$out.o"
"$ld" -shared "$out.o" -o "$out"
rm -f "$out.s" "$out.o"
