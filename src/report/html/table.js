/* SPDX-License-Identifier: Apache-2.0
 * Tables: sorted by buttons in their heads, searched, and with as many rows in the document as fit the
 * screen when there are many. */

const VIRTUAL_FROM = 300, ROW_HEIGHT = 34, ROWS_ON_PAPER = 1000;

const classesOf = c => ['number', 'wide', 'name', 'unit'].filter(x => c[x]).join(' ');

/* columns: {id, label, number, wide, name, unit, value(i), cell(i) or undefined}; rows are 0 .. n - 1.
 * value sorts; a cell is a node or text, the value when there is none. */
class SortTable {
	constructor({caption, columns, n, sort, text, chosen}) {
		this.columns = columns;
		this.n = n;
		this.text = text; /* of a row, what a search looks at */
		this.chosen = chosen;
		this.sort = sort ?? null; /* {id, down} */
		this.query = '';
		this.keep = null; /* another filter */
		this.all = false;
		this.virtual = n > VIRTUAL_FROM;
		this.head = el('tr', {}, columns.map(c => this.headCell(c)));
		this.body = el('tbody');
		this.table = el('table', {class: this.virtual ? 'virtual' : null},
			el('caption', {}, caption), el('thead', {}, this.head), this.body);
		this.element = el('div', {class: this.virtual ? 'scroll tall' : 'scroll', tabindex: '0', role: 'region', 'aria-label': caption},
			this.table);
		this.count = el('span', {class: 'count', role: 'status'});
		if (this.virtual)
			this.element.addEventListener('scroll', () => this.draw(), {passive: true});
		const paper = on => {
			if (!this.element.isConnected) { /* was replaced by another */
				onPaper.delete(paper);
				return;
			}
			this.all = on;
			if (this.virtual)
				this.draw(true);
		};
		onPaper.add(paper);
		this.refresh();
	}
	headCell(c) {
		const classes = classesOf(c);
		const th = el('th', {scope: 'col', class: classes || null, 'aria-sort': 'none'},
			el('button', {type: 'button', onclick: () => this.sortBy(c)}, c.label));
		c.th = th;
		return th;
	}
	sortBy(c) {
		const same = this.sort && this.sort.id === c.id;
		this.sort = {id: c.id, down: same ? !this.sort.down : !!c.number};
		this.refresh();
		say('sorted by ' + c.label + (this.sort.down ? ', descending' : ', ascending'));
	}
	search(query) {
		this.query = query.trim().toLowerCase();
		this.refresh();
	}
	refresh() {
		const words = this.query.split(/\s+/).filter(Boolean);
		let rows = [];
		for (let i = 0; i < this.n; i++) {
			if (this.keep && !this.keep(i))
				continue;
			if (words.length) {
				const text = this.text(i);
				if (!words.every(w => text.includes(w)))
					continue;
			}
			rows.push(i);
		}
		const c = this.sort && this.columns.find(x => x.id === this.sort.id);
		for (const x of this.columns)
			x.th.setAttribute('aria-sort', x !== c ? 'none' : this.sort.down ? 'descending' : 'ascending');
		if (c)
			this.sortRows(rows, c);
		this.rows = rows;
		this.count.textContent = rows.length === this.n ? plural(this.n, 'row') : thousands(rows.length) + ' of ' + plural(this.n, 'row');
		this.table.setAttribute('aria-rowcount', String(rows.length + 1));
		this.element.scrollTop = 0;
		this.draw(true);
	}
	/* Rows without a value stay last, in both directions. */
	sortRows(rows, c) {
		const key = new Array(this.n), sign = this.sort.down ? -1 : 1;
		for (const i of rows)
			key[i] = c.value(i);
		rows.sort((a, b) => {
			const x = key[a], y = key[b];
			if (x === null || y === null)
				return (x === null) - (y === null) || a - b;
			return (x < y ? -sign : x > y ? sign : 0) || a - b;
		});
	}
	row(i, position) {
		const chosen = this.chosen && this.chosen(i);
		return el('tr', {class: chosen ? 'chosen' : null, 'aria-rowindex': this.virtual ? String(position + 2) : null},
			this.columns.map((c, k) => {
				const content = c.cell ? c.cell(i) : c.value(i) ?? '\u2013';
				const classes = classesOf(c);
				return el(k ? 'td' : 'th', {class: classes || null, scope: k ? null : 'row'}, content);
			}));
	}
	gap(rows) {
		const td = el('td', {colspan: String(this.columns.length)});
		td.style.height = rows * ROW_HEIGHT + 'px';
		return el('tr', {class: 'gap', 'aria-hidden': 'true'}, td);
	}
	draw(force) {
		const n = this.rows.length;
		let first = 0, last = n;
		if (this.virtual && !this.all) {
			const visibleRows = Math.ceil((this.element.clientHeight || 512) / ROW_HEIGHT);
			first = Math.max(0, Math.floor(this.element.scrollTop / ROW_HEIGHT) - 10);
			last = Math.min(n, first + visibleRows + 20);
		} else if (this.virtual) {
			last = Math.min(n, ROWS_ON_PAPER);
		}
		if (!force && first === this.first && last === this.last)
			return;
		this.first = first;
		this.last = last;
		const rows = [];
		for (let p = first; p < last; p++)
			rows.push(this.row(this.rows[p], p));
		if (!n)
			rows.push(el('tr', {}, el('td', {colspan: String(this.columns.length), class: 'quiet'}, 'Nothing matches.')));
		if (this.virtual && !this.all)
			this.body.replaceChildren(this.gap(first), ...rows, this.gap(n - last));
		else if (last < n)
			this.body.replaceChildren(...rows, el('tr', {}, el('td', {colspan: String(this.columns.length), class: 'quiet'},
				'and ' + plural(n - last, 'more row') + ' on the screen')));
		else
			this.body.replaceChildren(...rows);
	}
}

function searchFor(table, label, id) {
	const input = el('input', {type: 'search', id, autocomplete: 'off', spellcheck: 'false', oninput: () => table.search(input.value)});
	return el('div', {class: 'controls'}, labelled(label, input), table.count);
}

/* A table of the document as it is, without the columns in which no row has a value. */
function plainTable(rows, caption, leaveOut) {
	const used = rows.columns.map((c, i) => i).filter(i => !(leaveOut ?? []).includes(rows.columns[i].id) && rows.has(i));
	const classOf = c => c.type === 'number' ? 'number' : null;
	return el('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption}, el('table', {}, el('caption', {}, caption),
		el('thead', {}, el('tr', {}, used.map(i => el('th', {scope: 'col', class: classOf(rows.columns[i])}, rows.columns[i].header.replaceAll('_', ' '))))),
		el('tbody', {}, Array.from({length: rows.n}, (_, k) => el('tr', {}, used.map(i => {
			const c = rows.columns[i], v = rows.cell(k, i);
			const text = v === null ? '\u2013' : c.type === 'number' ? show(v, c.unit ?? '') : c.type === 'bool' ? (v ? 'yes' : 'no') : visible(v);
			return el('td', {class: classOf(c)}, c.type === 'string' ? named(text) : text);
		}))))));
}
