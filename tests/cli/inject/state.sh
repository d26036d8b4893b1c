#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What survives an exec is put back: each pass starts as the first one did.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/inject/inject.sh" || exit 99
same_in_all() { for k in 2 3; do is "$(pass_output $k)" "$(cat out)" "$1: the same in pass $k"; done; }
replays 'directory, umask, limits, signals, nice, affinity, timer, files, name' "$target" inherit
same_in_all 'directory, umask, limits, ...'
replays 'file locks' "$target" lock
same_in_all 'file locks'
TEXT=given replays 'arguments and environment' "$target" text argument
replays 'unreaped child' "$target" unreaped
cp "$target" copy
both sh -c 'cp '"$target"' copy; exec ./copy remove' # plain run removes it
cp "$target" copy
dir=$sandbox/removed.retally
preloaded ./copy remove >out 2>err
is "$?$(cat out err)" 0removed 'a program that removes its file'
is "$(pass_output 3)" removed 'a program that removes its file: pass 3'
ln -s "$(command -v sh)" ./shell
printf '#!%s/shell\ntr "\\0\\n" "  " </proc/$$/comm; echo; echo "$0 $*"\n' "$sandbox" >script
chmod +x script
replays 'script' ./script a 'b c'
same_in_all script
replays 'started through the loader' "$(readelf -l "$target" | sed -n 's/.*interpreter: \(.*\)]/\1/p')" "$target" exit 3
both "$target" close-all
is "$rc$(cat out err | grep -v '^retally:')" 0closed 'a program that closes all descriptors: unharmed'
like "$records" '^begin 1/3' 'a program that closes all descriptors: the file is readable'
dir=$sandbox/aslr.retally
if setarch -R true 2>/dev/null; then
	preloaded setarch -R "$target" stack >out
	same_in_all 'stack address without ASLR'
	one=$(RETALLY_PASS=2 preloaded setarch -R "$target" stack)
	is "$one" "$(cat out)" 'stack address without ASLR: one pass by number'
else
	skip 'no setarch -R' 'stack address'
fi
if [ "$(id -u)" = 0 ]; then
	dir=$sandbox/drop.retally
	preloaded "$target" drop >out 2>err
	is $? 0 'a program that gives up root: status'
	like "$(cat err)" '^retally: the program changed its user' 'a program that gives up root: said'
else
	skip 'not root' 'a program that gives up root'
fi
done_testing
