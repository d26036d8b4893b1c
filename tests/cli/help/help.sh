#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Help, man pages and completions name the same commands and the same options.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
man=$RETALLY_BUILD/man
commands=$("$retally" --help | sed -n 's/^  retally \([a-z]*\) .*/\1/p')
is "$(printf '%s' "$commands" | tr '\n' ' ')" 'run plan list report merge export diff doctor' 'the commands'
is "$(sed -n 's/^\.BR retally\\-\([a-z]*\) (1)$/\1/p' "$man/retally.1")" "$commands" 'are those of the man page'
for c in $commands; do
	"$retally" "$c" --help >help.txt
	like "$(head -1 help.txt)" "^usage: retally $c" "$c: usage"
	if command -v python3 >/dev/null; then
		is "$(python3 "$RETALLY_SOURCE/tests/cli/help/compare.py" "$c" "$man" <help.txt)" \
			"$(grep -cE '^  (-.,|   ) --' help.txt) options" "$c: letters, names, arguments and sentences are the same everywhere"
	fi
	want=$(grep -oE '^  (-.,|   ) --[a-z-]+' help.txt | grep -oE -- '--[a-z-]+' | sort)
	letters=$(grep -oE '^  -.,' help.txt | tr -d ' ,' | sort)
	is "$(sed 's/\\-/-/g' "$man/retally-$c.1" | grep -oE '^(\\fB-.\\fR, )?\\fB--[a-z-]+' | grep -oE -- '--[a-z-]+' | sort)" "$want" "$c: man page"
	is "$(sed 's/\\-/-/g' "$man/retally-$c.1" | grep -oE '^\\fB-[A-Za-z]\\fR' | cut -c4-5 | sort)" "$letters" "$c: letters of the man page"
	like "$(sed -n '/^.SH NAME/{n;p}' "$man/retally-$c.1")" "^retally.-$c .- [a-z]" "$c: is named in its page"
	# shellcheck disable=SC2016
	got=$(bash -c '. "$1"; COMP_WORDS=(retally "$2" -); COMP_CWORD=2; _retally; printf "%s\n" "${COMPREPLY[@]}"' - "$man/retally" "$c" | sort)
	is "$got" "$(printf '%s\n%s\n' "$want" "$letters" | sed '/^$/d' | sort)" "$c: bash"
	is "$(sed -n "/^\t$c)/,/;;/p" "$man/_retally" | grep -oE "'\*-[-a-zA-Z]+\[" | tr -d "'*[" | sort)" \
		"$(printf '%s\n%s\n' "$want" "$letters" | sed '/^$/d' | sort)" "$c: zsh"
	is "$(grep "seen_subcommand_from $c'" "$man/retally.fish" | grep -oE -- ' -l [a-z-]+' | sed 's/ -l /--/' | sort)" "$want" "$c: fish"
done
# shellcheck disable=SC2016
is "$(bash -c '. "$1"; COMP_WORDS=(retally ex); COMP_CWORD=1; _retally; echo "${COMPREPLY[@]}"' - "$man/retally")" export 'bash completes commands'
if command -v zsh >/dev/null; then zsh -n "$man/_retally"; ok $? 'zsh reads its file'; else skip 'no zsh' 'zsh reads its file'; fi
if command -v fish >/dev/null; then fish -n "$man/retally.fish"; ok $? 'fish reads its file'; else skip 'no fish' 'fish reads its file'; fi
if command -v mandoc >/dev/null; then
	is "$(mandoc -T lint -W error "$man"/*.1 2>&1)" '' 'mandoc has no error'
else
	skip 'no mandoc' 'mandoc has no error'
fi

# What was printed has to have arrived.
for words in --help --version 'run --help' 'list counters' 'list sets' doctor 'plan -e task-clock'; do
	# shellcheck disable=SC2086 # several words
	{ "$retally" $words >/dev/full; } 2>err
	is $? 2 "$words, on a full disk: the status"
	is "$(grep -c '^retally: error: .*\(cannot write\|could not be written\)' err)" 1 "$words, on a full disk: said once"
	# shellcheck disable=SC2086
	{ "$retally" $words >&-; } 2>err
	is $? 2 "$words, standard output closed: the status"
done
# No file that is opened takes the place of a closed one: seen while a pipe that nobody reads holds up what is printed.
mkfifo pipe
"$retally" list counters --chip gfx942 --json <&- >pipe 2>&- &
exec 3<pipe
for _ in $(seq 200); do
	stands=$(readlink "/proc/$!/fd/0" "/proc/$!/fd/2")
	[ "$stands" = $'/dev/null\n/dev/null' ] && break
	sleep 0.05
done
is "$stands" $'/dev/null\n/dev/null' 'closed standard descriptors are filled'
cat <&3 >/dev/null
exec 3<&-
wait
# A message is one line, whatever a name in it holds.
RETALLY_RANK=$'1\nretally: error: made up' "$retally" run -q -o one -e task-clock -- true 2>err
is $? 0 'a rank of two lines: the status'
unlike "$(cat err)" '^retally: error' 'a rank of two lines is warned of in one'
"$retally" report $'no such\nretally: error: thing' 2>err
is "$(wc -l <err)" 1 'a name of two lines: one line'
done_testing
