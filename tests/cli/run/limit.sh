#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A pass that its time limit ended is not collected: its values are incomplete, and the command that is printed for it
# collects it. (The limit is ten seconds and the time of the first pass.)
# shellcheck disable=SC2317 # called by exits
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
export RETALLY_PERF_SLOTS=breakpoint=1
app=$programs/twelve
"$retally" plan --json -e bp:f1,bp:f2,bp:f3 -- "$app" >plan.json 2>err || skip_all "no breakpoints here: $(head -1 err)"
# Which function is in which pass is the plan's choice.
read -r first second third <<<"$(python3 -c '
import json
d = json.load(open("plan.json"))
names = [c["name"] for c in d["counters"]]
print(*[next(names[i] for i in p["counters"] if names[i].startswith("bp:")) for p in d["passes"]])')"
told() { # DIR: name and status of each counter, then the passes to be run again
	"$retally" report "$1" --format json | python3 -c '
import json, sys
d = json.load(sys.stdin)
for row in sorted((r for r in d["values"] if r["name"].startswith("bp:")), key=lambda r: r["name"]):
    print(row["name"], row["status"], "none" if row["value"] is None else "a value")
print([p["pass"] for p in d["missing_passes"]])'
}
run() { timeout 100 "$retally" run -o "$1" --plan plan.json --pass-timeout 1 "${@:2}" -- "$app" 1 0 2 go; }
exits 0 'a program that hangs in pass 2' run dir
like "$(cat err)" 'pass 2 was ended after' 'the limit is told'
like "$(cat err)" ' 1 of 3 passes, 3 of 5 counters' 'and the pass is not among those collected'
is "$(told dir)" "$(printf '%s\n' "$first ok a value" "$second incomplete none" "$third not collected none" | sort; echo '[2, 3]')" \
	'its counter has no value, for that reason, and the pass is to be run again'
like "$("$retally" report dir)" 'collected +1 of 3 passes, 3 of 5 counters' 'the text says the same'
like "$("$retally" report dir)" "cut off at the time limit in pass 2: $second" 'and why'
like "$(cat err)" 'next: .*--pass 2 ' 'the next command is that of this pass'
touch go
exits 0 'the pass again, to its end' run dir --pass 2
is "$(told dir)" "$(printf '%s\n' "$first ok a value" "$second ok a value" "$third not collected none" | sort; echo '[3]')" \
	'closes the gap'
done_testing
