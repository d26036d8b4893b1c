# SPDX-License-Identifier: Apache-2.0
# For the tests with AMD's libraries as stand-ins (tests/standins/rocm): source it after lib.sh.
# shellcheck shell=bash
: "${sandbox:?source tests/cli/lib.sh first}"
traps=$programs/hsa_traps
dump=$programs/dump_spool
export LD_LIBRARY_PATH=$RETALLY_BUILD/tests/standins/rocm RETALLY_KFD=$sandbox/kfd
export RETALLY_T0_REPORT=$sandbox/report
[ -x "$traps" ] || skip_all 'the stand-ins for AMD libraries are for x86-64'

gpu() { # GFX-TARGET-VERSION: what the kernel says is in this machine
	mkdir -p kfd/nodes/0 kfd/nodes/1
	echo 'gfx_target_version 0' >kfd/nodes/0/properties
	echo "gfx_target_version $1" >kfd/nodes/1/properties
}
alone() { # TRAP: its output without retally goes to the file alone.TRAP, what it leaves to left.TRAP
	[ -f "alone.$1" ] && return
	rm -f report
	"$traps" "$1" >"alone.$1" 2>err
	grep -o '[0-9]* allocations' report | tail -1 >"left.$1"
	signals >"signals.$1"
}
signals() { grep -o '[0-9]* signals' report | tail -1 | cut -d' ' -f1; }
run() { # DIR TRAP OPTION...: status in $status, output in out
	local dir=$1 trap=$2
	shift 2
	rm -rf "$dir" report
	timeout 120 "$retally" run -q --source rocm -o "$dir" "$@" -- "$traps" "$trap" >out 2>err
	status=$?
}
accounted() { # DIR: dispatches with counts, and those that were declined without any, for a reason that is named
	local rows declined
	rows=$("$retally" report "$1" --by dispatch --wide --format csv -e SQ_WAVES | tail -n +2 | grep -c .)
	declined=$("$retally" report "$1" --by reason --format csv | awk -F, '/,not counted,./ { n += $1 } END { print n + 0 }')
	echo $((rows + declined))
}
counted() { # DIR: dispatches with counts
	"$retally" report "$1" --by dispatch --wide --format csv -e SQ_WAVES | tail -n +2 | grep -c .
}
findings() { # DIR: what the report has to say of the run, on one line
	"$retally" report "$1" | sed -n '/^findings/,$p' | tr -s ' \n' ' '
}
clean() { # NAME TRAP: T0 saw no misuse, and nothing of ours was left
	unlike "$(cat report)" 'MISUSE|[1-9][0-9]* configurations' "$1: no misuse, no configuration left"
	is "$(grep -o '[0-9]* allocations' report | tail -1)" "$(cat "left.$2")" "$1: no memory of ours is left"
	# The SDK of the stand-ins keeps the one of its last dispatch.
	[ "$(signals)" -le $(($(cat "signals.$2") + 1)) ]
	ok $? "$1: no signal of ours is left"
}
wrong_records() { # PLAN RECORDS DISPATCHES 'BLOCK=INSTANCES ...': counters that have more or fewer values than dispatches x instances
	awk -v dispatches="$3" -v table="$4" '
		BEGIN { n = split(table, t, "[ =]"); for (i = 1; i < n; i += 2) instances[t[i]] = t[i + 1] }
		FNR == 1 { file++ }
		file == 1 && /^  "passes"/ { in_passes = 1 }
		file == 1 && /^  "metrics"/ { in_passes = 0; over = 1 }
		file == 1 && !in_passes && !over && /^      "name":/ { gsub(/[",]/, ""); name[counters++] = $2 }
		file == 1 && !in_passes && !over && /^      "block":/ { gsub(/[",]/, ""); block[counters - 1] = $2 }
		file == 1 && in_passes && /"pass":/ { gsub(/,/, ""); pass = $2 }
		file == 1 && in_passes && /^ *[0-9]+,?$/ { gsub(/,/, ""); want[pass " " $1] = name[$1] ~ /\]$/ ? 1 : instances[block[$1]] }
		file == 2 && $1 == "value" && NF == 4 { got[$2 " " $3]++ }
		END {
			for (k in want) {
				split(k, at, " "); wanted++
				if (got[k] + 0 != want[k] * dispatches) print name[at[2]], "in pass", at[1] ":", got[k] + 0, "of", want[k] * dispatches
			}
			for (k in got) if (!(k in want)) print "nobody wanted counter and pass", k
			if (!wanted) print "no plan"
		}' "$1" "$2"
}
replayed() { # NAME TRAP MODE LAUNCHES LEAST INSTANCES COLLECTED [ABSENT]: a program with the full set and the counters in $more;
	# at least LEAST dispatches are counted, and then the report says COLLECTED; records that match ABSENT may be missing
	local name=$1 trap=$2 counted
	run dir "$trap" --replay "$3" --set full -e "${more:?}"
	is "$status $(cat out)" "0 $(cat "alone.$trap")" "$name: the output is the program's"
	is "$(accounted dir)" "$4" "$name: every dispatch is counted or declined by name"
	counted=$(counted dir)
	[ "$counted" -ge "$5" ]
	ok $? "$name: at least $5 are counted"
	[ "$5" = 0 ] || like "$("$retally" report dir | grep '^collected')" "$7" "$name: all of it"
	"$dump" dir/spool/*.rts >records
	is "$(wrong_records dir/plan.json records "$counted" "$6" | grep -vE "${8:-^$}" | head -5)" '' \
		"$name: a record of each instance of each counter in each pass"
}
any_gpu() { # the probe's lines without how many values there were: the GPU of the golden file has other instances
	sed 's/values [1-9][0-9]*$/values N/'
}
tool_library() { # MAPS: the sums of the files named libretally.so that a program had loaded
	awk '/\/libretally\.so$/ { print $6 }' "$1" | sort -u | xargs -r sha256sum | cut -d' ' -f1 | sort -u
}
