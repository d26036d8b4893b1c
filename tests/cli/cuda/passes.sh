#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# What passes cost and what is known of them: one pass saves and replays nothing, windows are told by size and by the
# call that ended them, a program that waits after each launch has its passes spread, clocks are read and never set.
# shellcheck source=tests/cli/cuda/lib.sh
. "$RETALLY_SOURCE/tests/cli/cuda/lib.sh"
logged() { sed -n "s/^$1:.*, $2 \([0-9]*\).*/\1/p" "$RETALLY_STANDIN_LOG"; } # LIBRARY WHAT
told() { tr -s '\n ' ' '; } # lines that were wrapped, joined
list=$("$traps" list | grep -v spin)

# One pass: the program's own launches are counted, and nothing else is done.
# shellcheck disable=SC2086
"$traps" $list >want
# shellcheck disable=SC2086
run o "$one" --replay auto -- "$traps" $list
same $? want 'one pass'
clean 'one pass'
is "$(logged libcuda 'replayed launches')" '' 'one pass: nothing is launched again'
is "$("$retally" report o --by window --format csv | awk 'NR > 1' | wc -l)" 0 'one pass: no window, so nothing is saved'
declined=$("$retally" report o --by reason --format csv | awk -F, 'NR > 1 && $4 == "not counted" { n += $1 } END { print n + 0 }')
# (two launches of the trap `graph` are captured, and do not run)
is "$(($(logged libcupti ranges) + declined))" "$(($(logged libcuda launches) + $(logged libcuda graphs) - 2))" \
	"one pass: every launch is counted, but for $declined that are declined"
like "$("$retally" report o | told)" 'auto: none, the counters fit one pass' 'one pass: that is said'
run p "$one" --replay auto -- "$traps" streams
is "$(logged libcuda launches) $(logged libcupti ranges) $(logged libcupti passes)" '20 20 2' 'one pass: programmed twice for twenty launches'
run p "$one" --replay window -- "$traps" append once update
run q "$one" --replay auto -- "$traps" append once update
for dir in p q; do
	"$retally" report $dir --by dispatch --format csv --wide 2>/dev/null | cut -d, -f1,3,16 >$dir.values
done
is "$(sort q.values)" "$(sort p.values)" 'one pass: the values are those of replay'
RETALLY_STANDIN_FAIL=stop@2x1 run o "$one" --replay auto -- "$traps" update append
"$traps" update append >want
same $? want 'one pass that cannot be ended'
like "$("$retally" report o --by reason)" 'stopping the counters failed' 'one pass that cannot be ended: the reason'

# After a kernel that does not end by itself the rest is counted again, once the program has waited for it.
"$traps" spin waits >want
for counters in one three; do
	run o "${!counters}" --replay auto -- "$traps" spin waits
	same $? want "after a kernel that does not drain, $counters"
	is "$("$retally" report o --by reason --format csv | awk -F, '$2 == "update" { n += $1 } END { print n + 0 }')" 2 \
		"after a kernel that does not drain, $counters: only what ran beside it is not counted"
done

# Windows.
run o "$three" --replay window -- "$traps" update
"$retally" report o --by window --format csv >windows
is "$(awk -F, 'NR > 1 { print $1, $2, $4, $5 }' windows | sort)" "$(printf '1 cuCtxSynchronize 1 1\n2-9 cuStreamSynchronize 1 6')" \
	'windows by size and by the call that ended them'

# Each launch is waited for, often: passes are spread, one a dispatch, and every counter has values.
"$traps" waits >want
run o "$six" --replay auto -- "$traps" waits
same $? want 'waiting after each launch'
clean 'waiting after each launch'
like "$("$retally" report o | told)" 'auto: (kernel|none|window)' 'waiting after each launch: what was chosen is said'
is "$("$retally" report o --by reason --format csv | awk 'NR > 1' | wc -l)" 0 'waiting after each launch: nothing is declined'

# Clocks.
run o "$three" --replay window -- "$traps" update atomics
is "$(logged libnvidia-ml 'clocks read')" "$(logged libcupti passes)" 'the clock is read once a pass'
like "$("$retally" report o | told)" 'GPU 0: SM clock at the end of passes, MHz by NVML: pass 1 1[0-9]* to 1980, pass 2 1[0-9]* to 1965, pass 3 1[0-9]* to 1950' \
	'and reported for each'
RETALLY_STANDIN_FAIL=nvml run o "$three" --replay window -- "$traps" update
"$traps" update >want
same $? want 'without NVML'
unlike "$("$retally" report o)" 'SM clock' 'without NVML: nothing is claimed'
done_testing
