#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# `retally run` on the program of all traps with every kind of OpenCL library: ocl-icd as a loader of layers, linked
# with or opened by the program; a vendor's library that knows no layers (tests/standins/opencl, PoCL without a
# loader), linked with or opened; a loader of layers without OPENCL_LAYERS; and Khronos' loader where
# KHRONOS_OPENCL_LOADER names its file. In all of them the output is the program's own, and each dispatch is seen
# once.
# shellcheck disable=SC1091,SC2034,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
LAYER=libopencl_test
unset LD_LIBRARY_PATH # meson's, in which the stand-in is first
. "$RETALLY_SOURCE/tests/cli/opencl/traps.sh" || exit 99
vendor=$RETALLY_BUILD/tests/standins/opencl
cases=(plain const parts image copies chain threads printf changed-args two-contexts)
timeout 60 "$traps" "${cases[@]}" >plain
seen() { # the number of dispatches in the summary
	sed -n 's/.* kernels, \([0-9]*\) dispatches,.*/\1/p' err
}
run() { # NAME COMMAND...: ends as alone, with the same output, and the dispatches of the first run, all with samples
	local name=$1
	shift
	rm -rf r
	exits 0 "$name: ends well" timeout 120 "$retally" run --replay "${mode:-window}" -o r -e task-clock,page-faults -- "$@"
	same_output "$name"
	is "$(seen)" "${dispatches:=$(seen)}" "$name: each dispatch is seen once"
	ok $(($(seen) < 100)) "$name: and they are many ($(seen))"
	like "$(cat err)" '1 dispatch of say: its program prints' "$name: what cannot be replayed is declined by name"
}
run 'loader of layers' "$traps" "${cases[@]}"
run 'loader of layers, opened' "${traps}_dlopen" "${cases[@]}"
run 'loader of layers that is not told to' env -u OPENCL_LAYERS "$traps" "${cases[@]}"
run 'loader of layers that is not told to, opened' env -u OPENCL_LAYERS "${traps}_dlopen" "${cases[@]}"
run 'loader of layers that is told of others' env OPENCL_LAYERS=/nonexistent.so "$traps" "${cases[@]}"
run 'another layer of the same name beside it' env OPENCL_LAYERS="$libretally:$libretally" "$traps" "${cases[@]}"
if [ -x "${traps}_direct" ] && timeout 60 "${traps}_direct" "${cases[@]}" >out && cmp -s plain out; then
	mode=kernel run "vendor's library, by kernel" "${traps}_direct" "${cases[@]}"
	run "vendor's library" "${traps}_direct" "${cases[@]}"
	run "vendor's library, opened" env LD_LIBRARY_PATH="$vendor" "${traps}_dlopen" "${cases[@]}"
	run "vendor's library beside a loader of layers" env LD_PRELOAD="$libretally:libOpenCL.so.1" "${traps}_direct" \
		"${cases[@]}"
else
	skip 'no libpocl.so.2 to be linked with' "a vendor's library"
fi
if [ -n "${KHRONOS_OPENCL_LOADER:-}" ]; then
	mkdir khronos
	ln -s "$KHRONOS_OPENCL_LOADER" khronos/libOpenCL.so.1
	export LD_LIBRARY_PATH=$PWD/khronos
	run "Khronos' loader" "$traps" "${cases[@]}"
	run "Khronos' loader, opened" "${traps}_dlopen" "${cases[@]}"
	run "Khronos' loader that is not told to" env -u OPENCL_LAYERS "$traps" "${cases[@]}"
	unset LD_LIBRARY_PATH
else
	skip 'KHRONOS_OPENCL_LOADER does not name one' "Khronos' loader"
fi
is "$("$programs/lookups")" right 'the program that looks functions up, alone'
exits 0 "look-ups of functions find what they found" "$retally" run --replay window -o lookups -e task-clock -- \
	"$programs/lookups"
is "$(cat out)" right 'and the program sees no difference'
done_testing
