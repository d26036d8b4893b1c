#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Every pass reads the same standard input.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/inject/inject.sh" || exit 99
seq 1 5000 >numbers
input=numbers replays 'file' cat
for k in 2 3; do is "$(pass_output $k | md5sum)" "$(md5sum <numbers)" "file: pass $k read all of it"; done
input=numbers replays 'file, closed by the program' "$target" close-stdin
is "$(pass_output 3)" 1 'file, closed by the program: pass 3'
dir=$sandbox/offset.retally
{ read -r first; preloaded "$target" read-part; read -r rest; } <<<"$(printf 'a\nb\nc\n')" >out
is "$first $(cat out) $rest" 'a b ' 'file from the middle: the rest is where the program left it'
is "$(cat "$dir"/output/*/pass-3.stdout)" b 'file from the middle: pass 3 too'
dir=$sandbox/pipe.retally
seq 1 50000 | preloaded cat >out
is "$(md5sum <out)" "$(seq 1 50000 | md5sum)" 'pipe: pass 1'
is "$(pass_output 3 | md5sum)" "$(seq 1 50000 | md5sum)" 'pipe: pass 3'
is "$(find "$dir"/spool -type f ! -name '*.rts')" '' 'pipe: no copy is left'
dir=$sandbox/yes.retally
yes | preloaded head -2 >out
is "$(tr '\n' ' ' <out)" 'y y ' 'pipe without end: the program ends'
is "$(pass_output 2 | tr '\n' ' ')" 'y y ' 'pipe without end: pass 2'
dir=$sandbox/talk.retally
coproc talk { preloaded bash -c 'read -r a; echo "got $a"; read -r b; echo "got $b"'; }
eval "exec 7<&${talk[0]}- 8>&${talk[1]}-"
echo one >&8
read -r answer <&7
is "$answer" 'got one' 'conversation: an answer before the end of input'
echo two >&8
read -r answer <&7
is "$answer" 'got two' 'conversation: and another'
# shellcheck disable=SC2154 # coproc sets it
wait "$talk_PID" 2>/dev/null
exec 7<&- 8>&-
is "$(pass_output 3)" "$(printf 'got one\ngot two')" 'conversation: repeated in pass 3'
dir=$sandbox/silent.retally
sleep 30 | { timeout 20 env LD_PRELOAD="$libretally" RETALLY_PLAN="$sandbox/plan.json" RETALLY_OUT="$dir" "$target" return 3; echo $? >rc; kill $(pgrep -P $$ sleep); } 2>/dev/null
is "$(cat rc)" 3 'open pipe that nobody writes to: no waiting'
done_testing
