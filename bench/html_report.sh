#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# HTML reports of 1,000, 100,000 and 400,000 dispatches: how long they take to write, and a browser to open.
# usage: html_report.sh BUILD [RUNS]
set -eu
build=$(realpath "$1")
runs=${2:-5}
here=$(cd "$(dirname "$0")" && pwd)
python=
for p in python3 /usr/bin/python3; do
	"$p" -c 'import websocket' 2>/dev/null && python=$p && break
done
if [ -z "$python" ] || ! command -v chromium >/dev/null; then
	echo 'left out: no chromium, or no python3-websocket'
	exit 0
fi
RETALLY_DATA=$(realpath "$here/../data")
export RETALLY_DATA
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chromium --version
cd "$folder"
for n in ${SIZES:-1000 100000 400000}; do
	"$build/tests/unit/report/make_page_dir" many "$n.retally" "$n"
	"$build/src/cli/retally" report "$n.retally" --format html >/dev/null # the database
	begin=$(date +%s%N)
	"$build/src/cli/retally" report "$n.retally" --format html >"$n.html"
	echo "$n.html: written in $((($(date +%s%N) - begin) / 1000000)) ms"
done
# shellcheck disable=SC2046 # numbers
"$python" "$here/html_load.py" "$runs" $(printf "%s.html " ${SIZES:-1000 100000 400000})
