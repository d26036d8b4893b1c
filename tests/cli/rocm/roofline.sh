#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The set `roofline` on the stand-ins for gfx90a and gfx942, from the command to the page: ceilings are those of the chip's
# file and say so; marks, times the kernel's time, are what one gets by hand from what the stand-ins count
# (sdk_counters.c): (1 + event % 16) for each of the 1024 work-items of a dispatch of `accumulate`.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/rocm/rocm.sh" || exit 99
command -v python3 >/dev/null || skip_all 'no python3'
export PYTHONDONTWRITEBYTECODE=1
mark() { # TITLE TERM...: a term is FACTOR*COUNTER
	local title=$1 sum=0 term event
	shift
	for term; do
		event=$(sed -n "s/^BASE(${term#*\*}, [A-Z]*, \([0-9]*\))/\1/p" "$RETALLY_SOURCE/tests/standins/rocm/sdk_$chip.def")
		sum=$((sum + ${term%%\**} * (1 + event % 16) * 1024))
	done
	awk -v title="$title" -v sum="$sum" 'BEGIN { printf "%s|%.6g\n", title, sum }'
}
vector() { # BITS
	local f=F$1 v=SQ_INSTS_VALU
	mark "$1-bit floats, vector" "64*${v}_ADD_$f" "64*${v}_MUL_$f" "64*${v}_TRANS_$f" "128*${v}_FMA_$f"
}
matrix() { mark "$1, matrix" "512*SQ_INSTS_VALU_MFMA_MOPS_$2"; }
for which in '90010 gfx90a' '90402 gfx942'; do
	gpu "${which% *}"
	chip=${which#* }
	export RETALLY_T0_AGENTS=$chip
	# Units * MHz of the chip's file, operations a clock and unit of its metric file, in GFLOP/s; bytes a clock and channel.
	if [ "$chip" = gfx90a ]; then
		alu=$((110 * 1700)) half=1024 memory=$((32 * 1600 * 32)) ea=TCC_EA
	else
		alu=$((304 * 2100)) half=2048 memory=$((32 * 1300 * 128)) ea=TCC_EA0
	fi
	ceiling() { awk -v t="$1" -v f="$2" -v a="$3" -v u="$4" 'BEGIN { printf "%s|%.9g %s|chip file\n", t, f * a / 1000, u }'; }
	{
		ceiling '64-bit floats, vector' 128 $alu GFLOP/s
		ceiling '32-bit floats, vector' 256 $alu GFLOP/s
		ceiling '64-bit floats, matrix' 256 $alu GFLOP/s
		ceiling '32-bit floats, matrix' 256 $alu GFLOP/s
		ceiling '16-bit floats, matrix' $half $alu GFLOP/s
		ceiling 'bfloat16, matrix' $half $alu GFLOP/s
		[ "$chip" = gfx90a ] || ceiling '8-bit floats, matrix' 4096 $alu GFLOP/s
		ceiling 'Device memory' 1 "$memory" GB/s
		vector 64
		vector 32
		matrix '64-bit floats' F64
		matrix '32-bit floats' F32
		matrix '16-bit floats' F16
		matrix bfloat16 BF16
		[ "$chip" = gfx90a ] || matrix '8-bit floats' F8
		# Reads of 64 bytes unless they are of 32; on gfx942 of 128, too.
		if [ "$chip" = gfx90a ]; then
			mark 'Device memory' "64*${ea}_RDREQ" "-32*${ea}_RDREQ_32B" "32*${ea}_WRREQ" "32*${ea}_WRREQ_64B"
		else
			mark 'Device memory' "64*${ea}_RDREQ" "-32*${ea}_RDREQ_32B" '64*TCC_BUBBLE' "32*${ea}_WRREQ" "32*${ea}_WRREQ_64B"
		fi
	} >by_hand
	alone accumulate
	for mode in window kernel; do
		run dir accumulate --set roofline --replay "$mode"
		is "$status $(cat out)" "0 $(cat alone.accumulate)" "$chip, $mode: runs"
		clean "$chip, $mode" accumulate
		"$retally" report dir --format html >page.html
		python3 "$RETALLY_SOURCE/tests/cli/report/roofline.py" page.html accumulate 'done' >lines
		is "$(cat lines)" "$(cat by_hand)" "$chip, $mode: ceilings of the chip's file, and the marks by hand"
	done
done
done_testing
