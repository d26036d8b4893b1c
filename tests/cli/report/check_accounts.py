#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Adds up what a report says of replays, and prints a line for each sum that does not agree.

usage: check_accounts.py REPORT.json DISPATCHES.csv REASONS.csv REPORT.txt PASSES[xREPEATS] KEY=NUMBER...

REPORT.json: report --format json; DISPATCHES.csv: --by dispatch --format csv; REASONS.csv: --by reason --format csv.
Keys are those of totals() below, with the number that each must have.
"""
import csv
import json
import re
import sys


def distinct(rows):
    """What a row with a value of one execution is of: a dispatch, and with its pass an execution."""
    units, runs = {}, {}
    for r in rows:
        if r["scope"] == "process":
            continue
        unit = (r["scope"], r["pid"], r["dispatch"], r["kernel"])
        units.setdefault(unit, []).append(r["replayed"] == "true")
        runs[unit + (r["pass"], r["attempt"])] = r
    return units, runs


def totals(report, units):
    windows, declined = report["windows"], report["declined"]
    replayed = [w for w in windows if w["replayed"]]
    out = {
        "dispatches": sum(k["dispatches"] for k in report["kernels"] if k["scope"] != "process"),
        "in_windows": sum(w["dispatches"] for w in replayed),
        "replayed": sum(any(u) for u in units.values()),
        "live": sum(not any(u) for u in units.values()),
        "declined": sum(d["n"] for d in declined if d["instead"] != "not counted"),
        "uncounted": sum(d["n"] for d in declined if d["instead"] == "not counted"),
        "windows": sum(w["windows"] for w in replayed),
        "passes": sum(w["passes"] for w in replayed),
    }
    for key in ("reach", "saved", "restored", "spared"):
        out[key] = sum(w[key + "_bytes"] for w in windows)
    return out


def main():
    with open(sys.argv[1]) as f:
        report = json.load(f)
    with open(sys.argv[2]) as f:
        units, runs = distinct(list(csv.DictReader(f)))
    with open(sys.argv[3]) as f:
        reasons = sorted((int(r["n"]), r["kernel"], r["reason"]) for r in csv.DictReader(f))
    with open(sys.argv[4]) as f:
        text = f.read()
    passes, repeats = (int(n) for n in (sys.argv[5] + "x1").split("x")[:2])
    bad = []

    def same(what, a, b):
        if a != b:
            bad.append(f"{what}: {a} and {b}")

    t = totals(report, units)
    for wanted in sys.argv[6:]:
        key, value = wanted.split("=")
        same(f"{key}, and what it must be", t[key], int(value))
    # All dispatches that have values are replayed or ran live; those that were declined are among these.
    same("dispatches, and replayed and live ones", t["dispatches"], t["replayed"] + t["live"])
    same("declined ones, and those of the kernels", t["declined"] + t["uncounted"], sum(k["declined"] for k in report["kernels"]))
    if t["declined"] > t["live"]:
        bad.append(f"{t['declined']} declined ones are counted, {t['live']} are live")
    same("reasons, as rows and in JSON", reasons, sorted((d["n"], d["kernel"], d["reason"]) for d in report["declined"]))
    # Every pass of a replayed one, one of the others.
    for unit, flags in units.items():
        n = len({run[4] for run in runs if run[:4] == unit})
        same(f"passes of {unit}", n, passes if any(flags) else 1)
    same("passes of windows", t["passes"], passes * repeats * t["windows"])
    # Times: of each kernel the sum, least and most of its executions. What ran live may have none.
    for k in report["kernels"]:
        if k["scope"] == "process":
            continue
        of = [r for r in runs.values() if r["kernel"] == k["kernel"] and r["scope"] == k["scope"]]
        times = [int(r["duration_ns"]) for r in of if r["duration_ns"]]
        same(f"executions of {k['kernel']}", len(of), k["counted"])
        same(f"{k['kernel']} without a time", [r["dispatch"] for r in of if not r["duration_ns"] and r["replayed"] == "true"], [])
        same(f"times of {k['kernel']}", (min(times, default=None), max(times, default=None)), (k["min_ns"], k["max_ns"]))
        if times and abs(sum(times) - k["mean_ns"] * len(times)) > len(times):
            bad.append(f"mean of {k['kernel']}: {k['mean_ns']} of {times}")
        if not all(times):
            bad.append(f"{k['kernel']} took no time")
    # Windows: they add up to the total, and a replayed one took longer than its own run.
    if not report["windows"]:
        same("a total without windows", report["replay"], None)
    else:
        for key in report["replay"]:
            same(f"{key} of all windows", report["replay"][key], sum(w[key] for w in report["windows"]))
        total = report["replay"]
        for w in report["windows"]:
            if w["replayed"] and not 0 < w["live_ns"] <= w["span_ns"]:
                bad.append(f"{w['live_ns']} ns live, {w['span_ns']} ns with replays")
            if w["replayed"] and not w["run_ns"]:
                bad.append("replayed in no time")
        cost = re.search(r"with replays \((.*) times\)", text)
        same("cost against the plain run", cost and cost.group(1), f"{total['span_ns'] / total['live_ns']:.1f}")
        for word in ("saved", "restored", "spared"):
            if not re.search(rf"^memory .*{word} \d", text, re.M):
                bad.append(f"the text does not say what was {word}")
    for line in bad:
        print(line)


main()
