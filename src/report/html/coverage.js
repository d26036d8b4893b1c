/* SPDX-License-Identifier: Apache-2.0
 * What was collected of what: by kernel, by pass, by rank; how executions were brought together; what
 * replaying took. */

function coverageOf(k) {
	const n = {whole: 0, some: 0, none: 0};
	for (const r of k.values) {
		const v = values.at(r, 'value');
		n[v === null ? 'none' : values.at(r, 'status') === 'ok' && values.at(r, 'estimate') === null ? 'whole' : 'some']++;
	}
	return n;
}

function coverageTable() {
	const n = kernels.map(coverageOf), count = id => i => n[i][id];
	const bar = i => {
		const total = n[i].whole + n[i].some + n[i].none, whole = el('i'), part = el('i', {class: 'some'});
		whole.style.width = 100 * n[i].whole / total + '%';
		part.style.width = 100 * n[i].some / total + '%';
		return el('span', {class: 'bar', role: 'img', 'aria-label': `${n[i].whole} of ${total} whole`}, whole, part);
	};
	return new SortTable({
		caption: 'Values of each kernel: complete in one pass; sampled or put together from several passes; not there',
		n: kernels.length, sort: {id: 'none', down: true}, text: i => kernels[i].shown.toLowerCase(),
		columns: [
			{id: 'kernel', label: 'Kernel', name: true, value: i => kernels[i].shown, cell: i => named(kernels[i].shown)},
			{id: 'whole', label: 'Complete', number: true, value: count('whole')},
			{id: 'some', label: 'Sampled or split', number: true, value: count('some')},
			{id: 'none', label: 'Missing', number: true, value: count('none')},
			{id: 'bar', label: 'Coverage', wide: true, value: i => n[i].whole, cell: bar},
		],
	});
}

function matchingText() {
	const m = doc.matching;
	if (!m || m.executions < 2)
		return null;
	return el('p', {}, `${plural(m.dispatches, 'dispatch', 'dispatches')} in ${plural(m.executions, 'execution')} of the program were brought together: ` +
		`${thousands(m.exact)} pairs exactly, ${thousands(m.aligned)} by their order, ${thousands(m.nearest)} by their anchors; ` +
		`${thousands(m.incomplete)} are not in every execution.`);
}

function coverageSection() {
	const parts = [], sentences = doc.run.coverage.split('\n').filter(Boolean);
	const add = (t, caption, leaveOut) => {
		const rows = new Rows(t);
		if (rows.n)
			parts.push(el('h3', {}, caption), plainTable(rows, caption, leaveOut));
	};
	if (sentences.length)
		parts.push(el('ul', {}, sentences.map(s => el('li', {}, visible(s)))));
	parts.push(coverageTable().element);
	add(doc.passes, 'Passes, means over their executions');
	if (new Rows(doc.ranks).n > 1)
		add(doc.ranks, 'Ranks');
	if (matchingText())
		parts.push(el('h3', {}, 'Executions brought together'), matchingText());
	add(doc.declined, 'Declined or left out, and why');
	add(doc.windows, 'Windows of replayed dispatches');
	section('coverage', 'Coverage', 'What was asked for, and what of it there is.', ...parts);
}
