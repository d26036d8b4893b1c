#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Processes that share the stand-in GPU: its counters are one process's at a time, window by window.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
export XDG_RUNTIME_DIR=$sandbox/runtime
mkdir -m 700 "$XDG_RUNTIME_DIR"
file=$XDG_RUNTIME_DIR/retally-gpu-$(id -u)-5d105d105d105d105d105d105d105d10
cases=$("$traps" list | grep -v spin | head -4)
# shellcheck disable=SC2086
"$traps" $cases >want

# Somebody has the turn: it is waited for, and the report says how long.
: >"$file"
chmod 600 "$file"
python3 -c 'import fcntl, sys, time
f = open(sys.argv[1], "r+")
fcntl.lockf(f, fcntl.LOCK_EX, 1, 0)
open(sys.argv[2], "w")
time.sleep(2)' "$file" held &
until [ -e held ]; do sleep 0.05; done
# shellcheck disable=SC2086
run o "$three" --replay window -- "$traps" $cases
same $? want 'behind another process'
clean 'behind another process'
wait
exits 0 'report' "$retally" report o
like "$(cat out err)" "waited [0-9.]* s in all, [0-9]* times?, for the GPU's counters" 'the report says that it was waited'

# Three at once.
for i in 1 2 3; do
	(
		mkdir "p$i"
		cd "p$i" || exit
		export RETALLY_STANDIN_LOG=$PWD/self-check
		# shellcheck disable=SC2086
		run o "$three" --replay window -- "$traps" $cases
		echo $? >status
	) &
done
wait
for i in 1 2 3; do
	is "$(cat "p$i/status")" 0 "process $i of 3: status"
	exits 0 "process $i of 3: same output" cmp want "p$i/out"
	is "$(grep -c violation: "p$i/self-check")" 0 "process $i of 3: no violation"
	"$retally" report "p$i/o" --by dispatch --format csv --wide >wide 2>/dev/null
	is "$(awk -F, -v want="$inst.sum" 'NR == 1 { for (k = 1; k <= NF; k++) c[$k] = k; next } $c[want] == "" { n++ }
		END { print (NR > 9), n + 0 }' wide)" '1 0' "process $i of 3: a value for each of its dispatches"
done

# What is not a file of this user alone is refused with one sentence, and nothing hangs.
rm "$file"
ln -s "$sandbox/elsewhere" "$file"
# shellcheck disable=SC2086
run o "$three" --replay window -- "$traps" $cases
same $? want 'a link in its place'
like "$(cat err)" 'GPUs are not shared by turns: .*retally-gpu' 'a link in its place: said'
ok $(($([ -e elsewhere ] && echo 1 || echo 0))) 'a link in its place: not followed'
done_testing
