/* SPDX-License-Identifier: Apache-2.0
 * The document of the page, and numbers and names for people. Whatever comes from a program is shown
 * by textContent alone. */
'use strict';

const doc = JSON.parse(document.getElementById('document').textContent);

/* A table of the document: a column has an array of cells, or one value that all rows have; strings
 * are by number. */
class Rows {
	constructor(t) {
		this.columns = t.columns;
		this.strings = t.strings;
		this.n = t.n;
		this.place = new Map(t.columns.map((c, i) => [c.id, i]));
	}
	/* null: no value; also for a column that this table does not have. */
	at(row, id) {
		const i = this.place.get(id);
		return i === undefined ? null : this.cell(row, i);
	}
	cell(row, i) {
		const v = this.raw(row, i);
		return v !== null && this.columns[i].type === 'string' ? this.strings[v] : v;
	}
	/* As it stands in the document. */
	raw(row, i) {
		const c = this.columns[i];
		return c.cells ? c.cells[row] : c.all;
	}
	/* Whether any row has a value in it. */
	has(i) {
		const c = this.columns[i];
		return this.n > 0 && (c.cells ? true : c.all !== null);
	}
}

const values = new Rows(doc.values);
const kernelRows = new Rows(doc.kernels);
const dispatches = new Rows(doc.dispatches);

/* Characters that are invisible, move the cursor or turn the direction of text, as their numbers. */
const unseen = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|\udb40[\udc00-\udfff]/g;

function visible(text) {
	return String(text ?? '').replace(unseen, c =>
		'\u27e8U+' + c.codePointAt(0).toString(16).toUpperCase().padStart(4, '0') + '\u27e9');
}

/* ---- numbers; the same prefixes as the report as text ---- */
const prefixes = ['k', 'M', 'G', 'T', 'P', 'E'];

function scaleOf(size, unit) {
	size = Math.abs(size);
	if (unit === 'ns') {
		return size < 1e3 ? [1, 'ns'] : size < 1e6 ? [1e3, '\u00b5s'] : size < 1e9 ? [1e6, 'ms'] : [1e9, 's'];
	}
	if (unit === 'bytes' || unit === 'B') {
		let d = 1, i = -1;
		for (; size / d >= (i < 0 ? 10240 : 1024) && i < 4; i++)
			d *= 1024;
		return [d, i < 0 ? 'B' : ['KiB', 'MiB', 'GiB', 'TiB', 'PiB'][i]];
	}
	if (unit === '%' || unit === 'percent' || unit === 'ratio' || size < 1e5)
		return [1, unit];
	let d = 1, i = -1;
	for (; size / d >= 1000 && i < 5; i++)
		d *= 1000;
	if (unit.startsWith('bytes/'))
		return [d, prefixes[i] + 'B/' + unit.slice(6)];
	if (unit === 'Hz' || unit.startsWith('B/'))
		return [d, prefixes[i] + unit];
	return [d, prefixes[i] + (unit ? ' ' + unit : '')];
}

/* Four digits, or all of a small count. */
function digits(v) {
	if (v === 0)
		return '0';
	if (Number.isInteger(v) && Math.abs(v) < 1e5)
		return String(v);
	const size = Math.abs(v);
	if (size >= 1e15 || size < 1e-4)
		return v.toExponential(3);
	return size >= 1000 ? v.toFixed(0) : v.toPrecision(4);
}

function scaled(v, unit) {
	const [d, u] = scaleOf(v, unit || '');
	return [digits(v / d), u];
}

function show(v, unit) {
	if (v === null || v === undefined)
		return '\u2013';
	return scaled(v, unit).join('\u00a0').trim();
}

/* All digits. Counts above 2^53 lose their last ones in a browser, which the text says. */
function exact(v, unit) {
	const rounded = Number.isInteger(v) && !Number.isSafeInteger(v);
	return (rounded ? 'about ' : '') + String(v) + (unit ? '\u00a0' + unit : '');
}

function share(v) {
	const p = 100 * v;
	return (p >= 100 ? p.toFixed(0) : p >= 0.1 || p === 0 ? p.toPrecision(2) : p.toPrecision(1)) + '\u00a0%';
}

/* As in English; the browser's own takes 50 ms when it is asked for the first time. */
function thousands(n) {
	return String(n).replace(/\B(?=(\d{3})+$)/g, ',');
}

function plural(n, one, many) {
	return thousands(n) + '\u00a0' + (n === 1 ? one : many ?? one + 's');
}

/* ---- kernels: a kernel, range or the program, in the order of the values ---- */
const kernels = doc.groups.map(([name, scope, rows], i) => ({i, name, shown: visible(name), lower: visible(name).toLowerCase(), scope, executions: rows, row: -1, values: []}));
const kernelOf = new Map(kernels.map(k => [k.scope + '\n' + k.name, k]));
for (let r = 0; r < kernelRows.n; r++) {
	const k = kernelOf.get(kernelRows.at(r, 'scope') + '\n' + kernelRows.at(r, 'kernel'));
	if (k)
		k.row = r;
}
for (let r = 0; r < values.n; r++) {
	const k = kernelOf.get(values.at(r, 'scope') + '\n' + values.at(r, 'kernel'));
	if (k)
		k.values.push(r);
}
const info = (k, id) => k.row < 0 ? null : kernelRows.at(k.row, id);
/* Most of the time first: what one looks at, and the colours, follow this. */
const byTime = [...kernels].sort((a, b) => (info(b, 'share') ?? -1) - (info(a, 'share') ?? -1) || a.i - b.i);
byTime.forEach((k, i) => { k.colour = Math.min(i, 7); });

const state = {kernel: byTime[0] ?? null, listeners: []};
function choose(kernel) {
	state.kernel = kernel;
	for (const f of state.listeners)
		f(kernel);
}
