#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Children inherit the pass and never replay; a process that becomes another program stays the owner.
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
. "$RETALLY_SOURCE/tests/cli/inject/inject.sh" || exit 99
replays 'forked child calls exit' "$target" fork-exit
replays 'vforked child: exec fails, _exit' "$target" vfork
replays 'system and popen' "$target" system
replays 'shell list' bash -c 'echo a; /bin/echo b'
replays 'shell script' sh -c 'for i in 1 2 3; do /bin/echo $i; done; exit 3'
replays 'pipeline' bash -c 'printf "%s\n" c b a | sort | head -2'
replays 'command substitution' bash -c 'x=$(/bin/echo in); echo "[$x]"'
replays 'timeout' timeout 20 "$target" return 3
replays 'env, nice and setsid in front' env A=1 nice -n 1 "$target" return 4
replays 'the last image replays' bash -c 'cd /; umask 077; exec /bin/echo hello'
is "$(pass_output 2)" hello 'the last image replays: pass 2'
replays 'program executes another' "$target" exec
is "$(pass_output 3)" "$(cat out)" 'program executes another: from the start, in pass 3'
replays 'exec of what is not there' "$target" exec-fails
if command -v python3 >/dev/null; then
	replays 'python' python3 -c 'import sys; print("py"); sys.exit(4)'
	replays 'python os._exit' python3 -c 'import os; os._exit(3)'
	replays 'python multiprocessing' python3 -c '
import multiprocessing as m
def f(x): return x * x
if __name__ == "__main__":
    with m.get_context("fork").Pool(2) as p: print(p.map(f, range(4)))'
	replays 'python subprocess' python3 -c 'import subprocess; print(subprocess.check_output(["/bin/echo", "x"]))'
else
	skip 'no python3' 'python'
fi
command -v perl >/dev/null && replays 'perl' perl -e 'print "perl\n"; system("/bin/echo child"); exit 2'

both "$target" exec-clean
is "$(cat out)" clean 'exec without the environment: output'
like "$records" 'note 1 3 .*/bin/echo.* without RETALLY_STATE' 'exec without the environment: recorded'
is "$(grep -c '^begin' <<<"$records")" 1 'exec without the environment: no further pass'

# Counts: the shell and what it becomes are one pass. 3 x /bin/true under the shell, counted with the children.
if printf 'int f(void){return 1;}\nint main(void){int s=0;for(int i=0;i<7;i++)s+=f();return s-7;}\n' >seven.c &&
	gcc -O0 -o seven seven.c 2>/dev/null; then
	offset=$(printf '0x%x' "0x$(nm seven | awk '$3 == "f" { print $1 }')")
	"$programs/make_plan" plan.json "f@$sandbox/seven@$offset" "f@$sandbox/seven@$offset"
	both ./seven
	if grep -q 'status 1' <<<"$(grep '^value' <<<"$records")"; then
		skip "no breakpoints: $(sed -n 's/^note 1 2 //p' <<<"$records")" 'breakpoints'
	else
		wanted=$(printf 'value 1 0 7\nvalue 2 1 7')
		is "$(grep '^value' <<<"$records")" "$wanted" 'a breakpoint counts 7 in each pass'
		both bash -c 'exec ./seven'
		is "$(grep -E '^(value|note)' <<<"$records")" "$wanted" 'after an exec in the middle of a pass'
		both bash -c './seven; exec ./seven'
		is "$(grep -E '^(value|note)' <<<"$records")" "$wanted" 'children of another program are not counted at its addresses'
	fi
	"$programs/make_plan" plan.json "f+$sandbox/seven+$offset" "f+$sandbox/seven+$offset"
	both ./seven
	if grep -q 'status 1' <<<"$(grep '^value' <<<"$records")"; then
		skip "no uprobes: $(sed -n 's/^note 1 2 //p' <<<"$records")" 'uprobes'
	else
		is "$(grep '^value' <<<"$records")" "$(printf 'value 1 0 7\nvalue 2 1 7')" 'a uprobe counts 7 in each pass'
		both bash -c './seven; exec ./seven'
		is "$(grep '^value' <<<"$records")" "$(printf 'value 1 0 14\nvalue 2 1 14')" 'before and after an exec, and in a child'
	fi
fi
done_testing
