/* SPDX-License-Identifier: Apache-2.0
 * What there is to be warned of, worst first, then what was run and collected. */

function grouped(list, key) {
	const groups = new Map();
	for (const x of list)
		groups.set(key(x), [...(groups.get(key(x)) ?? []), x]);
	return groups;
}

function some(names, n = 6) {
	const shown = names.slice(0, n).map(visible).join(', ');
	return names.length > n ? shown + ' and ' + thousands(names.length - n) + ' more' : shown;
}

/* "0, 2-5" are how many. */
function countOf(list) {
	return list.split(', ').reduce((sum, part) => {
		const [a, b] = part.split('-').map(Number);
		return sum + (b === undefined ? 1 : b - a + 1);
	}, 0);
}

function missingWarnings(add) {
	for (const p of doc.missing_passes)
		add('bad', 'Not complete', `Pass ${p.pass} of ${doc.plan.passes} is missing or cut off. This collects it:`, p.command);
	for (const [reason, list] of grouped(doc.not_collected, x => x.reason))
		add('bad', 'Not collected', `${visible(reason)}: ${some(list.map(x => x.name), 8)}`);
	let declined = 0, left = 0;
	const rows = new Rows(doc.declined), why = new Map();
	for (let r = 0; r < rows.n; r++) {
		if (rows.at(r, 'instead') === 'estimated') {
			left += rows.at(r, 'n');
			continue;
		}
		declined += rows.at(r, 'n');
		why.set(rows.at(r, 'reason'), (why.get(rows.at(r, 'reason')) ?? 0) + rows.at(r, 'n'));
	}
	if (declined) {
		const reasons = [...why].sort((a, b) => b[1] - a[1]).map(([text, n]) => `${text} (${thousands(n)})`);
		add('warn', 'Declined', `${plural(declined, 'dispatch was', 'dispatches were')} not replayed: ${some(reasons, 4)}`);
	}
	if (left)
		add('note', 'Left out', `${plural(left, 'dispatch was', 'dispatches were')} not counted: others of the kernel had told enough by then (--until)`);
	const m = doc.matching;
	if (m && m.incomplete)
		add('warn', 'Not matched', `${plural(m.incomplete, 'dispatch is', 'dispatches are')} not in every execution of the program: ` +
			some(m.unmatched.map(u => `${u.n} of ${u.of} of ${u.kernel}`), 4));
	if (m && (m.aligned || m.nearest))
		add('warn', 'Matching', `${thousands(m.aligned + m.nearest)} pairs of dispatches were found by their order or by their anchors ` +
			`alone; the lowest confidence is ${digits(m.lowest_confidence)}`);
}

function valueWarnings(add) {
	const differing = kernels.filter(k => info(k, 'sameness') === 'varying');
	if (differing.length) {
		const worst = differing.map(k => {
			const largest = info(k, 'anchor_largest');
			return k.name + (largest === null ? '' : ` (${visible(info(k, 'anchor'))}: ${share(largest)})`);
		});
		add('warn', 'Varying', `passes of ${plural(differing.length, 'kernel')} did not all do the same work: ${some(worst, 4)}`);
	}
	const apart = kernels.filter(k => doc.plan.passes > 1 && k.row >= 0 && info(k, 'sameness') === 'incomparable');
	if (apart.length)
		add('warn', 'Incomparable', `for ${plural(apart.length, 'kernel')} nothing tells whether the passes did the same work: ${some(apart.map(k => k.name), 4)}`);
	const high = new Map(), ranks = new Set();
	let left = 0, split = 0;
	for (let r = 0; r < values.n; r++) {
		const v = values.at(r, 'value'), of = values.at(r, 'of_ranks'), who = values.at(r, 'ranks');
		if (v !== null && values.at(r, 'unit') === '%' && v > 100)
			high.set(values.at(r, 'name'), values.at(r, 'reason'));
		if (of && who && countOf(who) < of)
			ranks.add(values.at(r, 'name'));
		left += values.at(r, 'status') === 'overflowed' || values.at(r, 'status') === 'multiplexed';
		split += values.at(r, 'status') === 'split';
	}
	if (left)
		add('bad', 'Unusable', `${plural(left, 'value')} overflowed or had to share its slot; the reason is on each`);
	for (const [reason, list] of grouped([...high], x => x[1]))
		add('warn', 'Over 100 %', `${some(list.map(x => x[0]))}: ${visible(reason ?? 'counted so')}`);
	if (ranks.size)
		add('warn', 'Some ranks only', `not every rank measured ${some([...ranks])}; these are values of some ranks and no totals of the job`);
	if (split)
		add('note', 'Put together', `${plural(split, 'value')} of several passes, marked \u201csplit\u201d, with the error that the anchors suggest`);
}

function warnings() {
	const list = [];
	const add = (level, kind, text, command) => list.push({level, kind, text, command});
	missingWarnings(add);
	for (const f of doc.findings)
		add('warn', f.pass ? 'Pass ' + f.pass : 'Finding', visible(f.text) + (f.n > 1 ? ` (${thousands(f.n)} times)` : ''));
	valueWarnings(add);
	const rank = {bad: 0, warn: 1, note: 2};
	return list.map((w, i) => [w, i]).sort((a, b) => rank[a[0].level] - rank[b[0].level] || a[1] - b[1]).map(x => x[0]);
}

function warningList() {
	const list = warnings();
	if (!list.length)
		return el('p', {class: 'fine'}, 'Everything that was asked for was collected, and there is nothing to warn of.');
	return el('ul', {class: 'warnings', 'aria-label': 'Warnings'}, list.map(w => el('li', {class: w.level},
		el('span', {class: 'kind'}, w.kind), named(w.text), w.command ? el('code', {class: 'block'}, visible(w.command)) : null)));
}

function tile(title, value, ...more) {
	return el('div', {}, el('dt', {}, title), el('dd', {}, value, more.filter(Boolean).map(m => el('small', {}, m))));
}

function tiles() {
	const c = doc.run.collected, plan = doc.plan, list = [];
	const work = kernels.filter(k => k.row >= 0);
	const total = work.reduce((sum, k) => sum + (info(k, 'dispatches') ?? 0), 0);
	const time = work.reduce((sum, k) => sum + (info(k, 'mean_ns') ?? 0) * (info(k, 'dispatches') ?? 0), 0);
	const least = plan.proven ? 'proven minimal' : `at least ${plan.lower_bound} are needed`;
	if (work.length)
		list.push(tile('Kernels', thousands(work.length), plural(total, 'dispatch', 'dispatches') + (time ? ', ' + show(time, 'ns') : '')));
	else
		list.push(tile('Executions', thousands(c.executions)));
	list.push(tile('Passes', `${c.passes} of ${plan.passes}`, least));
	list.push(tile('Counters', `${thousands(c.counters)} of ${thousands(doc.design.counters.length)}`,
		plural(doc.design.metrics.length, 'metric')));
	list.push(tile('Counted on', visible(plan.chip) || '\u2013', plural(c.executions, 'execution') + ', ' + plural(c.spools, 'process', 'processes')));
	if (doc.replay) {
		const r = doc.replay, times = r.live_ns ? r.span_ns / r.live_ns : 0;
		list.push(tile('Cost of replay', times ? times.toFixed(1) + '\u00d7' : show(r.span_ns, 'ns'),
			`${show(r.live_ns, 'ns')} live, ${show(r.span_ns, 'ns')} with replays`,
			`${show(r.saved_bytes, 'bytes')} saved, ${show(r.restored_bytes, 'bytes')} restored`));
	}
	const same = work.filter(k => info(k, 'sameness') === 'deterministic').length;
	if (work.length && plan.passes > 1)
		list.push(tile('Passes agree', `${same} of ${work.length}`, 'kernels whose anchors were the same in all passes'));
	return el('dl', {class: 'tiles'}, list);
}

function summarySection() {
	const note = [];
	if (doc.ratio === 'mean')
		note.push(el('p', {class: 'lead'}, 'Metrics over several dispatches are means of the values of each (--ratio mean).'));
	section('summary', 'Summary', null, warningList(), tiles(), ...note);
}
