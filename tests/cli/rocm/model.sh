#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# AMD's own libraries, where RETALLY_ROCM_PREFIX names an installed ROCm 7, on a GPU that is a model of ours
# (tests/standins/rocm_model): the programs, the misuse probe, and the shipped libretally.so.
. "$RETALLY_SOURCE/tests/cli/lib.sh"
[ -n "${RETALLY_ROCM_PREFIX:-}" ] || skip_all 'RETALLY_ROCM_PREFIX names no installed ROCm 7'
real=$RETALLY_ROCM_PREFIX/lib
[ -e "$real/libhsa-runtime64.so.1" ] || skip_all "there is no libhsa-runtime64.so.1 in $real"
standins=$RETALLY_BUILD/tests/standins
model=$standins/rocm_model
traps=$programs/hsa_traps
[ -e "$model/rocm_model.so" ] || skip_all 'the model GPU is for x86-64'
"$RETALLY_SOURCE/tests/standins/rocm_model/code.sh" code 2>why || skip_all "no code object for the model GPU: $(cat why)"
"$RETALLY_SOURCE/tests/standins/rocm_model/topology.sh" "$sandbox/topology"
mkdir -p kfd && cp -r topology/nodes kfd/
export RETALLY_KFD=$sandbox/kfd
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
on_model() { # COMMAND...
	$namespace env HSA_MODEL_LIB="$model/rocm_model.so" HSA_MODEL_TOPOLOGY="$sandbox/topology" \
		HSA_SCRATCH_SINGLE_LIMIT=0 RETALLY_T1_CODE="$sandbox/code" \
		./with_topology env LD_LIBRARY_PATH="$real" LD_PRELOAD="$model/rocm_model_drm.so" timeout 120 "$@"
}
# The outputs of the stand-ins are those of AMD's runtime. What model mode lacks is not among them: memory that host
# and GPU share, virtual memory, copies between queues.
works='accumulate many atomics through_pointer module_variable two_queues freed lists astray arguments_change batch collective threads'
for trap in $works; do
	LD_LIBRARY_PATH=$standins/rocm RETALLY_T0_REPORT=$sandbox/report "$traps" $trap >"alone.$trap" 2>err
	on_model "$traps" $trap >out 2>err
	is "$? $(cat out)" "0 $(cat "alone.$trap")" "AMD's runtime, $trap: the output is as on the stand-ins"
done
if ! [ -e "$real/librocprofiler-sdk.so.1" ]; then
	skip "there is no librocprofiler-sdk.so.1 in $real" 'the SDK'
	done_testing
fi

# What the golden file says of the real SDK is what this one does.
golden=$RETALLY_SOURCE/tests/golden/rocm/probe.txt
probe() { # MISUSE: its lines
	on_model env MISUSE="$1" LD_PRELOAD="$model/rocm_model_drm.so $programs/rocm_probe.so" timeout 100 "$traps" accumulate 2 >out 2>err
	status=$?
	printf '== %s\n' "$1"
	# values: as many as the GPU has instances, which is another one
	if [ $status = 0 ]; then cat out; else grep -v '^accumulate ' out; fi | sed 's/values [1-9][0-9]*$/values N/'
	if [ $status = 124 ]; then echo 'end: hangs'; else echo "end: $status"; fi
}
sed -n 's/^== //p' "$golden" >kinds
while read -r kind; do
	sed -n "/^== $kind\$/,/^end:/p" "$golden" | sed 's/values [1-9][0-9]*$/values N/' >want
	probe "$kind" >got
	is "$(cat got)" "$(cat want)" "probe, $kind: as the golden file says"
done <kinds

# retally itself: the same file as everywhere.
sq=SQ_WAVES,SQ_INSTS_VALU,SQ_INSTS_SALU,SQ_INSTS_SMEM,SQ_INSTS_LDS,SQ_BUSY_CYCLES,SQ_WAVE_CYCLES,SQ_WAIT_ANY,SQ_INSTS_BRANCH,SQ_IFETCH
cat >start <<'END'
#!/bin/sh
# The program alone has the libraries of the model, behind retally's own.
LD_PRELOAD="$LD_PRELOAD:$MODEL_DRM" LD_LIBRARY_PATH="$MODEL_REAL" exec "$@"
END
chmod +x start
while read -r trap launches least; do
	for mode in kernel window; do
		rm -rf dir
		on_model env -u LD_PRELOAD -u LD_LIBRARY_PATH MODEL_DRM="$model/rocm_model_drm.so" MODEL_REAL="$real" \
			"$retally" run -q --source rocm --replay $mode -e "$sq" -o dir -- ./start "$traps" "$trap" >out 2>err
		is "$? $(cat out)" "0 $(cat "alone.$trap")" "retally, $mode, $trap: the output is the program's"
		"$retally" report dir --by dispatch --wide --format csv -e SQ_WAVES | tail -n +2 >rows
		counted=$(grep -c . rows)
		declined=$("$retally" report dir --by reason --format csv | awk -F, '/,not counted,/ { n += $1 } END { print n + 0 }')
		is "$((counted + declined))" "$launches" "retally, $mode, $trap: every dispatch is counted or declined by name"
		[ "$counted" -ge "$least" ]
		ok $? "retally, $mode, $trap: at least $least are counted"
		is "$(cut -d, -f16 rows | grep -cE '^(0|)$')" 0 "retally, $mode, $trap: with values"
	done
done <<'END'
accumulate 4 4
atomics 4 4
through_pointer 4 3
module_variable 4 4
freed 4 4
END
done_testing
