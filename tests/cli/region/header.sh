#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# include/retally.h: clean as C89 and as C++98, and its marks are found however the program is linked.
# shellcheck disable=SC1091,SC2154
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
cat >marks.c <<'END'
#include "retally.h"
int main(void)
{
	RETALLY_BEGIN("a");
	RETALLY_END("a");
	return 0;
}
END
cp marks.c marks.cc
cat >listen.c <<'END'
#include <stdio.h>
void retally_region_begin(const char *name) { printf("begin %s ", name); }
void retally_region_end(const char *name) { printf("end %s\n", name); }
END
strict='-Wall -Wextra -Wshadow -Wconversion -pedantic -Werror'
tried=0
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	$compiler -shared -fPIC listen.c -o listen.so 2>/dev/null || continue
	for language in 'c c89 marks.c' 'c c17 marks.c' 'c++ c++98 marks.cc' 'c++ c++17 marks.cc'; do
		read -r x std file <<<"$language"
		for flags in '-O2' '-O0 -fno-pie -no-pie' '-O2 -fno-pic -no-pie -mcmodel=large' '-O2 -fPIE -pie' '-O2 -static'; do
			case $flags in *mcmodel*) [ "$(uname -m)" = x86_64 ] || continue ;; esac
			# shellcheck disable=SC2086
			if ! $compiler -x "$x" -std="$std" $strict -I"$RETALLY_SOURCE/include" $flags "$file" -o marks 2>log; then
				if grep -q retally log; then
					ok 1 "$compiler $std $flags: compiles"
					sed 's/^/# /' log
				else skip "$compiler has no $x library here" "$compiler $std $flags"; fi
				continue
			fi
			tried=$((tried + 1))
			is "$(./marks)" '' "$compiler $std $flags: nothing without retally"
			case $flags in *static*) wanted='' ;; *) wanted='begin a end a' ;; esac
			is "$(LD_PRELOAD=./listen.so ./marks)" "$wanted" "$compiler $std $flags: found when there"
		done
	done
done
[ $tried -gt 0 ] || skip_all 'no compiler'
done_testing
