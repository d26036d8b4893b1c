/* SPDX-License-Identifier: Apache-2.0
 * The kernels by time, and all values of one of them with where each comes from. */

function agreement(k) {
	const same = info(k, 'sameness');
	if (k.row < 0 || (doc.plan.passes < 2 && !info(k, 'anchor_compared')))
		return '\u2013';
	const anchor = info(k, 'anchor'), largest = info(k, 'anchor_largest');
	const span = el('span', {class: 'value' + (same === 'deterministic' ? '' : ' status-warn'), tabindex: '0'},
		same === 'varying' && largest !== null ? 'varying ' + share(largest) : same);
	return tip(span, () => {
		const lines = [{deterministic: 'Every anchor was the same in all passes', varying: 'Passes did not do the same work',
			incomparable: 'Too few dispatches have an anchor in two passes'}[same]];
		const add = (label, id, f) => info(k, id) !== null && lines.push([label, f(info(k, id))]);
		if (anchor)
			lines.push(['anchor', visible(anchor)]);
		add('dispatches compared', 'anchor_compared', thousands);
		add('largest difference', 'anchor_largest', share);
		add('typical difference', 'anchor_typical', share);
		add('deviation within a pass', 'anchor_within', share);
		add('deviation between passes', 'anchor_between', share);
		return lines;
	});
}

function notes(k) {
	const list = [];
	for (const [id, text] of [['varying', 'varying in memory'], ['declined', 'declined'], ['unmatched', 'not matched']])
		if (info(k, id))
			list.push(thousands(info(k, id)) + ' ' + text);
	return list.join(', ');
}

function kernelTable() {
	const k = i => kernels[i];
	const shareCell = i => {
		const s = info(k(i), 'share');
		if (s === null)
			return '\u2013';
		const fill = el('i');
		fill.style.width = 100 * s + '%';
		return [share(s), el('span', {class: 'bar wide', 'aria-hidden': 'true'}, fill)];
	};
	const numberColumn = (id, label, unit, wide) => ({id, label, number: true, wide, value: i => info(k(i), id), cell: i => show(info(k(i), id), unit)});
	const table = new SortTable({
		caption: 'Kernels, ranges and the program. A name shows its values below.',
		n: kernels.length,
		sort: {id: 'share', down: true},
		text: i => (k(i).shown + ' ' + k(i).scope).toLowerCase(),
		chosen: i => k(i) === state.kernel,
		columns: [
			{id: 'kernel', label: 'Kernel', name: true, value: i => k(i).shown, cell: i => el('button', {type: 'button', class: 'link',
				'aria-pressed': k(i) === state.kernel ? 'true' : 'false', onclick: () => choose(k(i)), title: k(i).shown},
				el('span', {class: 'swatch c' + k(i).colour, 'aria-hidden': 'true'}), named(k(i).shown),
				k(i).scope === 'kernel' ? null : ` (${k(i).scope})`)},
			{id: 'share', label: 'Share', number: true, value: i => info(k(i), 'share'), cell: shareCell},
			numberColumn('mean_ns', 'Mean time', 'ns'),
			numberColumn('min_ns', 'Least', 'ns', true),
			numberColumn('max_ns', 'Most', 'ns', true),
			{id: 'dispatches', label: 'Dispatches', number: true, value: i => info(k(i), 'dispatches') ?? k(i).executions,
				cell: i => thousands(info(k(i), 'dispatches') ?? k(i).executions)},
			{id: 'counted', label: 'Counted', number: true, wide: true, value: i => k(i).executions, cell: i => thousands(k(i).executions)},
			{id: 'sameness', label: 'Passes are', value: i => info(k(i), 'sameness'), cell: i => agreement(k(i))},
			{id: 'notes', label: 'Notes', wide: true, value: i => notes(k(i)) || null, cell: i => notes(k(i)) || '\u2013'},
		],
	});
	state.listeners.push(() => table.draw(true));
	return table;
}

/* ---- values of one kernel ---- */

const metricNamed = new Map(doc.design.metrics.map(m => [m.name, m]));
const counterNamed = new Map(doc.design.counters.map(c => [c.name, c]));

/* Where a value comes from, as lines of the tooltip. */
function provenance(r) {
	const v = id => values.at(r, id), unit = v('unit') ?? '', lines = [visible(v('name')) + (v('title') ? ': ' + visible(v('title')) : '')];
	const add = (label, text) => text !== null && text !== undefined && text !== '' && lines.push([label, text]);
	add('value', v('value') === null ? 'none' : exact(v('value'), visible(unit)));
	add('status', v('status'));
	add('reason', v('reason') && visible(v('reason')));
	add(v('passes') && v('passes').includes(',') ? 'from passes' : 'from pass', v('passes'));
	add('samples', v('value') === null ? null : thousands(v('n')) +
		(v('dispatches') === null ? ' executions' : ` of ${plural(v('dispatches'), 'dispatch', 'dispatches')}`));
	if (v('min') !== null)
		add('smallest, largest', exact(v('min')) + ' \u2026 ' + exact(v('max'), visible(unit)));
	add('sum', v('sum') === null ? null : exact(v('sum'), visible(unit)));
	add('error', v('error') === null ? null : '\u00b1 ' + show(v('error'), visible(unit)) + ', by how far the anchors of its passes differ');
	if (v('estimate') !== null) {
		add('estimate', exact(v('estimate'), visible(unit)) + ` for ${plural(v('population'), 'dispatch', 'dispatches')}`);
		add('95 % interval', v('low') === null ? 'unknown' : exact(v('low')) + ' \u2026 ' + exact(v('high'), visible(unit)));
		add('of kinds without a sample', v('missing') || null);
	}
	add('ranks', v('ranks') && v('of_ranks') ? v('ranks') + ' of ' + v('of_ranks') : null);
	const metric = v('kind') === 'metric' ? metricNamed.get(v('name')) : null;
	const counter = v('kind') === 'counter' ? counterNamed.get(v('name')) : null;
	if (metric)
		add('formula', visible(metric.expression));
	if (counter)
		add('counted by', [counter.source, counter.block, counter.anchor ? 'anchor' : ''].filter(Boolean).map(visible).join(', '));
	return lines;
}

function uncertainty(r) {
	const v = id => values.at(r, id), unit = v('unit') ?? '';
	if (v('low') !== null) {
		const [d] = scaleOf(v('value') ?? v('high'), unit);
		return digits(v('low') / d) + ' \u2026 ' + digits(v('high') / d);
	}
	if (v('estimate') !== null)
		return 'unknown';
	return v('error') === null ? '' : '\u00b1\u00a0' + show(v('error'), visible(unit));
}

function spread(r) {
	const v = id => values.at(r, id);
	if (v('min') === null)
		return '';
	const [d] = scaleOf(v('value') ?? v('max'), v('unit') ?? '');
	return v('min') === v('max') ? '' : digits(v('min') / d) + ' \u2026 ' + digits(v('max') / d);
}

function statusCell(r) {
	const s = values.at(r, 'status');
	const estimated = values.at(r, 'estimate') !== null && s === 'ok';
	return el('span', {class: s === 'ok' && !estimated ? null : s === 'split' || s === 'ok' ? 'status-warn' : 'status-bad'}, estimated ? 'sampled' : s);
}

function valueCell(r) {
	const v = values.at(r, 'value');
	const e = el('span', {class: 'value' + (v === null ? ' absent' : ''), 'data-kernel': values.at(r, 'kernel'), 'data-name': values.at(r, 'name'),
		'data-value': v === null ? '' : String(v)}, v === null ? 'none' : scaled(v, values.at(r, 'unit'))[0]);
	return tip(e, () => provenance(r));
}

/* The prefix and unit behind a value. */
const unitOf = r => visible(scaleOf(values.at(r, 'value') ?? 0, values.at(r, 'unit') ?? '')[1]);

function valueTable(k, forPaper) {
	const row = i => k.values[i], text = (i, id) => visible(values.at(row(i), id) ?? '');
	const table = new SortTable({
		caption: forPaper ? 'Values' : 'Values. Point at one, or move to it with Tab and the arrow keys, to see where it comes from.',
		n: k.values.length,
		text: i => (text(i, 'name') + ' ' + text(i, 'title') + ' ' + text(i, 'kind')).toLowerCase(),
		columns: [
			{id: 'name', label: 'Name', name: true, value: i => values.at(row(i), 'name'), cell: i => [named(text(i, 'name')),
				values.at(row(i), 'title') ? el('span', {class: 'title'}, text(i, 'title')) : null]},
			{id: 'value', label: 'Value', number: true, value: i => values.at(row(i), 'value'), cell: i => valueCell(row(i))},
			{id: 'unit', label: 'Unit', unit: true, value: i => values.at(row(i), 'unit'), cell: i => unitOf(row(i))},
			...k.values.some(uncertainty) ? [{id: 'error', label: 'Error, 95 %', number: true, value: i => values.at(row(i), 'error'),
				cell: i => uncertainty(row(i))}] : [],
			{id: 'spread', label: 'Smallest \u2026 largest', number: true, wide: true, value: i => values.at(row(i), 'min'), cell: i => spread(row(i))},
			{id: 'n', label: 'n', number: true, wide: true, value: i => values.at(row(i), 'n'), cell: i => thousands(values.at(row(i), 'n'))},
			{id: 'passes', label: 'Pass', value: i => values.at(row(i), 'passes'), cell: i => values.at(row(i), 'passes') ?? '\u2013'},
			{id: 'status', label: 'Status', value: i => values.at(row(i), 'status'), cell: i => statusCell(row(i))},
		],
	});
	roving(table.element, '.value');
	const draw = table.draw.bind(table);
	table.draw = force => { /* new rows: one of them is the tab stop */
		draw(force);
		const all = [...table.body.querySelectorAll('.value')];
		if (!all.some(e => e.getAttribute('tabindex') === '0'))
			all.forEach((e, i) => e.setAttribute('tabindex', i ? '-1' : '0'));
	};
	return table;
}

function valuePanel() {
	const panel = el('div', {id: 'values'});
	const fill = k => {
		panel.replaceChildren();
		if (!k)
			return;
		const table = valueTable(k);
		panel.append(el('h3', {id: 'values-title'}, named(k.shown)), searchFor(table, 'Find a metric or counter', 'search-values'), table.element);
	};
	fill(state.kernel);
	state.listeners.push(fill);
	return panel;
}

/* On paper there is nothing to choose: all kernels, in the order of the table. */
function paperValues() {
	const all = el('div', {id: 'paper-values'});
	onPaper.add(on => all.replaceChildren(...byTime.filter(k => on && k !== state.kernel).flatMap(k => {
		const table = valueTable(k, true);
		table.all = true;
		table.draw(true);
		return [el('h3', {}, named(k.shown)), table.element];
	})));
	return all;
}

function kernelSection() {
	const table = kernelTable();
	section('kernels', 'Kernels', null, searchFor(table, 'Find a kernel', 'search-kernels'), table.element, valuePanel(), paperValues());
}
