#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The report as a page, in a real browser: report_checks.py says what is checked there.
# shellcheck source=tests/cli/lib.sh
. "${RETALLY_SOURCE:?run by meson test; by hand, set it and RETALLY_BUILD}/tests/cli/lib.sh" || exit 99
browser=$RETALLY_SOURCE/tests/browser
make=$RETALLY_BUILD/tests/unit/report/make_page_dir
export PYTHONDONTWRITEBYTECODE=1
python=
for p in python3 /usr/bin/python3; do # the first one may not be Debian's, which has the package
	"$p" -c "import sys; sys.path.insert(0, '$browser'); import devtools, websocket; sys.exit(not devtools.find())" 2>/dev/null &&
		python=$p && break
done
[ -n "$python" ] || skip_all 'no chromium, or no python3-websocket'
prepare() { "$@" >>log 2>&1 || { sed 's/^/# /' log | tail -20; echo "Bail out! $*"; exit 1; }; }
page() { # DIR NAME: NAME.html and NAME.json
	"$retally" report "$1" --format html >"$2.html" 2>>log && "$retally" report "$1" --format json >"$2.json" 2>>log
}
prepare "$retally" run -q --source sim --replay window --set default -e DEV_SAMPLED_LOADS,DEV_SAMPLED_STORES -o sim.retally -- \
	"$RETALLY_BUILD/examples/sim_demo"
prepare page sim.retally sim
"$retally" report sim.retally --by dispatch --wide --format json >dispatches.json 2>>log
prepare "$make" hostile hostile.retally
prepare page hostile.retally hostile
prepare "$make" many many.retally 100000
prepare page many.retally many
prepare "$retally" run -q --source sim --distribute dispatch --until 50% -o until.retally -- "$programs/sim_program" 400 return
prepare page until.retally until
"$python" "$browser/report_checks.py" "$sandbox"
exit $?
