#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Planning for NVIDIA chips, asked of CUPTI, which needs no GPU. Passes are those of CUPTI 13.0.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99

if "$retally" doctor | grep -q '^no .*CUPTI'; then
	exits 2 'an NVIDIA chip without CUPTI' "$retally" plan --chip GH100 --set basic
	like "$(cat err)" 'CUPTI.*not found' 'is refused with what to install'
	skip 'CUPTI is not installed' 'passes of the sets'
	done_testing
	exit
fi

for want in basic:GH100:9 basic:GA100:10 basic:GB100:8 detailed:GH100:12 full:GH100:25; do
	IFS=: read -r set chip most <<<"$want"
	got=$("$retally" plan --chip "$chip" --set "$set" --count)
	[ "${got:-99}" -le "$most" ] && [ "$got" -ge 2 ]
	ok $? "$chip, set $set: $got passes, at most $most"
done
study=$(paste -sd, "$RETALLY_SOURCE/tests/cli/plan/study.counters")
is "$("$retally" plan --chip GH100 -e "$study" --count)" 13 'the 57 counters of a study take 13 passes on GH100'
is "$("$retally" plan --chip GH100 -e "$(tr , '\n' <<<"$study" | sort -r | paste -sd,)" --json)" \
	"$("$retally" plan --chip GH100 -e "$study" --json)" 'in another order: the same plan, byte for byte'
exits 2 'a counter that CUPTI does not know' "$retally" plan --chip GH100 -e no__such.sum
like "$(cat err)" 'no__such.sum' 'is named'
exits 2 'an unknown chip' "$retally" plan --chip GH999 --set basic
like "$(cat err)" 'GH100' 'is answered with the known ones'
exits 2 'an architecture in place of a chip' "$retally" plan --chip sm_90 --set basic
like "$(cat err)" "'sm_90' is an architecture.*--chip GH100" 'is answered with its chip'
# What the sets name and no chip has would be a mistake that nobody sees.
for chip in GH100 GA100 GB100 AD102; do
	"$retally" plan --chip $chip --set full >out
	sed '1,/does not have/d' out | tr -d ' ' | tr ',' '\n' | sort >absent.$chip
	is "$(sed -n "s/^$chip does not have \([0-9]*\) of .*/\1/p" out)" "$(sort -u absent.$chip | wc -l)" \
		"a set of which $chip has a part: what it does not have is counted, and each named once"
done
is "$(comm -12 absent.GH100 absent.GA100 | comm -12 - absent.GB100 | comm -12 - absent.AD102)" '' 'the set full names nothing that no chip has'
exits 0 'a counter explained' "$retally" plan --chip GH100 --set basic --explain sm__throughput.avg.pct_of_peak_sustained_elapsed
like "$(cat out)" '8 passes alone' 'names what it costs'
RETALLY_CUPTI=/nowhere/libcupti.so exits 2 'a library that is not there' "$retally" plan --chip GH100 --set basic
like "$(cat err)" '/nowhere/libcupti.so' 'is named'
done_testing
