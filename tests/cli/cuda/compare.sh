#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/gpu/compare_ncu.sh without a GPU: which commands it forms of its settings, and what it makes of their output. Both
# profilers and the program are stood in for by scripts that write down how they were called.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99
script=$RETALLY_SOURCE/bench/gpu/compare_ncu.sh
mkdir bin cmp
printf 'a__one.sum\nb__two.sum\n' >counters
echo set:full >sets
cat >cmp/kernels <<'END'
#!/bin/bash
echo "program $*" >>"$CALLS"
echo checksum 1
echo loop_ms 2.5 >&2
END
cat >bin/retally <<'END'
#!/bin/bash
echo "retally $*" >>"$CALLS"
if [ "$1" = run ]; then
	while [ "$1" != -- ]; do shift; done
	shift
	[ -z "${BREAK:-}" ] || { echo "retally: no counters" >&2; exit 125; }
	"$@"
	echo '  6 dispatches, 13 of 13 passes, 2 of 2 counters' >&2
else
	printf 'kernel,a__one.sum,b__two.sum\nx,10,5\nx,12,5\n'
fi
END
cat >bin/ncu <<'END'
#!/bin/bash
echo "ncu $*" >>"$CALLS"
times=1
while [[ $1 == --* ]]; do
	[ "$1" = --log-file ] && log=$2
	[ "$1 $2" = '--replay-mode application' ] && times=3
	case $1 in --csv) shift ;; *) shift 2 ;; esac
done
for _ in $(seq $times); do "$@"; done
printf '==PROF== a line\n"ID","Kernel Name","a__one.sum","b__two.sum"\n"","","","byte"\n"0","x","10","5"\n"1","x","12","4"\n' >"$log"
END
chmod +x bin/* cmp/kernels
export PATH=$PWD/bin:$PATH CALLS=$PWD/calls
unset REPLAY CACHE NCU_REPLAY NCU_CACHE PLACES
compare() { # COUNTERS-FILE
	: >calls
	rm -f cmp/ours.csv cmp/ncu.csv
	exits "${status:-0}" "$name" bash "$script" "$PWD/bin/retally" "$1" 4096 2 cmp
}
name='by itself' compare counters
is "$(grep -v '^program' calls)" "retally run --source cuda -e a__one.sum,b__two.sum --replay window --cache keep -o cmp/run -- cmp/kernels 4096 2 1
ncu --clock-control none --cache-control none --replay-mode kernel --metrics a__one.sum,b__two.sum --csv --page raw --print-units base --log-file cmp/ncu.csv cmp/kernels 4096 2 1
retally report cmp/run --by dispatch --format csv --wide --units base" 'the commands'
is "$(grep '^program' calls | sort | uniq -c | xargs)" '3 program 4096 2 1' 'the program alone and under each'
like "$(cat cmp/values.txt)" 'b__two.sum .* 11.111 %, equal in 1 of 2 dispatches' 'the values are compared'
"$RETALLY_SOURCE/bench/gpu/compare_ncu.sh" bin/retally counters 4096 2 cmp >text 2>&1
like "$(head -1 text)" '^6 kernels, 4096 elements, 2 lines of counters; plain 2.5 ms, retally 2.5 ms \(13 of 13 passes\), ncu 2.5 ms: 1.0 times; output identical' 'the line'
export REPLAY=kernel CACHE=flush NCU_REPLAY=application NCU_CACHE=all PLACES=40
name='all settings' compare counters
like "$(grep '^retally run' calls)" '--replay kernel --cache flush .* 4096 2 40$' 'settings: of retally'
like "$(grep '^ncu' calls)" '--cache-control all --replay-mode application .* 4096 2 40$' 'settings: of ncu'
bash "$script" bin/retally counters 4096 2 cmp >text 2>&1
like "$(cat text)" 'ncu 7.5 ms: 3.0 times' 'application replay: the loops of all its runs'
unset REPLAY CACHE NCU_REPLAY NCU_CACHE PLACES
name='sets' compare sets
like "$(cat calls)" 'retally run --source cuda --set full .*' 'a set: ours'
like "$(grep '^ncu' calls)" '--set full --csv' 'a set: theirs'
for setting in REPLAY=all CACHE=none NCU_REPLAY=window NCU_CACHE=keep; do
	env $setting bash "$script" bin/retally counters 4096 2 cmp >text 2>&1
	is $? 2 "$setting: refused"
	like "$(cat text)" "^compare_ncu.sh: ${setting%=*}: '${setting#*=}' is none of: " "$setting: in one sentence"
done
BREAK=1 bash "$script" bin/retally counters 4096 2 cmp >text 2>&1
like "$?$(tr "\n" " " <text)" '^1compare_ncu.sh: the program under retally ended with status 125:.*no counters' 'a profiler that fails is told'
done_testing
