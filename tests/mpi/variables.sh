#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Each variable that retally reads with a value that means nothing, in a real job: the program is unharmed, and what is
# said of it is one sentence. variables.sh LAUNCHER
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
# shellcheck source=tests/mpi/lib.sh
. "$RETALLY_SOURCE/tests/mpi/lib.sh" || exit 99
need_launcher "$1"
ranks=2
mpi_program c "$(mpi_of "$1")" || skip_all "$why"
mpi_job "$1"
"${job[@]}" "${app[@]}" 2>err | sort >plain
"$programs/make_plan" plan.json page-faults
watched=()
mapfile -t variables < <(grep -v '^#' "$RETALLY_SOURCE/tests/cli/inject/variables.txt")
# WHERE SETTING: the job with SETTING in the environment of the command, of each rank's command, or of the rank itself
run() {
	case $1 in
	command) watched=(env "$2" "$retally" run -q -e page-faults -o d -- "${job[@]}" "${app[@]}") ;;
	rank) watched=("${job[@]}" env "$2" "$retally" run -q -e page-faults -o d -- "${app[@]}") ;;
	inside)
		watched=("${job[@]}" env "RETALLY_PLAN=$PWD/plan.json" "RETALLY_OUT=$PWD/d" RETALLY_PASS=1 "$2"
			"LD_PRELOAD=$libretally" "${app[@]}")
		;;
	esac
	rm -rf d
	timeout 60 "${watched[@]}" >out 2>err </dev/null
}
for where in command rank inside; do
	harmed='' said='' worth=0
	for variable in "${variables[@]}"; do
		run $where "$variable=-1 junk"
		status=$?
		[ $status = 0 ] && [ "$(sort out)" = "$(cat plain)" ] || harmed+=" $variable:$status"
		# Every rank may say it.
		[ "$(grep -c . err)" = 0 ] || worth=$((worth + 1))
		[ "$(sort -u err | grep -c .)" -le 1 ] || said+=" $variable: $(sort -u err)"
	done
	is "$harmed" '' "$where: the program is unharmed"
	is "$said" '' "$where: one sentence at most"
	[ $worth -gt 0 ]
	ok $? "$where: some are worth one"
done
done_testing
