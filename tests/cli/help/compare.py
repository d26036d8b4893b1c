#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every option of one command: letter, name, argument and sentence as --help has them (on stdin) against
man page and completions. compare.py COMMAND MAN-DIRECTORY prints what differs, and how many there are."""
import re
import sys

command, man = sys.argv[1:]


def read(name):
    with open(f"{man}/{name}", encoding="utf-8") as f:
        return f.read()


want = [(m[1], m[2], m[3], m[4])
        for m in re.finditer(r"^  (?:-(.),|   ) --([a-z-]+)(?: (\S+))? +(\S.*)$", sys.stdin.read(), re.M)]

page = read(f"retally-{command}.1").replace("\\-", "-").replace("\\e", "\\")
page = page[page.index(".SH OPTIONS"):page.index(".SH SEE ALSO")]
in_man = [(m[1], m[2], m[3], m[4]) for m in
          re.finditer(r"^\.TP\n(?:\\fB-(.)\\fR, )?\\fB--([a-z-]+)\\fR(?: \\fI(\S+)\\fR)?\n(.*)$", page, re.M)]

in_fish = [(m[1], m[2], bool(m[3]), m[4].replace("\\'", "'").replace("\\\\", "\\")) for m in
           re.finditer(rf"^complete -c retally -n '__fish_seen_subcommand_from {command}'(?: -s (.))? -l (\S+)( -r)? -d '(.*)'$",
                       read("retally.fish"), re.M)]

zsh = read("_retally")
zsh = zsh[zsh.index(f"\n\t{command})\n"):]
zsh = zsh[:zsh.index(";;")].replace("'\\''", "\0")
in_zsh = {}
for m in re.finditer(r"'\*--?([A-Za-z-]+)\[((?:[^\]\\]|\\.)*)\](?::((?:[^:\\]|\\.)*):_files)?'", zsh):
    in_zsh[m[1]] = tuple(re.sub(r"\\(.)", r"\1", x).replace("\0", "'") if x else None for x in (m[3], m[2]))


def differ(where, got, expected):
    for x in [x for x in got if x not in expected] + [x for x in expected if x not in got]:
        print(f"{where}: {x}")


differ("man page", in_man, want)
differ("fish", in_fish, [(l, n, a is not None, t) for l, n, a, t in want])
differ("zsh", sorted(in_zsh.items(), key=str),
       sorted([(x, (a, t)) for l, n, a, t in want for x in (l, n) if x], key=str))
print(len(want), "options")
