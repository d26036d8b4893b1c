# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# For the scripts that need a GPU: results are lines "ok" and "not ok", the last line counts them.
passed=0 failed=0
check() { # STATUS NAME
	if [ "$1" = 0 ]; then
		passed=$((passed + 1))
		echo "ok $2"
	else
		failed=$((failed + 1))
		echo "not ok $2"
	fi
}
ended() {
	echo "$passed passed, $failed failed"
	[ "$failed" = 0 ]
}
# The machine that figures belong to, one line each.
machine() {
	nvidia-smi --query-gpu=name,driver_version --format=csv,noheader
	nvcc --version | sed -n 's/.*\(release [^,]*\).*/nvcc \1/p'
	"${retally:?}" doctor 2>/dev/null | grep -i cupti
	uname -sr
}
# The same, of scripts for PyTorch, whose results are to be the same each time.
machine_torch() {
	export CUBLAS_WORKSPACE_CONFIG=:4096:8
	machine
	python3 -c 'import torch; print("PyTorch", torch.__version__)'
}
# Counters that CUPTI schedules in several passes on every chip that it supports; or those in COUNTERS, one a line.
counters() {
	[ -z "${COUNTERS:-}" ] || { echo "$COUNTERS"; return; }
	printf '%s\n' gpu__time_duration.sum sm__cycles_elapsed.max smsp__inst_executed.sum sm__warps_active.avg.pct_of_peak_sustained_active \
		lts__t_sectors_op_read.sum lts__t_sectors_op_write.sum lts__t_sector_hit_rate.pct \
		l1tex__data_bank_conflicts_pipe_lsu.sum sm__throughput.avg.pct_of_peak_sustained_elapsed
}
# Lines "number <tab> kernel <tab> reason" of what was not replayed in a run directory.
reasons() { # DIRECTORY
	"${retally:?}" report "$1" --by reason --format csv 2>/dev/null | python3 -c 'import csv, sys
for row in csv.DictReader(sys.stdin):
    print(row["n"], row["kernel"], row["reason"], sep="\t")'
}
# Whether each dispatch has values, or its kernel a reason why not; what was found is left in $accounted.
accounted() { # DIRECTORY
	reasons "$1" >"$1.reasons"
	# shellcheck disable=SC2034
	accounted=$("${retally:?}" report "$1" --by dispatch --format csv --wide 2>/dev/null | python3 -c 'import csv, sys
named = {line.split("\t")[1] for line in open(sys.argv[1])}
rows = list(csv.DictReader(sys.stdin))
without = [row["kernel"] for row in rows if row["counted"] == "0"]
silent = sorted({name for name in without if name not in named})
print(len(rows), "dispatches,", len(without), "without values, of these without a reason:", ", ".join(silent) or "none")
sys.exit(not rows or bool(silent))' "$1.reasons")
}
