#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# One run of all passes, and the same passes one at a time, give the same table; a missing pass is named.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99

counters=$(printf "bp:f%s," 1 2 3 4 5 6 7 8 9 10 11)bp:f12
"$retally" plan --count -e bp:f1 -- "$programs/twelve" >out 2>err || skip_all "no breakpoints here: $(head -1 err)"

table() { # DIR: name,value of the breakpoint counters
	"$retally" report "$1" --format json | python3 -c '
import json, sys
for row in json.load(sys.stdin)["values"]:
    print(row["name"], row["value"], row["passes"], row["status"])' | grep -E '^(bp|mem):' | sort
}

passes=$("$retally" plan --count -e "$counters" -- "$programs/twelve")
is "$passes" 3 'twelve breakpoints on four slots need three passes'

exits 0 'a run over all passes' "$retally" run -o whole -e "$counters" -- "$programs/twelve"
is "$(cat out)" 'twelve 6500' 'standard output is the program'"'"'s, once'
table whole >whole.txt
for k in 1 2 3 4 5 6 7 8 9 10 11 12; do echo "bp:f$k $((10 * k))"; done | sort >truth
is "$(cut -d' ' -f1,2 whole.txt)" "$(sort truth)" 'every count is exact'

for k in $(seq "$passes"); do
	[ "$k" = 2 ] && continue
	"$retally" run --pass "$k/$passes" -q -o parts -e "$counters" -- "$programs/twelve" >/dev/null 2>err || cat err
done
missing=$("$retally" report parts)
like "$missing" 'retally run .*--pass 2' 'the missing pass is named with the command that collects it'
unlike "$missing" '--pass (1|3)' 'and only that one'
command=$(printf '%s\n' "$missing" | grep -Eo 'retally run .*--pass 2.*' | head -1)
(PATH=$(dirname "$retally"):$PATH; eval "$command") >/dev/null 2>err
is $? 0 'the printed command works'
table parts >parts.txt
is "$(cat parts.txt)" "$(cat whole.txt)" 'passes one at a time give the same table as one run'

"$retally" run --pass 2 -q -o parts -e "$counters" -- "$programs/twelve" >/dev/null 2>&1
is "$("$retally" report parts --format json | python3 -c '
import json, sys
print(sorted({row["n"] for row in json.load(sys.stdin)["values"] if row["name"].startswith(("bp:", "mem:"))}))')" \
	'[1, 2]' 'the same pass again is n = 2, not an overwrite'

exits 125 'another number of passes is refused' "$retally" run --pass 1/9 -o parts -e "$counters" -- "$programs/twelve"
like "$(cat err)" '3 passes' 'and the plan'"'"'s number is named'
exits 125 'another command is refused in the same directory' "$retally" run -q -o whole -e "$counters" -- "$programs/twelve" 2
like "$(cat err)" 'command' 'and what differs is named'
exits 125 'another plan is refused in the same directory' "$retally" run -q -o whole -e bp:f1 -- "$programs/twelve"
like "$(cat err)" 'plan' 'and what differs is named'
done_testing
