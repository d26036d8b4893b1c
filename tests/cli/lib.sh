# SPDX-License-Identifier: Apache-2.0
# TAP for tests of the command: source it, call the verbs, end with `done_testing`.
# Each script runs in a directory of its own, which is removed at the end unless KEEP=1.
# shellcheck shell=bash
set -u
: "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}" "${RETALLY_BUILD:?set it to the build directory}"
retally=$RETALLY_BUILD/src/cli/retally
libretally=$RETALLY_BUILD/src/inject/libretally.so
programs=$RETALLY_BUILD/tests/programs
export RETALLY_DATA=$RETALLY_SOURCE/data RETALLY_LIBRARY=$libretally
sandbox=$(mktemp -d "${TMPDIR:-/tmp}/retally-test.XXXXXX")
trap '[ "${KEEP:-0}" = 1 ] || rm -rf "$sandbox"' EXIT
cd "$sandbox" || exit 99
n=0
failed=0
ok() { # STATUS NAME: passes when STATUS is 0
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
}
is() { # GOT WANTED NAME
	if [ "$1" = "$2" ]; then ok 0 "$3"; else
		ok 1 "$3"
		printf '%s\n' "$1" | sed 's/^/# got:    /'
		printf '%s\n' "$2" | sed 's/^/# wanted: /'
	fi
}
like() { # TEXT EXTENDED-REGEX NAME
	if printf '%s\n' "$1" | grep -Eq -- "$2"; then ok 0 "$3"; else
		ok 1 "$3"
		printf '%s\n' "$1" | sed 's/^/# got:  /'
		echo "# wanted match of: $2"
	fi
}
unlike() { # TEXT EXTENDED-REGEX NAME
	if printf '%s\n' "$1" | grep -Eq -- "$2"; then
		ok 1 "$3"
		printf '%s\n' "$1" | sed 's/^/# got:  /'
	else ok 0 "$3"; fi
}
exits() { # STATUS NAME COMMAND...: stdout and stderr go to the files out and err
	local want=$1 name=$2 got
	shift 2
	"$@" >out 2>err
	got=$?
	[ "$got" = "$want" ] || { sed 's/^/# err: /' err | head -20; echo "# status $got, wanted $want"; }
	is "$got" "$want" "$name"
}
skip() { # REASON NAME
	n=$((n + 1))
	echo "ok $n - $2 # SKIP $1"
}
skip_all() { echo "1..0 # SKIP $1"; exit 0; }
golden() { # FILE NAME-OF-GOLDEN-FILE NAME: compares; UPDATE_GOLDEN=1 rewrites
	local want=$RETALLY_SOURCE/tests/golden/$2
	[ "${UPDATE_GOLDEN:-0}" = 1 ] && cp "$1" "$want"
	if diff -u "$want" "$1" >diff.out 2>&1; then ok 0 "$3"; else
		ok 1 "$3"
		sed 's/^/# /' diff.out | head -40
	fi
}
done_testing() { echo "1..$n"; exit $failed; }
