/* SPDX-License-Identifier: Apache-2.0
 * How the values of single dispatches of a kernel are distributed. */

/* The columns of metrics and counters lie between those of the launch and "replayed". */
const valueColumns = {from: dispatches.place.get('shared_bytes') + 1, to: dispatches.place.get('replayed')};
const metricUnits = new Map();
for (let r = 0; r < values.n; r++)
	metricUnits.set(values.at(r, 'name'), values.at(r, 'unit') ?? '');
const SHOWN_FIRST = 12, BINS = 32;

function quantile(sorted, q) {
	const at = (sorted.length - 1) * q, i = Math.floor(at);
	return sorted[i] + (at - i) * ((sorted[i + 1] ?? sorted[i]) - sorted[i]);
}

function histogram(sorted) {
	const least = sorted[0], most = sorted[sorted.length - 1], bins = new Array(BINS).fill(0);
	for (const v of sorted)
		bins[most > least ? Math.min(BINS - 1, Math.floor((v - least) / (most - least) * BINS)) : BINS / 2]++;
	return bins;
}

function distributionFigure(title, unit, list) {
	const sorted = Float64Array.from(list).sort(), least = sorted[0], most = sorted[sorted.length - 1], median = quantile(sorted, .5);
	const bins = histogram(sorted), high = Math.max(...bins);
	const chart = svg('svg', {viewBox: `0 0 ${BINS * 10} 100`, preserveAspectRatio: 'none', 'aria-hidden': 'true'});
	const path = bins.map((n, i) => n ? `M${i * 10} 100V${(100 - Math.max(3, 96 * n / high)).toFixed(1)}h9V100z` : '').join('');
	chart.append(svg('path', {class: 'c' + (state.kernel ? state.kernel.colour : 0), d: path}), svg('path', {class: 'axis', d: `M0 99.5H${BINS * 10}`}));
	const lines = () => [title, ['dispatches', thousands(sorted.length)], ['smallest', exact(least, unit)], ['a quarter is below', show(quantile(sorted, .25), unit)],
		['median', exact(median, unit)], ['a quarter is above', show(quantile(sorted, .75), unit)], ['largest', exact(most, unit)]];
	const figure = el('figure', {}, el('figcaption', {}, el('b', {}, named(title)), el('span', {class: 'quiet'}, 'median ' + show(median, unit))), chart,
		el('div', {class: 'range', 'aria-hidden': 'true'}, el('span', {}, least === most ? '' : show(least, unit)), el('span', {}, least === most ? 'all ' + show(most, unit) : show(most, unit))));
	figure.setAttribute('aria-label', tipText(lines()));
	return tip(figure, lines);
}

function distributionSection() {
	if (!dispatches.n)
		return;
	const grid = el('div', {class: 'small-multiples'}), more = el('button', {type: 'button'}, 'Show all'), rowsOf = new Map(kernels.map(k => [k, []]));
	for (let r = 0; r < dispatches.n; r++) {
		const k = kernelOfRow(r);
		if (k)
			rowsOf.get(k).push(r);
	}
	const columns = [dispatches.place.get('duration_ns')];
	for (let i = valueColumns.from; i < valueColumns.to; i++)
		columns.push(i);
	let all = false;
	const fill = () => {
		const rows = rowsOf.get(state.kernel) ?? [], figures = [];
		let left = 0;
		for (const i of columns) {
			const c = dispatches.columns[i], list = rows.map(r => dispatches.raw(r, i)).filter(v => v !== null);
			if (!list.length)
				continue;
			if (figures.length >= SHOWN_FIRST && !all) {
				left++;
				continue;
			}
			figures.push(distributionFigure(visible(c.id === 'duration_ns' ? 'duration' : c.header), c.id === 'duration_ns' ? 'ns' : visible(metricUnits.get(c.header) ?? c.unit ?? ''), list));
		}
		grid.replaceChildren(...figures.length ? figures : [el('p', {class: 'notice'}, 'No dispatch of this kernel has a value of its own.')]);
		more.hidden = !left;
		more.textContent = `Show ${left} more`;
		roving(grid, 'figure');
	};
	more.addEventListener('click', () => { all = true; fill(); });
	onPaper.add(on => { all = on || all; fill(); });
	state.listeners.push(fill);
	fill();
	section('distribution', 'Distributions', 'Of the values of single dispatches, all passes of a dispatch together. Metrics that need several passes have none.',
		el('div', {class: 'controls'}, kernelChooser(byTime)), grid, el('p', {class: 'screen'}, more),
		doc.dispatch_values_left_out ? el('p', {class: 'notice'}, `For ${plural(doc.dispatch_values_left_out, 'value')} the page has no room for single dispatches; -m and -e choose which it has.`) : null);
}
