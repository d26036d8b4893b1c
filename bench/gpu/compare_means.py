# SPDX-License-Identifier: Apache-2.0
"""Times of two profilers over several processes each, kernel by kernel.

compare_means.py DIR N: DIR/ours.1.csv to ours.N.csv from `retally report DIR --by dispatch --format csv --wide --units
base`, DIR/ncu.1.csv to ncu.N.csv from `ncu --csv --page raw --print-units base`. A kernel's time depends on where its
memory lies, which is another place in each process: so the mean over a process's dispatches is one observation, and
what is printed is the mean of these, with its standard error over the processes.
"""
import csv
import math
import statistics
import sys

COUNTERS = ("gpu__time_duration.sum", "sm__cycles_elapsed.max", "gpc__cycles_elapsed.max")


def number(text):
    return float(text.replace(",", ""))


def ncu(path):
    with open(path, newline="") as file:
        rows = list(csv.DictReader(line for line in file if line.startswith('"')))
    return rows[1:]  # the first holds the units


def means(ours, theirs, counter):
    """Of each kernel the mean in either process; the names of kernels are ncu's, which come in the same order."""
    if len(ours) != len(theirs):
        sys.exit(f"{len(ours)} dispatches of retally, {len(theirs)} of ncu")
    out = {}
    for a, b in zip(ours, theirs):
        x, y = out.setdefault(b["Kernel Name"].split("(")[0], ([], []))
        x.append(number(a[counter]))
        y.append(number(b[counter]))
    return {kernel: tuple(statistics.fmean(v) for v in values) for kernel, values in out.items()}


def error(values):
    return statistics.stdev(values) / math.sqrt(len(values))


folder, n = sys.argv[1], int(sys.argv[2])
pairs = [(list(csv.DictReader(open(f"{folder}/ours.{i}.csv", newline=""))), ncu(f"{folder}/ncu.{i}.csv"))
         for i in range(1, n + 1)]
worst = 0.0
for counter in COUNTERS:
    if any(counter not in ours[0] or counter not in theirs[0] for ours, theirs in pairs):
        continue
    processes = [means(ours, theirs, counter) for ours, theirs in pairs]
    for kernel in processes[0]:
        x = [p[kernel][0] for p in processes]
        y = [p[kernel][1] for p in processes]
        a, b = statistics.fmean(x), statistics.fmean(y)
        off, spread = a / b - 1, math.hypot(error(x) / a, error(y) / b)
        worst = max(worst, abs(off))
        print(f"{counter:26} {kernel:8} retally {a:11.1f} +- {error(x):7.1f}, ncu {b:11.1f} +- {error(y):7.1f}:"
              f" {100 * off:+6.2f} % +- {100 * spread:.2f} %")
print(f"{n} processes of each: the means differ by up to {100 * worst:.2f} %")
