#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A retally.db with wrong bytes, one that was cut off, and a full disk: a report, or one sentence and a status other than 0;
# never a signal. Without its spools the database is all there is, with them it is made again.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
command -v python3 >/dev/null || skip_all 'no python3'
damage() { # FILE SEED: flips bytes, or cuts, as the seed says; a multiple of 8: within the first page
	python3 -c 'import os, random, sys
r = random.Random(int(sys.argv[2]))
n = os.path.getsize(sys.argv[1])
with open(sys.argv[1], "r+b") as f:
    if r.random() < .2:
        f.truncate(r.randrange(n))
    else:
        for _ in range(r.choice((1, 8, 200))):
            at = r.randrange(4096 if int(sys.argv[2]) % 8 == 0 else n)
            f.seek(at)
            f.write(bytes([r.randrange(256)]))' "$1" "$2"
}
exits 0 'a run' "$retally" run -q --source sim --replay window --set default -o r -- "$RETALLY_BUILD/examples/sim_demo"
exits 0 'its report' "$retally" report r --format csv
cp out wanted
mkdir gone && cp r/plan.json r/run.json r/retally.db gone/
bad='' refused=0 wrong=''
for seed in $(seq 40); do
	cp r/retally.db gone/retally.db
	damage gone/retally.db "$seed"
	"$retally" report gone --format csv >out 2>err
	status=$?
	[ $status -le 2 ] || bad="$bad $seed:$status"
	if [ $status = 2 ]; then
		refused=$((refused + 1))
		[ "$(wc -l <err)" = 1 ] && grep -q '^retally: ' err || bad="$bad $seed:message"
	fi
done
is "$bad" '' 'without spools: a report or one sentence'
like "$refused" '^[1-9]' 'some are refused'
for seed in 3 8 11 16 24 32; do
	rm -rf again && cp -r r again && damage again/retally.db "$seed"
	"$retally" report again --format csv >out 2>err
	status=$?
	[ $status -le 2 ] || bad="$bad $seed:$status"
	cmp -s out wanted || [ $status -gt 0 ] || wrong="$wrong $seed"
done
is "$bad" '' 'with spools: no signal'
# A byte within a value is the value of a database that is otherwise whole: those are told apart by nothing.
echo "# other values than before:${wrong:- none}"
mkdir full
if mount -t tmpfs -o size=64k retally-test full 2>/dev/null; then
	cp -r r/plan.json r/run.json r/spool full/ 2>/dev/null
	"$retally" report full >out 2>err
	status=$?
	like "$status" '^[012]$' 'a full disk: no signal'
	"$retally" merge r -o full/merged >out 2>err
	like "$?" '^[12]$' 'merging onto it fails'
	like "$(cat err)" 'No space left|full' 'and says why'
	is "$(find full/merged -name '.tmp-*' 2>/dev/null)" '' 'nothing half done stays'
	umount full
fi
done_testing
