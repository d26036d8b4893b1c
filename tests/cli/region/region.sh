# SPDX-License-Identifier: Apache-2.0
# What the tests of regions share: source it after tests/cli/lib.sh. Counts of work() are uprobes, which need
# root and tracefs; without them the outputs are compared all the same.
# shellcheck shell=bash disable=SC2034,SC2154
: "${sandbox:?source tests/cli/lib.sh first}"
exact=yes
# PROGRAM PASSES: plan.json, where the first counter of each pass is work() (or, not exact, page faults).
plan_for() {
	local work=page-faults extra=page-faults k at passes=()
	if [ $exact = yes ] && nm "$1" 2>/dev/null | grep -q ' [tT] work$'; then
		at=$((16#$(nm "$1" | sed -n 's/^\([0-9a-f]*\) [tT] work$/\1/p')))
		[ $at -ge $((0x400000)) ] && at=$((at - 0x400000)) # linked to a fixed address
		work="work+$1+$(printf '0x%x' $at)"
	fi
	for ((k = 1; k <= $2; k++)); do
		[ "$k" = 1 ] && [ "$work" != page-faults ] && passes+=("$work,$extra") || passes+=("$work")
	done
	"$programs/make_plan" plan.json "${passes[@]}" || exit 99
}
runs=0
# MODE PROGRAM ARGUMENT...: without and with retally; leaves plain.out, plain_rc, out, err, rc and records.
both() {
	local mode=$1
	shift
	runs=$((runs + 1))
	dir=$sandbox/run-$runs.retally
	"$@" >plain.out 2>plain.err
	plain_rc=$?
	RETALLY_REPLAY=$mode LD_PRELOAD=$libretally RETALLY_PLAN=$sandbox/plan.json RETALLY_OUT=$dir "$@" >out 2>err
	rc=$?
	records=$("$programs/dump_spool" "$dir" 2>&1)
}
same() { # NAME
	is "$rc $(cat out; cat err)" "$plain_rc $(cat plain.out; cat plain.err)" "$1: output and status"
	unlike "$records" '^bad' "$1: whole records"
}
# NAME: the first value of each record of that region, with its pass: "1:11 2:11 ..."
counts() {
	awk -v name="$1" '/^range/ { on = 0; n = $2; sub(/^range [0-9]+ /, ""); sub(/ queue .*/, "")
		if ($0 == name) on = 1; next }
		/^value/ && on { on = 0; printf "%s%s:%s", sep, $2, NF == 4 ? $4 : "-"; sep = " " }' <<<"$records"
}
plan_for "$programs/region_c" 1
both '' "$programs/region_c" watch
if [ "$(counts watch)" != 1:5 ]; then
	exact=no
	echo "# counts are not compared: $(grep '^note' <<<"$records" | head -1)"
	# work() is counted wrongly, not refused: that is no reason to skip
	grep -q '^value 1 0 [0-9]' <<<"$records" && ok 1 'a uprobe counts work()'
fi
