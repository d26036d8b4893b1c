#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# CUDA programs on the stand-in device: whatever replays their kernels, in 1, 3 and 6 passes, the output is the
# program's own; every dispatch is counted or declined with a reason; and CUPTI is used by its rules.
# shellcheck source=tests/cli/cuda/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/cuda/lib.sh" || exit 99

exits 0 'the program alone' "$traps"
cp out alone
exits 0 'and again' "$traps"
is "$(cat out)" "$(cat alone)" 'it is the same each time'
list=$("$traps" list | grep -v spin)

for counters in one three six; do
	exits 0 "$counters: planned" "$retally" plan --source cuda -e "${!counters}" --count
	passes=$(cat out)
	for mode in window kernel auto; do
		name="$mode, $passes passes"
		grep -v '^spin' alone >want
		# shellcheck disable=SC2086
		run o "${!counters}" --replay "$mode" -- "$traps" $list
		same $? want "$name"
		clean "$name"
		"$retally" report o --by dispatch --format csv --wide >dispatches.csv 2>err
		without=$(awk -F, 'NR == 1 { for (i = 1; i <= NF; i++) c[$i] = i; next } $c["counted"] == 0' dispatches.csv | wc -l)
		rows=$(($(wc -l <dispatches.csv) - 1))
		is "$((rows >= 132)) $without" '1 0' "$name: $rows dispatches, all with values"
		[ $mode = auto ] && continue
		# All others, and nothing else: what shows where it writes, what the host looks at, a collective.
		is "$("$retally" report o --by reason --format csv 2>/dev/null | awk -F, '$2 ~ /^(answer|chain|stray|set|surface_at|nccl.*)$/ { n += $1; next }
			NR > 1 { n += 1000 } END { print n + 0 }')" 9 "$name: nine are declined with a reason"
	done
	is "$passes" "$(case $counters in one) echo 1 ;; three) echo 3 ;; *) echo 6 ;; esac)" "$counters: $passes passes"
done

# A kernel that waits for the host is not waited for longer than the engine's bound; the three run at once.
grep '^spin' alone >want
for mode in window kernel auto; do
	(
		mkdir "spin.$mode"
		cd "spin.$mode" || exit
		export RETALLY_STANDIN_LOG=$PWD/self-check
		run o "$three" --replay "$mode" -- "$traps" spin
		echo $? >status
		"$retally" report o --by reason >reasons 2>&1
	) &
done
wait
for mode in window kernel auto; do
	is "$(cat "spin.$mode/status" "spin.$mode/out")" "0
$(cat want)" "spin, $mode: the output is the program's"
	like "$(cat "spin.$mode/reasons")" 'spin .*does not drain|spin .*the host may use' "spin, $mode: the reason is given"
	is "$(grep -c violation: "spin.$mode/self-check")" 0 "spin, $mode: no violation"
done
done_testing
