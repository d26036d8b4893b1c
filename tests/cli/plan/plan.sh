#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# retally plan: sizes for chips that are not here, the same bytes for the same wish, clear refusals.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99

for want in gfx90a:13 gfx942:13 gfx950:18; do
	chip=${want%:*}
	got=$("$retally" plan --chip "$chip" --set full --count)
	[ "$got" -le "${want#*:}" ] && [ "$got" -ge 10 ]
	ok $? "$chip, set full: $got passes, at most ${want#*:}"
done
"$retally" plan --chip gfx90a --set full --json >a.json
is "$(python3 -c '
import json
plan = json.load(open("a.json"))
whole = sum(1 for m in plan["metrics"] if m["pass"] and m["counters"])
print(whole)')" 343 'gfx90a: 343 metrics are whole in one pass'

metrics=$(python3 -c '
import json
print("\n".join(m["name"] for m in json.load(open("a.json"))["metrics"][:40]))')
"$retally" plan --chip gfx90a -m "$(echo "$metrics" | paste -sd,)" --json >b.json
for seed in 1 2 3; do
	shuffled=$(echo "$metrics" | shuf --random-source=<(yes $seed) | paste -sd,)
	LC_ALL=C.UTF-8 "$retally" plan --chip gfx90a -m "$shuffled" --json >c.json
	is "$(python3 -c '
import json
a, b = (json.load(open(f)) for f in ("b.json", "c.json"))
for p in a, b:
    p.pop("hash"), p.pop("selection")
print("same" if json.dumps(a) == json.dumps(b) else "other")')" same "shuffled wish $seed, other locale: the same plan"
done

exits 0 'doctor' "$retally" doctor
like "$(cat out)" "^ok  *libretally.so  *$(realpath "$libretally") \(RETALLY_LIBRARY\)" 'it says where libretally.so is, and who said so'
like "$(cat out)" '^(ok|no)  *bp: counts by  *(hardware breakpoints|uprobes|nothing)' 'it says what counts bp:'
RETALLY_LIBRARY=/nowhere/l.so "$retally" doctor >out 2>err
like "$(cat out)" '^no  *libretally.so  */nowhere/l.so .*cannot be read' 'a library that is not there'

exits 2 'an unknown chip' "$retally" plan --chip gfx90b --set full
like "$(cat err)" 'gfx90b.*did you mean .gfx90' 'is answered with the nearest'
exits 2 'an unknown set' "$retally" plan --chip gfx90a --set ful
like "$(cat err)" "full" 'is answered with the nearest'
exits 2 'an unknown metric' "$retally" plan --chip gfx90a -m no_such_metric
exits 2 'a bad metrics file' "$retally" plan --metrics-file /dev/null/x --count
exits 0 'a pass explained' "$retally" plan --chip gfx90a --set full --explain 1
like "$(cat out)" 'SQ.*8' 'names the block that is full'
exits 0 'a metric explained' "$retally" plan --chip gfx90a --set full --explain "$(echo "$metrics" | sed -n 2p)"
exits 1 'two plans that differ' "$retally" plan --diff a.json b.json
like "$(cat out)" '^passes: ' 'the difference is shown'
exits 0 'a plan and itself' "$retally" plan --diff a.json a.json
sed 's/SQ_WAVES/SQ_WAVEZ/' a.json >edited.json
exits 2 'an edited plan file' "$retally" plan --diff a.json edited.json
like "$(cat err)" 'edited.json' 'is refused by name'
if "$retally" list metrics -k exact:frequency --format csv | grep -q "needs 'cycles'"; then
	exits 2 'only metrics that cannot be had here' "$retally" plan -m frequency,ipc
	like "$(cat err)" "^retally: error: nothing of the selection can be collected: 'frequency': needs 'cycles': .* \(and others\)$" 'refused with the reason'
else
	skip 'this machine counts cycles' 'only metrics that cannot be had here'
fi
done_testing
