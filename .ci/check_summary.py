"""Fails if the small Split MNIST job (2 seeds, NGM-SGD and MSGD) is out of the range that its five-seed version has.

The ranges are those of the five-seed job in the README, a little wider where two seeds scatter more.
"""

import json
import sys

RANGES = {
    "ngm-sgd": {"avg-ACC": (98.7, 99.4), "avg-min-ACC": (94.5, 98.5), "avg-SG": (0.0, 0.045)},
    "msgd": {"avg-ACC": (98.6, 99.4), "avg-min-ACC": (70.5, 74.5), "avg-SG": (0.24, 0.30)},
}

rows = {row["optimizer"]: row for row in json.load(open(sys.argv[1]))["rows"]}
failures = []
for optimizer, ranges in RANGES.items():
    row = rows[optimizer]
    assert row["seeds"] == [0, 1], f"{optimizer}: seeds {row['seeds']} counted"
    for metric, (low, high) in ranges.items():
        value = row["per_seed"][metric]["mean"]
        print(f"{optimizer:8} {metric:12} {value:8.3f}   allowed {low} to {high}")
        if not low <= value <= high:
            failures.append(f"{optimizer} {metric} = {value}")
first_gap = rows["msgd"]["mean_curve"]["sg_per_transition"][0]["mean"]
print(f"msgd     SG(1->2)     {first_gap:8.3f}   allowed from 0.98")
if first_gap < 0.98:
    failures.append(f"msgd SG(1->2) = {first_gap}")
if failures:
    sys.exit("out of range: " + "; ".join(failures))
