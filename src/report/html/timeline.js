/* SPDX-License-Identifier: Apache-2.0
 * Every dispatch over time, on a canvas: a lane for each device of each process. Where several fall
 * on one pixel the first is drawn, so that the cost is that of the pixels. */

function lanesOf() {
	const lanes = new Map(), column = id => dispatches.columns[dispatches.place.get(id)];
	const begin = dispatches.place.get('begin_ns'), length = dispatches.place.get('duration_ns');
	const process = dispatches.strings.indexOf('process'), scope = dispatches.place.get('scope');
	const parts = ['launch', 'host', 'pid', 'device'].filter(id => column(id).cells).map(id => dispatches.place.get(id));
	let lane = null, last = -1;
	for (let r = 0; r < dispatches.n; r++) {
		if (dispatches.raw(r, begin) === null || dispatches.raw(r, length) === null || dispatches.raw(r, scope) === process)
			continue;
		/* Mostly the lane of the row before. */
		if (!lane || parts.some(i => dispatches.raw(r, i) !== dispatches.raw(last, i))) {
			const at = id => dispatches.at(r, id), key = parts.map(i => dispatches.raw(r, i)).join(' ');
			if (!lanes.has(key)) {
				const rank = at('rank');
				lanes.set(key, {label: (rank === null ? 'process ' + at('pid') : 'rank ' + rank) + ', device ' + at('device'),
					host: visible(at('host') ?? ''), rows: []});
			}
			lane = lanes.get(key);
		}
		lane.rows.push(r);
		last = r;
	}
	/* Clocks of machines and processes have no common zero: each lane begins at its first dispatch. */
	for (const lane of lanes.values()) {
		if (lane.rows.some((r, i) => i && dispatches.raw(lane.rows[i - 1], begin) > dispatches.raw(r, begin)))
			lane.rows.sort((a, b) => dispatches.raw(a, begin) - dispatches.raw(b, begin));
		lane.zero = dispatches.raw(lane.rows[0], begin);
		lane.from = Float64Array.from(lane.rows, r => dispatches.raw(r, begin) - lane.zero);
		lane.long = Float64Array.from(lane.rows, r => dispatches.raw(r, length));
	}
	return [...lanes.values()];
}

/* By the numbers of the strings, so that a row costs no text. */
const kernelOfRow = (() => {
	const scope = dispatches.place.get('scope'), kernel = dispatches.place.get('kernel'), known = new Map();
	return r => {
		const s = dispatches.raw(r, scope), key = dispatches.raw(r, kernel) * 8 + s % 8;
		let k = known.get(key);
		if (k === undefined || k.scopeNumber !== s) {
			k = {scopeNumber: s, kernel: kernelOf.get(dispatches.at(r, 'scope') + '\n' + dispatches.at(r, 'kernel')) ?? null};
			known.set(key, k);
		}
		return k.kernel;
	};
})();

class Timeline {
	constructor(lanes) {
		this.lanes = lanes;
		this.end = Math.max(1, ...lanes.map(l => l.from.reduce((m, x, i) => Math.max(m, x + l.long[i]), 0)));
		this.view = [0, this.end];
		this.at = null; /* [lane, index] that the keys are on */
		this.canvas = el('canvas', {tabindex: '0', role: 'application', 'aria-roledescription': 'timeline',
			'aria-label': `Timeline of ${plural(lanes.reduce((n, l) => n + l.rows.length, 0), 'dispatch', 'dispatches')}. Left and right go from dispatch to dispatch, up and down between lanes, plus and minus zoom, 0 shows all.`});
		this.canvas.style.height = Math.min(lanes.length < 4 ? 24 + 48 * lanes.length : 24 + 32 * lanes.length, 640) + 'px';
		this.element = el('div', {class: 'chart'}, this.canvas);
		this.listen();
		new ResizeObserver(() => this.draw()).observe(this.canvas);
		matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.draw());
		onPaper.add(() => this.draw());
		state.listeners.push(() => this.draw());
	}
	laneHeight() {
		return (this.canvas.clientHeight - 24) / this.lanes.length;
	}
	draw() {
		const c = this.canvas, scale = devicePixelRatio || 1, w = c.clientWidth, h = c.clientHeight;
		if (!w)
			return;
		c.width = w * scale;
		c.height = h * scale;
		const g = c.getContext('2d'), style = getComputedStyle(document.documentElement), lh = this.laneHeight();
		const colours = Array.from({length: 8}, (_, i) => style.getPropertyValue('--k' + i)), line = style.getPropertyValue('--line'), text = style.getPropertyValue('--quiet');
		g.scale(scale, scale);
		g.clearRect(0, 0, w, h);
		const [a, b] = this.view, X = t => (t - a) / (b - a) * w;
		g.font = '12px system-ui, sans-serif';
		this.drawAxis(g, w, h, X, line, text);
		this.lanes.forEach((lane, i) => {
			const y = i * lh + (lh > 22 ? 14 : 1), high = Math.max(2, lh - (lh > 22 ? 17 : 2));
			this.drawLane(g, lane, y, high, X, w, colours);
			if (lh > 22) {
				g.fillStyle = text;
				g.fillText(lane.label, 2, i * lh + 11);
			}
		});
		if (this.at)
			this.drawCursor(g, X, lh, style.getPropertyValue('--text'));
	}
	drawAxis(g, w, h, X, line, text) {
		const [a, b] = this.view, rough = (b - a) / Math.max(2, w / 120), step = 10 ** Math.floor(Math.log10(rough));
		const nice = [1, 2, 5, 10].map(m => m * step).find(s => s >= rough);
		g.strokeStyle = line;
		g.fillStyle = text;
		for (let t = Math.ceil(a / nice) * nice; t <= b; t += nice) {
			g.beginPath();
			g.moveTo(X(t), 0);
			g.lineTo(X(t), h - 18);
			g.stroke();
			const [d, u] = scaleOf(b, 'ns'), label = Number((t / d).toPrecision(6)) + ' ' + u, wide = g.measureText(label).width;
			g.fillText(label, Math.min(Math.max(0, X(t) - wide / 2), w - wide), h - 5);
		}
	}
	drawLane(g, lane, y, high, X, w, colours) {
		let last = -1;
		for (let i = 0; i < lane.rows.length; i++) {
			const x0 = X(lane.from[i]), x1 = X(lane.from[i] + lane.long[i]);
			if (x1 < 0 || x0 > w || x1 < last)
				continue;
			const k = kernelOfRow(lane.rows[i]), from = Math.max(0, x0, last), to = Math.min(w, Math.max(x1, from + 1));
			g.fillStyle = colours[k ? k.colour : 7];
			g.globalAlpha = k === state.kernel || !state.kernel ? 1 : .55;
			g.fillRect(from, y, Math.max(.7, to - from - (to - from > 4 ? 1 : 0)), high);
			last = to;
		}
		g.globalAlpha = 1;
	}
	drawCursor(g, X, lh, colour) {
		const [l, i] = this.at, lane = this.lanes[l];
		g.strokeStyle = colour;
		g.lineWidth = 2;
		g.strokeRect(X(lane.from[i]) - 2, l * lh + 1, Math.max(4, X(lane.from[i] + lane.long[i]) - X(lane.from[i]) + 4), lh - 2);
	}
	/* Index of the dispatch at a time, or the nearest. */
	near(lane, t) {
		let lo = 0, hi = lane.rows.length - 1;
		while (lo < hi) {
			const mid = (lo + hi + 1) >> 1;
			if (lane.from[mid] <= t)
				lo = mid;
			else
				hi = mid - 1;
		}
		return lo;
	}
	lines() {
		const [l, i] = this.at, lane = this.lanes[l], r = lane.rows[i], k = kernelOfRow(r);
		const list = [k ? k.shown : '', ['dispatch', dispatches.at(r, 'dispatch')], ['begins at', show(lane.from[i], 'ns')], ['takes', show(lane.long[i], 'ns')],
			['where', lane.label + (lane.host ? ' on ' + lane.host : '')]];
		for (const id of ['grid', 'block'])
			if (dispatches.at(r, id))
				list.push([id, dispatches.at(r, id)]);
		return list;
	}
	point(l, i) {
		this.at = [l, i];
		const lane = this.lanes[l], [a, b] = this.view;
		if (lane.from[i] < a || lane.from[i] > b)
			this.zoom(1, lane.from[i], true);
		this.draw();
		const box = this.canvas.getBoundingClientRect(), x = box.left + (lane.from[i] - this.view[0]) / (this.view[1] - this.view[0]) * box.width;
		const y = box.top + l * this.laneHeight();
		tips.set(this.canvas, () => this.lines());
		tipShow(this.canvas, {left: x, top: y, bottom: y + this.laneHeight()});
		say(tipText(this.lines()));
	}
	zoom(factor, around, centre) {
		const [a, b] = this.view, width = Math.min(this.end, Math.max(10, (b - a) * factor));
		const from = centre ? around - width / 2 : around - (around - a) * width / (b - a);
		const start = Math.min(Math.max(0, from), this.end - width);
		this.view = [start, start + width];
		this.draw();
	}
	listen() {
		const c = this.canvas, time = e => this.view[0] + (e.clientX - c.getBoundingClientRect().left) / c.clientWidth * (this.view[1] - this.view[0]);
		let drag = null;
		c.addEventListener('pointermove', e => {
			if (drag) {
				const width = drag.view[1] - drag.view[0], moved = (drag.x - e.clientX) / c.clientWidth * width;
				const from = Math.min(Math.max(0, drag.view[0] + moved), this.end - width);
				this.view = [from, from + width];
				this.draw();
				return;
			}
			const l = Math.floor((e.clientY - c.getBoundingClientRect().top) / this.laneHeight());
			if (this.lanes[l])
				this.point(l, this.near(this.lanes[l], time(e)));
		});
		c.addEventListener('pointerdown', e => { drag = e.pointerType === 'touch' ? null : {x: e.clientX, view: [...this.view]}; });
		addEventListener('pointerup', () => { drag = null; });
		c.addEventListener('pointerleave', () => {
			this.at = null;
			tipHide();
			this.draw();
		});
		c.addEventListener('wheel', e => {
			if (!e.ctrlKey && !e.shiftKey) /* the page scrolls */
				return;
			e.preventDefault();
			this.zoom((e.deltaY || e.deltaX) > 0 ? 1.25 : .8, time(e));
		}, {passive: false});
		c.addEventListener('blur', () => tipHide());
		c.addEventListener('keydown', e => this.key(e));
	}
	key(e) {
		const [l, i] = this.at ?? [0, -1], lane = this.lanes[l], middle = i >= 0 ? lane.from[i] : (this.view[0] + this.view[1]) / 2;
		const go = (to, index) => this.point(to, Math.min(Math.max(0, index), this.lanes[to].rows.length - 1));
		const keys = {
			ArrowRight: () => go(l, i + 1), ArrowLeft: () => go(l, i - 1), Home: () => go(l, 0), End: () => go(l, lane.rows.length - 1),
			ArrowDown: () => this.lanes[l + 1] && go(l + 1, this.near(this.lanes[l + 1], middle)),
			ArrowUp: () => l && go(l - 1, this.near(this.lanes[l - 1], middle)),
			'+': () => this.zoom(.5, middle), '=': () => this.zoom(.5, middle), '-': () => this.zoom(2, middle), 0: () => this.whole(),
		};
		if (!keys[e.key] || e.ctrlKey || e.metaKey || e.altKey)
			return;
		e.preventDefault();
		keys[e.key]();
	}
	whole() {
		this.view = [0, this.end];
		this.draw();
	}
}

/* ---- all of them as rows ---- */

function dispatchTable() {
	const at = id => i => dispatches.at(i, id), has = id => dispatches.has(dispatches.place.get(id));
	const column = (id, label, unit, wide) => ({id, label, number: true, wide, value: at(id), cell: i => show(dispatches.at(i, id), unit)});
	const begin = dispatches.place.get('begin_ns');
	let first = Infinity;
	for (let r = 0; r < dispatches.n; r++)
		first = Math.min(first, dispatches.raw(r, begin) ?? Infinity);
	const columns = [
		{id: 'dispatch', label: 'No.', number: true, value: at('dispatch'), cell: i => String(dispatches.at(i, 'dispatch'))},
		{id: 'kernel', label: 'Kernel', name: true, value: at('kernel'), cell: i => {
			const k = kernelOfRow(i);
			return el('span', {title: k ? k.shown : ''}, el('span', {class: 'swatch c' + (k ? k.colour : 7), 'aria-hidden': 'true'}), named(k ? k.shown : ''));
		}},
		{id: 'begin_ns', label: 'Begins', number: true, value: at('begin_ns'), cell: i => show(dispatches.at(i, 'begin_ns') - first, 'ns')},
		column('duration_ns', 'Takes', 'ns'),
	];
	if (has('rank'))
		columns.push({id: 'rank', label: 'Rank', number: true, value: at('rank'), cell: i => dispatches.at(i, 'rank') ?? '\u2013'});
	for (const [id, label] of [['grid', 'Grid'], ['block', 'Block']])
		if (has(id))
			columns.push({id, label, wide: true, value: at(id), cell: i => dispatches.at(i, id) ?? '\u2013'});
	const names = dispatches.columns.slice(valueColumns.from, valueColumns.to);
	const units = names.map(c => (metricUnits.get(c.header) ?? ''));
	for (let i = 0; i < Math.min(3, names.length); i++)
		columns.push(column(names[i].id, visible(names[i].header), units[i], i > 0));
	return new SortTable({caption: 'Dispatches', n: dispatches.n, columns, sort: null,
		text: i => (kernelOfRow(i)?.lower ?? '') + ' ' + dispatches.at(i, 'dispatch')});
}

function timelineSection() {
	const lanes = lanesOf().filter(l => l.rows.length);
	if (!dispatches.n)
		return;
	const parts = [];
	if (lanes.length) {
		const t = new Timeline(lanes.slice(0, 64)), middle = () => (t.view[0] + t.view[1]) / 2;
		parts.push(el('div', {class: 'controls'},
			el('button', {type: 'button', onclick: () => t.zoom(.5, middle())}, 'Zoom in'),
			el('button', {type: 'button', onclick: () => t.zoom(2, middle())}, 'Zoom out'),
			el('button', {type: 'button', onclick: () => t.whole()}, 'All')), t.element,
			el('ul', {class: 'legend'}, byTime.filter(k => k.scope !== 'process').slice(0, 7).map(k => el('li', {}, el('span', {class: 'swatch c' + k.colour, 'aria-hidden': 'true'}), named(k.shown))),
				byTime.filter(k => k.scope !== 'process').length > 7 ? el('li', {}, el('span', {class: 'swatch c7', 'aria-hidden': 'true'}), 'others') : null));
		if (lanes.length > 64)
			parts.push(el('p', {class: 'notice'}, `The first 64 of ${lanes.length} lanes are drawn.`));
	}
	if (doc.dispatch_rows > dispatches.n)
		parts.push(el('p', {class: 'notice'}, `The page holds ${thousands(dispatches.n)} of ${plural(doc.dispatch_rows, 'dispatch', 'dispatches')}; \u201cretally report --by dispatch --format csv\u201d has all of them.`));
	const table = dispatchTable();
	section('timeline', 'Timeline', lanes.length ? 'When each dispatch was first counted and how long it took. The arrow keys go from dispatch to dispatch; Ctrl with the wheel zooms.' : null,
		...parts, el('h3', {}, 'Dispatches'), searchFor(table, 'Find dispatches of a kernel, or by number', 'search-dispatches'), table.element);
}
