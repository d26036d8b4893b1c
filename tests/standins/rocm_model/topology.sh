#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# topology.sh DIRECTORY: the kernel's description of a machine with one CPU and one GPU like a die of gfx942, as libhsakmt
# reads it from HSA_MODEL_TOPOLOGY.
set -eu
d=${1:?use: topology.sh DIRECTORY}
rm -rf "$d"
for node in 0 1; do mkdir -p "$d/nodes/$node/mem_banks/0" "$d/nodes/$node/io_links/0" "$d/nodes/$node/caches"; done
echo 1 >"$d/generation_id"
printf 'platform_oem 0\nplatform_id 0\nplatform_rev 0\n' >"$d/system_properties"
properties() { # NODE, lines NAME VALUE on stdin; those that both nodes have first
	{ printf 'mem_banks_count 1\ncaches_count 0\nio_links_count 1\np2p_links_count 0\ncpu_core_id_base 0\n'; cat; } >"$d/nodes/$1/properties"
}
bank() { # NODE TYPE BYTES WIDTH CLOCK
	printf 'heap_type %s\nsize_in_bytes %s\nflags 0\nwidth %s\nmem_clk_max %s\n' "$2" "$3" "$4" "$5" >"$d/nodes/$1/mem_banks/0/properties"
}
link() { # FROM TO
	printf 'type 2\nversion_major 0\nversion_minor 0\nnode_from %s\nnode_to %s\nweight 20\nmin_latency 0\nmax_latency 0\nmin_bandwidth 312\nmax_bandwidth 64000\nrecommended_transfer_size 0\nflags 1\n' "$1" "$2" >"$d/nodes/$1/io_links/0/properties"
}
echo 0 >"$d/nodes/0/gpu_id"
echo >"$d/nodes/0/name"
properties 0 <<'END'
cpu_cores_count 2
simd_count 0
simd_id_base 0
max_waves_per_simd 0
lds_size_in_kb 0
gds_size_in_kb 0
num_gws 0
wave_front_size 0
array_count 0
simd_arrays_per_engine 0
cu_per_simd_array 0
simd_per_cu 0
max_slots_scratch_cu 0
gfx_target_version 0
vendor_id 0
device_id 0
location_id 0
domain 0
drm_render_minor 0
hive_id 0
num_sdma_engines 0
num_sdma_xgmi_engines 0
num_sdma_queues_per_engine 0
num_cp_queues 0
max_engine_clk_ccompute 2000
END
bank 0 0 8589934592 64 2400
link 0 1
echo 2 >"$d/nodes/1/gpu_id"
echo ip_discovery >"$d/nodes/1/name"
properties 1 <<'END'
cpu_cores_count 0
simd_count 160
simd_id_base 2147487744
max_waves_per_simd 8
lds_size_in_kb 64
gds_size_in_kb 0
num_gws 64
wave_front_size 64
array_count 4
simd_arrays_per_engine 1
cu_per_simd_array 10
simd_per_cu 4
max_slots_scratch_cu 32
gfx_target_version 90402
vendor_id 4098
device_id 29857
location_id 768
domain 0
drm_render_minor 128
hive_id 0
num_sdma_engines 2
num_sdma_xgmi_engines 0
num_sdma_queues_per_engine 8
num_cp_queues 24
max_engine_clk_fcompute 1700
local_mem_size 0
fw_version 78
capability 170404480
sdma_fw_version 8
unique_id 81985529216486895
num_xcc 1
max_engine_clk_ccompute 2000
END
bank 1 1 4294967296 4096 1600
link 1 0
