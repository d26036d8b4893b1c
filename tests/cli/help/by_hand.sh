#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each script of tests/ that somebody runs by hand, without what meson sets, in bash or in sh, ends at once with one
# sentence and leaves nothing where it stands; so does one that is given another folder than the sources.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
mapfile -t scripts < <(find "$RETALLY_SOURCE/tests" -name '*.sh' | sort)
[ ${#scripts[@]} -gt 80 ]
ok $? 'the scripts are found'
mkdir empty && cd empty || exit 99
# NAME COMMAND...: the scripts that, after COMMAND, do not end by themselves, at once, with a status and one sentence
stray() {
	local script rc found=''
	for script in "${scripts[@]}"; do
		timeout 20 env -u RETALLY_SOURCE -u RETALLY_BUILD "${@:2}" "$script" >../out 2>../err </dev/null
		rc=$?
		case $script:$rc in
		*/lib.sh:0) ;; # only sourced: it defines its functions
		*:0 | *:124) found+=" $script: status $rc" ;;
		*) [ "$(wc -l <../err)" = 1 ] && [ ! -s ../out ] || found+=" $script: $(cat ../out ../err)" ;;
		esac
		if [ -n "$(ls -A)" ]; then
			found+=" $script: left $(ls -A | paste -sd' ')"
			rm -rf ./*
		fi
	done
	is "$found" '' "$1"
}
stray 'without the variables' bash
stray 'without the variables, sh' sh
stray 'without the folder of the build' env RETALLY_SOURCE="$RETALLY_SOURCE" bash
stray 'with another folder' env RETALLY_SOURCE="$PWD" RETALLY_BUILD="$RETALLY_BUILD" bash
done_testing
