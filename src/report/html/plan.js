/* SPDX-License-Identifier: Apache-2.0
 * The plan as a picture: a row for each block, a column for each pass, a box for each slot. */

/* Counters of one event are forms of one count and take one slot. */
function slotsOf(pass, block) {
	const slots = new Map();
	for (const i of pass.counters) {
		const c = doc.design.counters[i];
		if ((c.block || '') !== block)
			continue;
		const key = c.event === undefined ? 'counter ' + i : 'event ' + c.event;
		slots.set(key, [...(slots.get(key) ?? []), c]);
	}
	return [...slots.values()];
}

function slotBox(list, block, pass) {
	const kind = list.some(c => c.anchor) ? ' anchor' : list.some(c => c.level) ? ' level' : '';
	const box = el('span', {class: 'slot taken' + kind + (list.length > 1 ? ' shared' : ''), role: 'img'});
	const used = doc.design.metrics.filter(m => (m.pass === pass || m.pass === 0) && list.some(c => m.counters.includes(doc.design.counters.indexOf(c))));
	const lines = () => [list.map(c => visible(c.name)).join(', '), ['block', visible(block) || 'takes no slot'], ['pass', pass],
		...(kind === ' anchor' ? [['anchor', 'in every pass that has room, to tell whether passes are comparable']] : []),
		...(kind === ' level' ? [['level', 'counted with its accumulator beside it']] : []),
		...(used.length ? [['for', some(used.map(m => m.name), 8)]] : [])];
	box.setAttribute('aria-label', list.map(c => visible(c.name)).join(', '));
	return tip(box, lines);
}

function planTable() {
	const known = new Map(doc.design.blocks.map(b => [b.name, b]));
	const names = [...new Set(doc.design.counters.map(c => c.block || ''))];
	const order = [...doc.design.blocks.map(b => b.name).filter(n => names.includes(n)), ...names.filter(n => !known.has(n))];
	const blockHead = name => {
		const b = known.get(name);
		const text = !name ? 'no slot needed' : b && b.slots ? plural(b.slots, 'slot') + (b.instances > 1 ? `, ${b.instances}\u00d7 ${b.scope}` : '') : 'slots not known here';
		const th = el('th', {scope: 'row'}, visible(name) || 'other', el('small', {}, text));
		return th;
	};
	const cell = (name, pass, k) => {
		const taken = slotsOf(pass, name), b = known.get(name), free = b && b.slots ? Math.max(0, b.slots - taken.length) : 0;
		return el('td', {}, taken.length || free ? el('span', {class: 'slots'}, taken.map(list => slotBox(list, name, k + 1)),
			Array.from({length: Math.min(free, 64)}, () => el('span', {class: 'slot', 'aria-hidden': 'true'}))) : null,
			taken.length ? el('span', {class: 'unseen'}, `${taken.length} taken${free ? `, ${free} free` : ''}`) : null);
	};
	return el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'The plan'}, el('table', {class: 'plan'},
		el('thead', {}, el('tr', {}, el('th', {scope: 'col'}, 'Block'), doc.design.passes.map((p, k) => {
			const th = el('th', {scope: 'col'}, 'Pass ' + (k + 1));
			return th;
		}))),
		el('tbody', {}, order.map(name => el('tr', {}, blockHead(name), doc.design.passes.map((p, k) => cell(name, p, k)))))));
}

function planSection() {
	const plan = doc.plan;
	const lead = `${plural(plan.passes, 'pass', 'passes')}, ` + (plan.proven ? 'proven minimal' : `at least ${plan.lower_bound} are needed`) +
		`. A filled box is a counter in a slot of its block; an empty one was free.` + (doc.run.no_chip ? ' How many slots there are is not known here: ' + visible(doc.run.no_chip) + '.' : '');
	const table = planTable();
	roving(table, '.slot.taken');
	const key = (kind, text) => el('li', {}, el('span', {class: 'slot ' + kind, 'aria-hidden': 'true'}), ' ' + text);
	const reasons = doc.design.passes.map((p, k) => [k + 1, p.reason, p.counters.length]).filter(x => x[1]);
	section('plan', 'Pass plan', lead, table,
		el('ul', {class: 'legend'}, key('taken', 'counter'), key('taken anchor', 'anchor'), key('taken level', 'level counter'), key('', 'free')),
		reasons.length ? el('details', {}, el('summary', {}, 'What forces each pass'),
			el('ul', {}, reasons.map(([k, why]) => el('li', {}, `Pass ${k}: ${visible(why)}`)))) : null);
}
