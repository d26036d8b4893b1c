#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# --fixed-seed: a program that seeds itself from time or random bytes does the same in every pass; where that is
# not reached, it is said.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
program=$programs/monte_carlo
counters=bp:step,bp:main,bp:seed_from,bp:printf,bp:malloc,bp:free,page-faults
[ "$("$retally" plan -e $counters --count "$program" 2>err)" -ge 2 ] 2>>err || skip_all "no plan of two passes here: $(head -1 err)"

for source in time clock timeofday getrandom getentropy open fopen; do
	exits 0 "$source" "$retally" run --replay application -e $counters --fixed-seed -o "$source" -- "$program" $source
	is "$(grep -c '^seed [0-9]' err)" 1 "$source: the streams are those of pass 1"
	unlike "$(cat err)" 'differs from that of pass 1' "$source: both passes did the same"
done
exits 0 'without the option' "$retally" run --replay application -e $counters -o without -- "$program" getrandom
like "$(cat err)" 'stderr of pass 2 differs from that of pass 1' 'passes draw other numbers'
exits 0 'a raw system call' "$retally" run --replay application -e $counters --fixed-seed -o raw -- "$program" raw
like "$(cat err)" 'stderr of pass 2 differs from that of pass 1' 'is not reached, and the passes are told apart'

# The report shows whether the anchors of the passes agree.
differ() { # DIR: by how many percent of page faults the passes differ
	"$retally" report "$1" | sed -n 's/^anchors .*page-faults: passes differ by \([0-9.]*\) %.*/\1/p'
}
far() { awk -v x="$(differ "$1")" 'BEGIN { exit !(x != "" && x > 20) }'; }
for source in time getrandom open; do
	far "$source"; ok $((!$?)) "$source: the anchors agree ($(differ "$source") %)"
done
for i in 1 2 3 4 5 6; do # numbers may be alike by chance, but not each time
	"$retally" run -q --replay application -e $counters -o "apart$i" -- "$program" getrandom >out 2>err
	far "apart$i" && break
done
far "apart$i"; ok $? "without the option they do not ($(differ "apart$i") %)"

# Launches with the same --seed are the same, and with another are not.
for i in 1 2 3; do
	exits 0 "launch $i" "$retally" run -q --replay application -e $counters --fixed-seed --seed $((i / 3 + 7)) --pass 1 -o s$i -- "$program" clock
	cp err seed$i
done
is "$(cat seed2)" "$(cat seed1)" 'two launches with the same --seed'
exits 0 'getrandom of seed 7' "$retally" run -q --replay application -e $counters --fixed-seed --seed 7 --pass 1 -o g7 -- "$program" getrandom
cp err seed7
exits 0 'getrandom of seed 8' "$retally" run -q --replay application -e $counters --fixed-seed --seed 8 --pass 1 -o g8 -- "$program" getrandom
[ "$(cat seed7)" != "$(cat err)" ]
ok $? 'another --seed, other numbers'
exits 0 'a program that waits for the time' timeout 60 "$retally" run -q --replay application -e $counters --fixed-seed --pass 1 -o wait -- "$program" wait

exits 0 'a static program' "$retally" run -q -e page-faults --fixed-seed -o static -- "$programs/actor_static" exit 0
like "$(cat err)" "^retally: --fixed-seed does not reach '.*actor_static': " 'is named, and runs'
exits 125 'in place' "$retally" run --source sim --replay window --fixed-seed -o place -- "$program"
like "$(cat err)" 'fixed-seed is for --replay application' 'it makes no sense'
done_testing
