"""Computes every interval and verdict of a committed page again, from the values of its seeds and nothing else.

    python3 .ci/check_statistics.py results/main-split-mnist

Independent of the program: Student's t by numerical integration, Holm by its definition.
"""

import csv
import functools
import math
import sys
from pathlib import Path


def density(x, df):
    log = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - 0.5 * math.log(df * math.pi)
    return math.exp(log - (df + 1) / 2 * math.log1p(x * x / df))


def upper_tail(t, df):
    """P(T > t) for t >= 0, by Simpson's rule in x = t + u/(1-u)."""
    if math.isinf(t):
        return 0.0
    n = 4_000
    f = lambda u: density(t + u / (1 - u), df) / (1 - u) ** 2 if u < 1 else 0.0
    return sum(f(i / n) * (1 if i in (0, n) else 4 if i % 2 else 2) for i in range(n + 1)) / (3 * n)


def below(mean, error, value, df):
    """p of the one-sided test that the mean is below the value."""
    t = 0.0 if mean == value else (mean - value) / error if error else math.copysign(math.inf, mean - value)
    tail = upper_tail(abs(t), df)
    return tail if t <= 0 else 1 - tail


@functools.cache
def quantile(df):
    low, high = 0.0, 1e4
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if upper_tail(middle, df) > 0.025 else (low, middle)
    return low


def judge(values, side, margin):
    """Mean, interval, p, and whether the evidence is for the claim."""
    n, mean = len(values), sum(values) / len(values)
    if n < 3:
        return mean, None, None, None
    error = math.sqrt(sum((v - mean) ** 2 for v in values) / (n - 1) / n)
    half, df = quantile(n - 1) * error, n - 1
    under = lambda value: below(mean, error, value, df)
    over = lambda value: 1 - under(value)
    if side in ("less", "more", "below", "above"):
        value = margin or 0.0
        p = 2 * min(under(value), over(value))
        towards = mean < value if side in ("less", "below") else mean > value
    else:
        inside = max(over(-margin), under(margin))
        outside = min(under(-margin), over(margin)) if side == "within" else under(-margin)
        p, towards = min(1, 2 * min(inside, outside)), inside <= outside
    return mean, (mean - half, mean + half), p, towards


folder = Path(sys.argv[1])
values = {}
for row in csv.DictReader((folder / "per-seed.csv").open()):
    values[row["lineup"], row["optimizer"], row["quantity"], row["seed"]] = float(row["value"])
claims = [claim for claim in csv.DictReader((folder / "claims.csv").open()) if claim["side"]]
found = []
for claim in claims:
    of = lambda name, seed: values[claim["lineup"], name, claim["quantity"], seed]
    seeds = claim["seeds"].split()
    differences = [of(claim["a"], s) - (of(claim["b"], s) if claim["b"] else 0.0) for s in seeds]
    found.append(judge(differences, claim["side"], float(claim["margin"] or 0)) if seeds else (None,) * 4)

order = sorted((p, i) for i, (_, _, p, _) in enumerate(found) if p is not None)
adjusted, highest = {}, 0.0
for rank, (p, i) in enumerate(order):
    highest = max(highest, min(1.0, p * (len(order) - rank)))
    adjusted[i] = highest

close = lambda a, b: abs(a - float(b)) <= 1e-6 * max(1.0, abs(a))
for i, (claim, (mean, interval, p, towards)) in enumerate(zip(claims, found)):
    word = "not tested" if i not in adjusted else "undecided" if adjusted[i] >= 0.05 else "holds" if towards else "contradicted"
    assert word == claim["verdict"], (claim, word)
    if mean is not None:
        assert close(mean, claim["mean"]), claim
    if interval:
        assert close(interval[0], claim["low"]) and close(interval[1], claim["high"]), (claim, interval)
        assert close(p, claim["p"]) and close(adjusted[i], claim["holm_p"]), (claim, p, adjusted[i])
print(f"{folder}: {len(claims)} claims on seeds, {len(order)} of them tested: every interval, p, Holm p and verdict comes out again")
