/* SPDX-License-Identifier: Apache-2.0
 * The roofline: how fast kernels work, over how much they do for a byte, below what the chip can do. */

const decades = (from, to) => {
	const list = [];
	for (let e = Math.floor(Math.log10(from)); 10 ** e <= to * 1.0001; e++)
		list.push(10 ** e);
	return list;
};
const shapes = [
	(x, y) => svg('circle', {cx: x, cy: y, r: 7}),
	(x, y) => svg('rect', {x: x - 6.5, y: y - 6.5, width: 13, height: 13}),
	(x, y) => svg('path', {d: `M${x} ${y - 8}l8 14h-16z`}),
	(x, y) => svg('path', {d: `M${x} ${y - 9}l9 9l-9 9l-9 -9z`}),
	(x, y) => svg('path', {d: `M${x} ${y + 8}l8 -14h-16z`}),
];

/* A point for each kernel and kind of work, where both rates are known. */
function roofPoints(work, memory) {
	const traffic = new Map(memory.kernels), points = [];
	work.forEach((line, w) => line.kernels.forEach(([k, rate]) => {
		const bytes = traffic.get(k);
		if (rate > 0 && bytes > 0)
			points.push({kernel: kernels[k], w, line, rate, bytes, intensity: rate / bytes});
	}));
	return points;
}

/* The chip's peak; without one, the highest of the run. */
function ceilingOf(line) {
	if (line.peak !== null)
		return {value: line.peak, seen: false, from: line.measured ? 'measured in this run' : 'chip file of ' + visible(doc.plan.chip)};
	return {value: Math.max(...line.kernels.map(x => x[1])), seen: true, from: 'no peak is known: the highest of this run, not what the chip can do'};
}

function roofTip(p, memory) {
	const roof = Math.min(ceilingOf(p.line).value, p.intensity * ceilingOf(memory).value);
	return [p.kernel.shown, [visible(p.line.title), exact(Number(p.rate.toPrecision(6)), visible(p.line.unit))],
		[visible(memory.title), exact(Number(p.bytes.toPrecision(6)), visible(memory.unit))],
		['work for a byte', digits(p.intensity)], ['of the roof', share(p.rate / roof)],
		['below', p.intensity * ceilingOf(memory).value < ceilingOf(p.line).value ? 'the ceiling of ' + visible(memory.title) : 'the ceiling of ' + visible(p.line.title)]];
}

function roofChart(work, memory, points) {
	const width = 760, height = 430, left = 66, right = 14, top = 14, bottom = 46;
	const roof = ceilingOf(memory), tops = work.map(ceilingOf);
	const ridge = tops.map(t => t.value / roof.value);
	const xs = [...points.map(p => p.intensity), ...ridge], ys = [...points.map(p => p.rate), ...tops.map(t => t.value)];
	const x0 = Math.min(...xs) / 3, x1 = Math.max(...xs) * 6, y0 = Math.min(...ys) / 4, y1 = Math.max(...ys) * 2;
	const X = v => left + (width - left - right) * Math.log(v / x0) / Math.log(x1 / x0);
	const Y = v => height - bottom - (height - top - bottom) * Math.log(v / y0) / Math.log(y1 / y0);
	const chart = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'group', 'aria-label': 'Roofline of ' + plural(points.length, 'point')});
	for (const v of decades(x0, x1).filter(v => v >= x0))
		chart.append(svg('line', {class: 'axis', x1: X(v), x2: X(v), y1: top, y2: height - bottom}),
			svg('text', {x: X(v), y: height - bottom + 17, 'text-anchor': 'middle'}, String(Number(v.toPrecision(3)))));
	for (const v of decades(y0, y1).filter(v => v >= y0))
		chart.append(svg('line', {class: 'axis', x1: left, x2: width - right, y1: Y(v), y2: Y(v)}),
			svg('text', {x: left - 7, y: Y(v) + 4, 'text-anchor': 'end'}, String(Number(v.toPrecision(3)))));
	chart.append(svg('text', {class: 'label', x: (left + width - right) / 2, y: height - 8, 'text-anchor': 'middle'}, 'work for a byte of ' + visible(memory.title)),
		svg('text', {class: 'label', x: 14, y: top + 150, 'text-anchor': 'middle', transform: `rotate(-90 14 ${top + 150})`}, visible(work[0].unit)));
	const highest = Math.max(...tops.map(t => t.value)), far = Math.min(highest / roof.value, x1);
	const near = Math.max(x0, y0 / roof.value);
	chart.append(svg('path', {class: 'ceiling' + (roof.seen ? ' seen' : ''), d: `M${X(near)} ${Y(near * roof.value)}L${X(far)} ${Y(far * roof.value)}`}));
	tops.forEach((t, i) => {
		const from = Math.min(Math.max(t.value / roof.value, x0), x1);
		chart.append(svg('path', {class: 'ceiling' + (t.seen ? ' seen' : ''), d: `M${X(from)} ${Y(t.value)}H${width - right}`}),
			svg('text', {class: 'label', x: width - right - 3, y: Y(t.value) - 5, 'text-anchor': 'end'}, visible(work[i].title)));
	});
	for (const p of points) {
		const mark = shapes[p.w % shapes.length](X(p.intensity), Y(p.rate)), lines = () => roofTip(p, memory);
		mark.setAttribute('class', 'mark c' + p.kernel.colour);
		mark.setAttribute('role', 'img');
		mark.setAttribute('aria-label', tipText(lines()));
		chart.append(tip(mark, lines));
	}
	roving(chart, '.mark');
	return chart;
}

function roofTable(points, memory) {
	const columns = [['Kernel'], ['Work'], ['Rate', 1], ['Traffic', 1], ['Work for a byte', 1], ['Of the roof', 1]];
	const cells = p => {
		const roof = Math.min(ceilingOf(p.line).value, p.intensity * ceilingOf(memory).value);
		return [named(p.kernel.shown), visible(p.line.title), digits(p.rate) + ' ' + visible(p.line.unit), digits(p.bytes) + ' ' + visible(memory.unit),
			digits(p.intensity), share(p.rate / roof)];
	};
	return el('details', {}, el('summary', {}, 'The points as a table'), el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Points of the roofline'},
		el('table', {}, el('thead', {}, el('tr', {}, columns.map(([c, n]) => el('th', {scope: 'col', class: n ? 'number' : null}, c)))),
			el('tbody', {}, points.map(p => el('tr', {}, cells(p).map((c, i) => el('td', {class: columns[i][1] ? 'number' : 'name'}, c))))))));
}

function noRoofline() {
	if (!doc.roofline.length)
		return 'There is none for this run: ' + (doc.run.no_chip ? visible(doc.run.no_chip) : 'the metric files of its chip define none') + '.';
	const missing = [...new Set(doc.roofline.map(l => l.missing).filter(Boolean))];
	return 'This run has no kernel with both a rate of work and traffic' + (missing.length ? '; not counted or not shown: ' + some(missing) : '') + '.';
}

function rooflineSection() {
	const memory = doc.roofline.find(l => l.memory && l.kernels.some(x => x[1] > 0));
	let work = doc.roofline.filter(l => !l.memory && l.kernels.some(x => x[1] > 0));
	work = work.filter(l => l.unit === work[0].unit);
	const points = memory ? roofPoints(work, memory) : [];
	if (!points.length) {
		section('roofline', 'Roofline', null, el('p', {class: 'notice'}, noRoofline()));
		return;
	}
	const ceilings = [...work, memory].map(l => {
		const c = ceilingOf(l);
		return el('li', {}, `${visible(l.title)}: ${digits(c.value)} ${visible(l.unit)} (${c.from})`);
	});
	const marks = work.length < 2 ? [] : work.map((l, i) => el('li', {}, svgMark(i), visible(l.title)));
	const shown = [...new Set(points.map(p => p.kernel))].slice(0, 8);
	section('roofline', 'Roofline', 'Each mark is the mean of a kernel. Lines are ceilings; broken ones are only the highest that this run reached.',
		el('div', {class: 'chart'}, roofChart(work, memory, points),
			el('ul', {class: 'legend'}, shown.map(k => el('li', {}, el('span', {class: 'swatch c' + k.colour, 'aria-hidden': 'true'}), named(k.shown)))),
			marks.length ? el('ul', {class: 'legend'}, marks) : null, el('ul', {class: 'legend ceilings', 'aria-label': 'Ceilings'}, ceilings)),
		roofTable(points, memory));
}

function svgMark(i) {
	const s = svg('svg', {viewBox: '0 0 20 20', width: 14, height: 14, 'aria-hidden': 'true'}, shapes[i % shapes.length](10, 10));
	s.style.display = 'inline';
	s.style.width = '.9rem';
	s.style.marginRight = '.4rem';
	s.style.fill = 'var(--quiet)';
	return s;
}
