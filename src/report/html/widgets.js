/* SPDX-License-Identifier: Apache-2.0
 * Elements, the tooltip, and moving among many things with the arrow keys. */

function make(space, tag, attributes, children) {
	const e = space ? document.createElementNS(space, tag) : document.createElement(tag);
	for (const [k, v] of Object.entries(attributes ?? {})) {
		if (v === null || v === undefined || v === false)
			continue;
		if (k.startsWith('on'))
			e.addEventListener(k.slice(2), v);
		else
			e.setAttribute(k, v === true ? '' : v);
	}
	for (const c of children.flat(Infinity))
		if (c !== null && c !== undefined)
			e.append(c);
	return e;
}
const el = (tag, attributes, ...children) => make(null, tag, attributes, children);
const svg = (tag, attributes, ...children) => make('http://www.w3.org/2000/svg', tag, attributes, children);

function section(id, title, lead, ...children) {
	const s = el('section', {id, 'aria-labelledby': id + '-title'},
		el('h2', {id: id + '-title'}, title), lead ? el('p', {class: 'lead'}, lead) : null, ...children);
	document.getElementById('main').append(s);
	document.getElementById('nav').append(el('li', {}, el('a', {href: '#' + id}, title)));
	return s;
}

/* Names from the program: isolated, so that their direction ends with them. */
const named = (text, attributes) => el('bdi', attributes, text);

function labelled(text, control) {
	return el('label', {}, text, control);
}

function chooser(label, options, onchange) {
	const s = el('select', {onchange: () => onchange(s.selectedIndex)}, options.map(o => el('option', {}, o)));
	return [labelled(label, s), s];
}

/* The kernel that a section is about, the same in all of them. */
function kernelChooser(list) {
	const [label, select] = chooser('Kernel', list.map(k => k.shown.length > 90 ? k.shown.slice(0, 60) + '\u2026' + k.shown.slice(-28) : k.shown),
		i => choose(list[i]));
	const sync = k => { select.selectedIndex = list.indexOf(k); };
	sync(state.kernel);
	state.listeners.push(sync);
	return label;
}

/* ---- tooltip: on hover and on focus; Escape hides it; it can be pointed at ---- */
const tips = new WeakMap();
const tipBox = document.getElementById('tip');
let tipOwner = null, tipTimer = 0;

/* lines: [title or null, [label, text]...], or a function that returns that. */
function tip(element, lines) {
	tips.set(element, lines);
	element.classList.add('has-tip');
	return element;
}

function tipText(lines) {
	return [lines[0], ...lines.slice(1).map(([k, v]) => k + ': ' + v)].filter(Boolean).join('. ');
}

function tipShow(owner, at) {
	const lines = tips.get(owner);
	const [title, ...rows] = typeof lines === 'function' ? lines() : lines;
	clearTimeout(tipTimer);
	tipHide();
	tipOwner = owner;
	tipBox.replaceChildren();
	if (title)
		tipBox.append(el('p', {}, title));
	tipBox.append(el('dl', {}, rows.map(([k, v]) => [el('dt', {}, k), el('dd', {}, v)])));
	tipBox.hidden = false;
	owner.setAttribute('aria-describedby', 'tip');
	const r = at ?? owner.getBoundingClientRect(), w = tipBox.offsetWidth, h = tipBox.offsetHeight;
	const left = Math.min(Math.max(8, r.left), document.documentElement.clientWidth - w - 8);
	const below = r.bottom + 8 + h < innerHeight || r.top < h + 16;
	tipBox.style.left = Math.max(8, left) + 'px';
	tipBox.style.top = Math.max(8, below ? Math.min(r.bottom + 8, innerHeight - h - 8) : r.top - h - 8) + 'px';
}

function tipHide() {
	if (tipOwner)
		tipOwner.removeAttribute('aria-describedby');
	tipOwner = null;
	tipBox.hidden = true;
}

const tipTarget = node => node instanceof Element ? node.closest('.has-tip') : null;
const later = f => { clearTimeout(tipTimer); tipTimer = setTimeout(f, 180); };
document.addEventListener('pointerover', e => {
	const t = tipTarget(e.target);
	if (t && t !== tipOwner)
		tipShow(t);
	else if (t || tipBox.contains(e.target))
		clearTimeout(tipTimer);
	else if (tipOwner && tipOwner !== document.activeElement)
		later(tipHide);
});
document.addEventListener('focusin', e => {
	const t = tipTarget(e.target);
	if (t)
		tipShow(t);
});
document.addEventListener('focusout', e => {
	if (e.target === tipOwner)
		tipHide();
});
document.addEventListener('keydown', e => {
	if (e.key === 'Escape' && tipOwner)
		tipHide();
});
addEventListener('scroll', () => {
	if (tipOwner && tipOwner !== document.activeElement)
		tipHide();
}, {passive: true});

/* ---- one tab stop for many elements ---- */
function roving(container, selector) {
	const all = () => [...container.querySelectorAll(selector)];
	all().forEach((e, i) => e.setAttribute('tabindex', i ? '-1' : '0'));
	container.addEventListener('keydown', e => {
		const list = all(), i = list.indexOf(document.activeElement);
		const to = {ArrowDown: i + 1, ArrowRight: i + 1, ArrowUp: i - 1, ArrowLeft: i - 1, Home: 0,
			End: list.length - 1, PageDown: i + 10, PageUp: i - 10}[e.key];
		if (i < 0 || to === undefined)
			return;
		e.preventDefault();
		const next = list[Math.min(Math.max(0, to), list.length - 1)];
		list[i].setAttribute('tabindex', '-1');
		next.setAttribute('tabindex', '0');
		next.focus();
	});
}

function say(text) {
	document.getElementById('live').textContent = text;
}

/* What is shown in another way on paper: functions (on) => ... */
const onPaper = new Set();
