# SPDX-License-Identifier: Apache-2.0
"""The values of two profilers for the same dispatches, counter by counter.

compare_values.py OURS.csv NCU.csv: OURS from `retally report DIR --by dispatch --format csv --wide --units base`,
NCU from `ncu --csv --page raw --print-units base`. Prints for each counter the median and the largest relative
difference over the dispatches, and how many are equal; last a line for each class that has a promise.
"""
import csv
import statistics
import sys


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def ncu(path):
    with open(path, newline="") as file:
        lines = [line for line in file if line.startswith('"')]
    rows = list(csv.DictReader(lines))
    return rows[1:]  # the first holds the units


def kind(name):
    if name.startswith(("dram__", "fbpa__", "lts__")) or "dram" in name or "memory_throughput" in name:
        return "DRAM and L2 (exempt)"
    if ".pct" in name or ".ratio" in name or ".avg" in name:
        return "ratios"
    if "cycles" in name or "time_duration" in name:
        return "times and cycles"
    return "counts"


ours = list(csv.DictReader(open(sys.argv[1], newline="")))
theirs = ncu(sys.argv[2])
if len(ours) != len(theirs):
    sys.exit(f"{len(ours)} dispatches of retally, {len(theirs)} of ncu")
names = [name for name in theirs[0] if name in ours[0] and "__" in name]
if not names:
    sys.exit("no counter is in both")
worst = {}
for name in names:
    differences = []
    for a, b in zip(ours, theirs):
        x, y = number(a[name]), number(b[name])
        if x is None or y is None:
            differences.append(float("inf") if (x is None) != (y is None) else 0.0)
        else:
            differences.append(abs(x - y) / abs(y) if y else (0.0 if x == y else float("inf")))
    equal = sum(d == 0 for d in differences)
    median = statistics.median(differences)
    print(f"{name:75} median {100 * median:8.3f} %  most {100 * max(differences):8.3f} %  equal {equal} of {len(differences)}")
    worst.setdefault(kind(name), []).append((median, max(differences), name))
for group, figures in sorted(worst.items()):
    exact = sum(most == 0 for _, most, _ in figures)
    print(f"{group}: {len(figures)} counters, {exact} equal in every dispatch,", f"largest median difference {100 * max(figures)[0]:.3f} % ({max(figures)[2]})")
