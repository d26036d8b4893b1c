/* SPDX-License-Identifier: Apache-2.0
 * Puts the page together, in the order in which it is read. */

function about() {
	const r = doc.run, facts = [];
	document.title = 'retally: ' + visible(doc.program || 'report');
	document.getElementById('version').textContent = doc.retally;
	document.getElementById('title').textContent = visible(doc.program || 'Report');
	document.getElementById('command').textContent = doc.argv.map(visible).join(' ');
	if (r.created)
		facts.push('Collected ' + visible(r.created) + (r.host ? ' on ' + visible(r.host) : ''));
	if (r.options)
		facts.push('options ' + visible(r.options));
	facts.push('plan ' + visible(doc.plan.hash));
	document.getElementById('about').textContent = facts.join(' \u00b7 ');
}

about();
summarySection();
kernelSection();
rooflineSection();
planSection();
timelineSection();
distributionSection();
coverageSection();

/* Paper has no folds. What is drawn for it is taken away again afterwards. */
let paper = false, folded = [];
function setPaper(on) {
	if (on === paper)
		return;
	paper = on;
	if (on) {
		folded = [...document.querySelectorAll('details:not([open])')];
		folded.forEach(d => { d.open = true; });
	} else {
		folded.forEach(d => { d.open = false; });
	}
	for (const f of [...onPaper])
		f(on);
}
addEventListener('beforeprint', () => setPaper(true));
addEventListener('afterprint', () => setPaper(false));
matchMedia('print').addEventListener('change', e => setPaper(e.matches));
document.documentElement.dataset.ready = 'yes';
