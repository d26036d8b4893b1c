# SPDX-License-Identifier: Apache-2.0
"""The values of two profilers for the same dispatches, counter by counter.

compare_values.py OURS.csv NCU.csv: OURS from `retally report DIR --by dispatch --format csv --wide --units base`,
NCU from `ncu --csv --page raw --print-units base`. Prints for each counter how far the means over the dispatches
of a kernel differ, and in how many dispatches the values are equal; last a line for each class that has a promise.
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
kernels = sorted({row["Kernel Name"] for row in theirs})
groups = {}
for name in names:
    pairs = [(row["Kernel Name"], number(a[name]), number(row[name])) for a, row in zip(ours, theirs)]
    missing = sum(x is None or y is None for _, x, y in pairs)
    pairs = [p for p in pairs if p[1] is not None and p[2] is not None]
    equal = sum(x == y for _, x, y in pairs)
    off = 0.0  # of the means of a kernel
    for kernel in kernels:
        x = [p[1] for p in pairs if p[0] == kernel]
        y = [p[2] for p in pairs if p[0] == kernel]
        if x and statistics.fmean(y):
            off = max(off, abs(statistics.fmean(x) / statistics.fmean(y) - 1))
        elif x and statistics.fmean(x):
            off = float("inf")
    print(f"{name:76} means of kernels differ by up to {100 * off:8.3f} %, equal in {equal} of {len(pairs)} dispatches"
          + (f", missing in {missing}" if missing else ""))
    groups.setdefault(kind(name), []).append((off, 0 < len(pairs) == equal, name))
for group, figures in sorted(groups.items()):
    off, _, name = max(figures)
    print(f"{group}: {len(figures)} counters, {sum(f[1] for f in figures)} equal in every dispatch,"
          f" means of kernels differ by up to {100 * off:.3f} % ({name})")
