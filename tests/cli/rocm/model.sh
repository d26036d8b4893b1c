#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# AMD's own libraries, where RETALLY_ROCM_PREFIX names an installed ROCm 7, on a GPU that is a model of ours
# (tests/standins/rocm_model): the programs, the misuse probe, and the shipped libretally.so.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
[ -n "${RETALLY_ROCM_PREFIX:-}" ] || skip_all 'RETALLY_ROCM_PREFIX names no installed ROCm 7'
real=$RETALLY_ROCM_PREFIX/lib
[ -e "$real/libhsa-runtime64.so.1" ] || skip_all "there is no libhsa-runtime64.so.1 in $real"
. "$RETALLY_SOURCE/tests/cli/rocm/rocm.sh" || exit 99
standins=$RETALLY_BUILD/tests/standins
model=$standins/rocm_model
[ -e "$model/rocm_model.so" ] || skip_all 'the model GPU is for x86-64'
"$RETALLY_SOURCE/tests/standins/rocm_model/code.sh" code 2>why || skip_all "no code object for the model GPU: $(cat why)"
"$RETALLY_SOURCE/tests/standins/rocm_model/topology.sh" "$sandbox/topology"
mkdir -p kfd && cp -r topology/nodes kfd/
unset LD_LIBRARY_PATH
# The SDK reads the kernel's own files, so they are put there, in a mount namespace of the program's own.
cat >with_topology <<'END'
#!/bin/sh
mount -t tmpfs none /sys/class && mkdir -p /sys/class/kfd/kfd && cp -r "$HSA_MODEL_TOPOLOGY" /sys/class/kfd/kfd/topology || exit 125
exec "$@"
END
chmod +x with_topology
namespace='unshare -m'
[ "$(id -u)" = 0 ] || namespace='unshare -rm'
HSA_MODEL_TOPOLOGY=$sandbox/topology $namespace ./with_topology true 2>why || skip_all "no mount namespace: $(cat why)"
# The runtime's threads poll in model mode, so that a busy machine makes all of it slow; what ends must not be taken for
# what hangs.
patience=900
on_model() { # COMMAND...
	$namespace env HSA_MODEL_LIB="$model/rocm_model.so" HSA_MODEL_TOPOLOGY="$sandbox/topology" \
		HSA_SCRATCH_SINGLE_LIMIT=0 RETALLY_T1_CODE="$sandbox/code" \
		./with_topology env LD_LIBRARY_PATH="$real" LD_PRELOAD="$model/rocm_model_drm.so" timeout $patience "$@"
}
# The outputs of the stand-ins are those of AMD's runtime.
for trap in accumulate many atomics through_pointer module_variable two_queues waits_for_host waits_for_kernel freed lists \
	astray arguments_change copies batch collective threads forks; do
	LD_LIBRARY_PATH=$standins/rocm "$traps" $trap >"alone.$trap" 2>err
	on_model "$traps" $trap >out 2>err
	is "$? $(cat out)" "0 $(cat "alone.$trap")" "AMD's runtime, $trap: the output is as on the stand-ins"
done
skip 'the model mode of libhsakmt has no virtual memory' 'virtual_memory'
skip 'the model GPU is alone' 'two_gpus'
if ! [ -e "$real/librocprofiler-sdk.so.1" ]; then
	skip "there is no librocprofiler-sdk.so.1 in $real" 'the SDK'
	done_testing
fi

# What the golden file says of the real SDK is what this one does.
golden=$RETALLY_SOURCE/tests/golden/rocm/probe.txt
probe() { # MISUSE: its lines
	local limit=$patience
	! grep -q '^end: hangs' want || limit=100
	on_model env MISUSE="$1" LD_PRELOAD="$model/rocm_model_drm.so $programs/rocm_probe.so" timeout "$limit" "$traps" accumulate 2 >out 2>err
	status=$?
	printf '== %s\n' "$1"
	if [ $status = 0 ]; then cat out; else grep -v '^accumulate ' out; fi
	if [ $status = 124 ]; then echo 'end: hangs'; else echo "end: $status"; fi
}
comparable() { # without what a lone GPU cannot show
	grep -v "^another agent's counter " | any_gpu
}
sed -n 's/^== //p' "$golden" >kinds
: >taken
while read -r kind; do
	sed -n "/^== $kind\$/,/^end:/p" "$golden" >want
	if [ "$kind" = 'device first' ]; then
		skip "libhsakmt's model mode lacks the call that locks a device" "probe, $kind"
		cat want >>taken
		continue
	fi
	probe "$kind" >got
	cat got >>taken
	is "$(comparable <got)" "$(comparable <want)" "probe, $kind: as the golden file says"
done <kinds
if [ "${UPDATE_GOLDEN:-}" = 1 ]; then
	# the date and the versions above it are for whoever updates it
	{ grep '^#' "$golden"; cat taken; } >new && cp new "$golden"
fi

# retally itself: the same file as everywhere, all counters of a full profile, 13 passes. Instances of each block of this
# one die, as aqlprofile has them.
instances='CPC=1 CPF=1 GRBM=1 SPI=4 SQ=4 TA=44 TCC=16 TCP=44 TD=44'
more=SQ_INST_CYCLES_SALU,SQ_WAVES_LT_16
# Not in the SDK's own definitions (accumulators), or of instances that one die does not have.
absent='^(SQ_VMEM_[A-Z_]*_FIFO_FULL|SQC_DCACHE_INFLIGHT_LEVEL|[A-Z_]*_ACCUM|[A-Z0-9_]*\[(1[6-9]|[2-9][0-9]|1[0-9][0-9])\]) in pass'
cat >start <<'END'
#!/bin/sh
# The program alone has the libraries of the model, behind retally's own.
LD_PRELOAD="$LD_PRELOAD:$MODEL_DRM" LD_LIBRARY_PATH="$MODEL_REAL" exec "$@"
END
chmod +x start
run() { # DIR TRAP OPTION...
	local dir=$1 trap=$2
	shift 2
	rm -rf "$dir"
	on_model env -u LD_PRELOAD -u LD_LIBRARY_PATH MODEL_DRM="$model/rocm_model_drm.so" MODEL_REAL="$real" \
		"$retally" run -q --source rocm -o "$dir" "$@" -- ./start "$traps" "$trap" >out 2>err
	status=$?
}
shipped=$(sha256sum "$libretally" | cut -d' ' -f1)
HSA_MAPS_TO=$sandbox/maps run dir accumulate --replay kernel -e SQ_WAVES
is "$(tool_library maps)" "$shipped" 'the library in the program is the shipped one'
while read -r trap launches least; do
	for mode in kernel window; do
		name="retally, $mode, $trap"
		replayed "$name" "$trap" $mode "$launches" "$least" "$instances" '13 of 13 passes' "$absent"
		is "$("$retally" report dir --by dispatch --wide --format csv -e SQ_WAVES | tail -n +2 | cut -d, -f16 | grep -cE '^(0|)$')" 0 "$name: with values"
	done
done <<'END'
accumulate 4 4
atomics 4 4
through_pointer 4 3
module_variable 4 4
two_queues 8 8
waits_for_host 8 4
waits_for_kernel 8 0
freed 4 4
END
# Many contexts started and stopped, each between two dispatches; copies; several threads.
sq=SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_SALU,SQ_INSTS_SMEM,SQ_INSTS_LDS,SQ_BUSY_CYCLES,SQ_WAVE_CYCLES,SQ_WAIT_ANY,SQ_INSTS_BRANCH,SQ_IFETCH
while read -r trap launches least; do
	run dir "$trap" --replay window -e "$sq"
	is "$status $(cat out)" "0 $(cat "alone.$trap")" "retally, $trap: the output is the program's"
	is "$(accounted dir)" "$launches" "retally, $trap: every dispatch is counted or declined by name"
	[ "$(counted dir)" -ge "$least" ]
	ok $? "retally, $trap: at least $least are counted"
done <<'END'
many 160 160
lists 8 8
astray 4 3
copies 4 4
batch 32 32
collective 8 7
threads 16 10
END
done_testing
