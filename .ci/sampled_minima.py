"""What a sparser evaluation misses: minima of the committed full curves of Split CIFAR-10, and of what a schedule would have seen of them.

    python3 .ci/sampled_minima.py
"""

import csv
import gzip
from pathlib import Path

RUNS = Path(__file__).resolve().parent.parent / "results" / "main-split-cifar10" / "runs"
OPTIMIZERS = ["ngm-sgd", "msgd", "adam", "sgd"]
# Iterations at the beginning of a task that are all evaluated, and the distance of evaluations afterwards.
SCHEDULES = [(0, 10), (20, 10), (60, 10), (100, 10), (60, 5)]


def transitions():
    """Iteration within the task and task-1 accuracy, for each task after the first of each curve."""
    for path in sorted(path for name in OPTIMIZERS for path in RUNS.glob(f"{name}-seed*/curve.csv.gz")):
        with gzip.open(path, "rt") as file:
            rows = [(int(row["iteration"]), int(row["task"]), float(row["task1_acc"])) for row in csv.DictReader(file)]
        for task in range(2, max(row[1] for row in rows) + 1):
            within = [(iteration, accuracy) for iteration, of, accuracy in rows if of == task]
            first = within[0][0]
            yield [(iteration, iteration - first, accuracy) for iteration, accuracy in within]


print("| dense | then every | evaluated | missed | mean, points | at most |\n|---|---|---|---|---|---|")
for dense, every in SCHEDULES:
    missed, evaluated, possible = [], 0, 0
    for curve in transitions():
        seen = [accuracy for iteration, since, accuracy in curve if since < dense or iteration % every == 0]
        missed.append(min(seen) - min(accuracy for *_, accuracy in curve))
        evaluated, possible = evaluated + len(seen), possible + len(curve)
    late = sum(points > 0 for points in missed)
    print(f"| {dense} | {every} | {evaluated / possible:.1%} | {late} of {len(missed)} | {sum(missed) / len(missed):.1f} | {max(missed):.1f} |")
