# SPDX-License-Identifier: Apache-2.0
"""Checks of the HTML report in a real browser, as TAP. usage: report_checks.py FOLDER, with in it
sim.html and sim.json of one run, dispatches.json of it by dispatch, hostile.html and hostile.json, many.html."""
import json
import math
import os
import re
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import devtools

folder = sys.argv[1]
n = failed = 0


def check(ok, name, got=None):
    global n, failed
    n += 1
    failed += not ok
    print(f"{'ok' if ok else 'not ok'} {n} - {name}", flush=True)
    if not ok and got is not None:
        for line in str(got)[:2000].split("\n"):
            print("# got: " + line)


def path(name):
    return os.path.join(folder, name)


def opened(browser, name):
    browser.open(path(name))
    check(browser.run("document.documentElement.dataset.ready") == "yes", f"{name}: the scripts run to their end")
    check(not browser.problems, f"{name}: nothing on the console", browser.problems)
    check(all(r.startswith("file://") and r.endswith("/" + name) for r in browser.requests) and browser.requests,
          f"{name}: nothing but the file is asked for", browser.requests)


# Every value of every kernel as the page has it: raw, and as it is written.
ALL_VALUES = """(() => { const all = [];
for (const k of kernels) { choose(k); for (const e of document.querySelectorAll('#values .value'))
  all.push([e.dataset.kernel, k.scope, e.dataset.name, e.dataset.value, e.textContent]); }
choose(byTime[0]); return all; })()"""


def written_as(value, text):
    """Whether a text of four digits is this value, scaled by a power of 1000 or 1024."""
    shown = float(text)
    if value == 0 or shown == 0:
        return value == shown
    for base in (1000, 1024):
        power = round(math.log(value / shown, base))
        if abs(value / shown / base ** power - 1) < 6e-4 and 0 <= power <= 6:
            return True
    return value / shown > 0 and any(abs(value / shown / s - 1) < 6e-4 for s in (1e3, 1e6, 1e9))


def check_values(browser, name):
    wanted = {(v["kernel"], v["scope"], v["name"]): v["value"] for v in json.load(open(path(name)))["values"]}
    shown = {(k, scope, x): (None if v == "" else float(v), text) for k, scope, x, v, text in browser.run(ALL_VALUES)}
    check(wanted.keys() == shown.keys(), f"{name}: the page has the same values", set(wanted) ^ set(shown))
    wrong = [(key, v, shown.get(key)) for key, v in wanted.items() if key in shown and
             (shown[key][0] != v or (v is not None and not written_as(v, shown[key][1])))]
    check(not wrong and len(wanted) > 20, f"{name}: {len(wanted)} values are equal, and written so", wrong[:5])


def check_dispatches(browser):
    rows = json.load(open(path("dispatches.json")))["values"]
    shown = browser.run("""Array.from({length: dispatches.n}, (_, r) =>
        Object.fromEntries(dispatches.columns.map(c => [c.id, dispatches.at(r, c.id)])))""")
    check(shown == rows and len(rows) > 10, f"{len(rows)} dispatches are those of --by dispatch --wide", shown[:1])


def check_order(browser):
    order = browser.run("[...document.querySelectorAll('main > section')].map(s => s.id)")
    check(order == ["summary", "kernels", "roofline", "plan", "timeline", "distribution", "coverage"], "the sections", order)
    first = browser.run("""(() => { const w = document.querySelector('.warnings, .fine'), t = document.querySelector('.tiles');
        return Boolean(w.compareDocumentPosition(t) & Node.DOCUMENT_POSITION_FOLLOWING); })()""")
    check(first, "warnings stand in front of everything else")


def check_keyboard(browser):
    stops = []
    browser.run("document.activeElement.blur(); scrollTo(0, 0)")
    for _ in range(70):
        browser.key("Tab")
        stops.append(browser.run("""(() => { const e = document.activeElement, s = getComputedStyle(e);
            return [e.id || e.className || e.textContent.slice(0, 20), s.outlineStyle !== 'none' || e.matches('.mark'), e.tagName]; })()"""))
        if stops[-1][2] == "BODY":
            break
    names = [s[0] for s in stops]
    check(names[0] == "skip" and "search-kernels" in names, "Tab goes through the page, first to the link that skips", names)
    check(all(s[1] for s in stops if s[2] != "BODY"), "every stop is seen", [s for s in stops if not s[1]])
    browser.run("document.querySelector('#kernels thead th:nth-child(1) button').focus()")
    sorts = []
    for _ in range(2):
        browser.key("Enter")
        sorts.append(browser.run("""[document.activeElement.closest('th').ariaSort,
            [...document.querySelectorAll('#kernels .scroll tbody')][0].innerText.split('\\n').filter(x => /walk|histogram/.test(x)).map(x => x.trim())]"""))
    check([s[0] for s in sorts] == ["ascending", "descending"], "Enter on a heading sorts, and aria-sort says so", sorts)
    order = [[re.search("walk|histogram", x).group() for x in s[1]] for s in sorts]
    check(order == [["histogram", "walk"], ["walk", "histogram"]], "the rows follow", order)
    check(browser.run("document.activeElement.tagName === 'BUTTON'"), "and the focus stays")
    browser.run("document.getElementById('search-kernels').focus()")
    browser.type("HIST")
    rows = browser.run("document.querySelectorAll('#kernels .scroll')[0].querySelectorAll('tbody tr').length")
    check(rows == 1, "typing finds a kernel, whatever the case", rows)
    browser.key("Tab"), browser.key("Tab")
    browser.run("document.querySelector('#kernels button.link').focus()")
    browser.key("Enter")
    check(browser.run("document.getElementById('values-title').textContent") == "histogram", "Enter on its name shows its values")
    browser.run("(() => { const i = document.getElementById('search-kernels'); i.value = ''; i.dispatchEvent(new Event('input')); })()")


def check_provenance(browser):
    browser.run("choose(kernels.find(k => k.name === 'walk')); document.querySelector('#values .value').focus()")
    tip = browser.run("document.getElementById('tip').hidden ? '' : document.getElementById('tip').innerText")
    check(re.search(r"from pass", tip) and "samples" in tip and "formula" in tip, "a value that has the focus says where it comes from", tip)
    check(browser.run("document.activeElement.getAttribute('aria-describedby')") == "tip", "as its description")
    before = browser.run("document.activeElement.dataset.name")
    browser.key("ArrowDown")
    after = browser.run("[document.activeElement.dataset.name, document.getElementById('tip').innerText]")
    check(after[0] != before and after[0] in after[1], "an arrow goes to the next", after)
    browser.key("Escape")
    check(browser.run("document.getElementById('tip').hidden"), "Escape hides it")
    shown = False
    for _ in range(200):  # the browser tells the page of a pointer in its own time, and the page may still move
        x, y = browser.run("""(() => { const v = document.querySelectorAll('#values .value')[2];
            v.scrollIntoView({block: 'center', behavior: 'instant'});
            const r = v.getBoundingClientRect();
            return [r.x + r.width / 2, r.y + r.height / 2]; })()""")
        browser.point(1, 1)  # from elsewhere: at rest a pointer enters nothing
        browser.point(x, y)
        browser.frame()
        shown = browser.run("!document.getElementById('tip').hidden && document.getElementById('tip').innerText.includes('from pass')")
        if shown:
            break
    check(shown, "pointing at one shows the same", browser.run("[document.elementFromPoint(%f, %f)?.outerHTML.slice(0, 200), document.getElementById('tip').innerText]" % (x, y)))
    bars = browser.run("document.querySelectorAll('#values .value[tabindex=\"0\"]').length")
    check(bars == 1, "all values are one stop for Tab", bars)
    browser.run("document.querySelector('#plan .slot.taken').focus()")
    tip = browser.run("document.getElementById('tip').innerText")
    check("block" in tip and "pass" in tip, "a slot of the plan says its counter", tip)
    browser.run("document.querySelector('#timeline canvas').focus()")
    browser.key("ArrowRight"), browser.key("ArrowRight")
    check("dispatch: 1" in browser.run("document.getElementById('live').textContent"), "arrows go from dispatch to dispatch of the timeline",
          browser.run("document.getElementById('live').textContent"))


def check_charts(browser):
    roof = browser.run("document.getElementById('roofline').innerText")
    check("chip file of sim" in roof and "highest of this run" in roof, "the roofline says where its ceilings come from", roof)
    points = browser.run("[...document.querySelectorAll('#roofline .mark')].map(e => e.getAttribute('aria-label'))")
    check(len(points) == 2 and all("of the roof" in p for p in points), "it has a mark for each kernel, with a text", points)
    taken = browser.run("""doc.design.passes.map((p, k) => [new Set(p.counters.map(i => doc.design.counters[i].block + ' ' + doc.design.counters[i].event)).size,
        [...document.querySelectorAll('#plan tbody tr')].reduce((n, tr) => n + tr.cells[k + 1].querySelectorAll('.slot.taken').length, 0)])""")
    check(taken and all(a == b and a > 0 for a, b in taken), "each event of each pass is a box of the plan", taken)
    drawn = browser.run("""(() => { const c = document.querySelector('#timeline canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        const seen = new Set(); for (let i = 0; i < d.length; i += 4) if (d[i + 3] === 255) seen.add(d[i] + ',' + d[i + 1] + ',' + d[i + 2]); return seen.size; })()""")
    check(drawn >= 2, "the timeline is drawn", drawn)
    figures = browser.run("[...document.querySelectorAll('#distribution figure')].map(f => f.getAttribute('aria-label'))")
    check(len(figures) > 5 and all("median" in f for f in figures), "distributions have a text, too", figures)


LUMINANCE = """(() => { const l = c => c.map(x => { x /= 255; return x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4; })
    .reduce((s, x, i) => s + x * [.2126, .7152, .0722][i], 0), rgb = t => t.match(/[\\d.]+/g).map(Number);
  const bad = []; const back = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length < 4 || c[3] > 0) return c.slice(0, 3); } return [255, 255, 255]; };
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let t; (t = walk.nextNode());) { const e = t.parentElement; if (!t.data.trim() || !e.checkVisibility() || e.closest('svg, script, option')) continue;
    const a = l(rgb(getComputedStyle(e).color).slice(0, 3)), b = l(back(e)), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) bad.push([e.className, t.data.slice(0, 30), ratio.toFixed(2)]); }
  return [l(back(document.querySelector('main'))), bad.slice(0, 5)]; })()"""


def check_looks(browser):
    browser.scheme(False)
    light, bad = browser.run(LUMINANCE)
    check(light > 0.9 and not bad, "light: text has a contrast of 4.5 to 1", [light, bad])
    browser.scheme(True)
    dark, bad = browser.run(LUMINANCE)
    check(dark < 0.05 and not bad, "dark: the same on a dark page", [dark, bad])
    browser.scheme(False)
    for width in (360, 768):
        browser.size(width)
        over = browser.run("""[document.documentElement.scrollWidth, innerWidth, [...document.querySelectorAll('main *, header *')].filter(e =>
            e.getBoundingClientRect().right > document.documentElement.clientWidth + 1 && !e.closest('.scroll, svg, .unseen, .skip')).slice(0, 5).map(e => e.tagName + '.' + e.className)]""")
        check(over[0] <= width and not over[2], f"at {width} pixels nothing is wider than the screen", over)
    browser.size(1280)


def check_paper(browser):
    browser.scheme(False, "print")
    state = browser.run("""[getComputedStyle(document.querySelector('nav')).display, getComputedStyle(document.querySelector('.controls')).display,
        document.querySelectorAll('details:not([open])').length, document.querySelectorAll('#kernels .value[data-name]').length,
        [...document.querySelectorAll('.scroll')].filter(e => e.clientHeight && e.scrollHeight > e.clientHeight + 1).length]""")
    check(state[:3] == ["none", "none", 0], "on paper there are no controls and no folds", state)
    wanted = len(json.load(open(path("sim.json")))["values"])
    check(state[3] == wanted, "all values of all kernels are there", [state[3], wanted])
    check(state[4] == 0, "and no table is cut off", state[4])
    pdf = browser.send("Page.printToPDF")["data"]
    check(len(pdf) > 20000, "it prints", len(pdf))
    browser.scheme(False)
    left = browser.run("document.querySelectorAll('#paper-values > *').length")
    check(left == 0, "the screen is as before", left)


def check_hostile(browser):
    text = open(path("hostile.html"), "rb").read()
    data = text.split(b'id="document">')[1].split(b"</script>")[0]
    check(json.loads(data)["version"] == 1 and not re.search(rb"[<>&]", data), "the document has no '<', '>' or '&' in it")
    opened(browser, "hostile.html")
    check(browser.run("document.title").startswith("retally: ") and "owned" not in browser.run("document.title"), "no name ran",
          browser.run("document.title"))
    count = browser.run("[document.images.length, document.scripts.length, document.querySelectorAll('b:not(figcaption b)').length, document.querySelectorAll('[onerror]').length]")
    check(count == [0, 2, 0, 0], "no name became an element", count)
    wanted = {k["kernel"] for k in json.load(open(path("hostile.json")))["kernels"]}
    check({k for k in browser.run("kernels.map(k => k.name)")} == wanted and len(wanted) == 15, "all names are there, as they are", wanted)
    shown = browser.run("document.querySelectorAll('#kernels .scroll')[0].innerText")
    check("\u27e8U+202E\u27e9cod.exe" in shown and "\u202e" not in shown and "\u27e8U+001B\u27e9[31m" in shown,
          "what is unseen or turns the text around is shown by its number", shown)
    first = browser.run("document.querySelector('.warnings li').innerText")
    check("Pass 3 of 3" in first and "PASS=3" in first, "the missing pass is the first warning, with its command", first)
    warned = browser.run("document.querySelector('.warnings').innerText")
    check("<img src=x" in warned and "</script><b>reason</b>" in warned, "notes and reasons are text")
    browser.size(360)
    over = browser.run("document.documentElement.scrollWidth")
    check(over <= 360, "a name of 2,000 letters makes nothing wider", over)
    browser.size(1280)
    check_values(browser, "hostile.json")


def check_many(browser):
    opened(browser, "many.html")
    rows = browser.run("[dispatches.n, document.querySelectorAll('#timeline tbody tr').length, document.querySelector('#timeline table').getAttribute('aria-rowcount')]")
    check(rows[0] == 100000 and rows[1] < 100 and rows[2] == "100001", "100,000 dispatches, and a few rows of them in the document", rows)
    browser.run("(() => { const s = document.querySelector('#timeline .scroll'); s.scrollTop = s.scrollHeight; })()")
    browser.frame()
    last = browser.run("[...document.querySelectorAll('#timeline tbody tr:not(.gap) th')].at(-1).textContent")
    check(last == "99999", "scrolling to the end shows the last", last)
    browser.run("document.querySelector('#timeline thead th:nth-child(4) button').click()")
    top = browser.run("document.querySelector('#timeline tbody tr:not(.gap)').cells[3].textContent")
    check(top == browser.run("show(dispatches.columns[dispatches.place.get('duration_ns')].cells.reduce((m, v) => Math.max(m, v), 0), 'ns')"),
          "sorting by duration brings the longest first", top)
    browser.run("document.getElementById('search-dispatches').focus()")
    browser.type("kernel_7<")
    found = browser.run("document.querySelector('#timeline .count').textContent")
    check(re.match(r"1,\d\d\d of 100,000", found), "searching finds those of one kernel", found)


def check_left_out(browser):
    opened(browser, "until.html")
    left = browser.run("(() => { const rows = new Rows(doc.declined); let n = 0; for (let r = 0; r < rows.n; r++) if (rows.at(r, 'instead') === 'estimated') n += rows.at(r, 'n'); return n; })()")
    said = browser.run("document.getElementById('summary').innerText").replace("\xa0", " ")
    check(left > 0 and f"{left} dispatches were not counted: others" in said and "not replayed" not in said,
          "what --until left out is not called declined", [left, said[:800]])


browser = devtools.Browser()
try:
    browser.size(1280)
    opened(browser, "sim.html")
    check_order(browser)
    check_values(browser, "sim.json")
    check_dispatches(browser)
    check_charts(browser)
    check_keyboard(browser)
    check_provenance(browser)
    check_looks(browser)
    check_paper(browser)
    check(not browser.problems, "still nothing on the console", browser.problems)
    check_hostile(browser)
    check_many(browser)
    check_left_out(browser)
except (devtools.Failure, OSError) as e:
    check(False, "the browser does what it is told", e)
finally:
    browser.close()
print(f"1..{n}")
sys.exit(bool(failed))
