"""Groups of curves against each other, and how certain it is."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from evenkeel import _evenkeel
from evenkeel.curves import Curves, curves_of
from evenkeel.frames import frame_of
from evenkeel.runs import Analysed, Path


@dataclass(frozen=True)
class Interval:
    """Mean over seeds, and Student's 95 % interval; there is none for fewer than three seeds."""

    n: int
    mean: float
    sd: float | None
    ci95: tuple[float, float] | None

    @classmethod
    def of(cls, told: dict[str, Any] | None) -> Interval | None:
        """From ``summary.json``."""
        if told is None:
            return None
        bounds = told["ci95"]
        return cls(told["n"], told["mean"], told["sd"], None if bounds is None else (bounds[0], bounds[1]))

    def __str__(self) -> str:
        bounds = "" if self.ci95 is None else f" [{self.ci95[0]:.3f}, {self.ci95[1]:.3f}]"
        return f"{self.mean:.3f}{bounds}"


@dataclass(frozen=True)
class Difference:
    """The reference minus another group, seed by seed."""

    benchmark: str
    reference: str
    against: str
    #: Whether seeds were compared in pairs; else by Welch's test.
    paired: bool
    #: Of the quantity, such as ``avg-SG``.
    intervals: dict[str, Interval]
    #: On the reference having the smaller gap: ``holds``, ``inconclusive``, ``contradicted`` or ``not-tested``.
    verdict: str
    #: p of the verdict, adjusted by Holm over the table.
    adjusted_p: float | None


@dataclass(frozen=True)
class Rank:
    """One group in the ranking by its gap."""

    name: str
    seeds: int
    gap: Interval
    minimum: Interval
    all_seen: Interval | None
    newest: Interval | None
    #: Whether the best has a smaller gap than this one; ``None`` for the best.
    best_is_smaller: str | None
    adjusted_p: float | None


class Comparison(Analysed):
    """What :func:`compare` found.

    ``str()`` gives the tables of ``evenkeel metrics``; a notebook shows them and the figures.
    """

    @property
    def verdict(self) -> str:
        """Who has the smallest gap, and how certain that is."""
        return " ".join(ranking["verdict"] for ranking in self.summary["rankings"])

    @property
    def ranking(self) -> tuple[Rank, ...]:
        """The groups by their gap, the smallest first."""
        rows = [row for ranking in self.summary["rankings"] for row in ranking["rows"]]
        return tuple(_rank(row) for row in rows)

    @property
    def differences(self) -> tuple[Difference, ...]:
        """The reference against each of the others."""
        return tuple(_difference(told) for told in self.summary["comparisons"])

    def to_frame(self) -> Any:
        """A data frame with a row per group: mean and interval of every quantity."""
        rows = []
        for row in self.summary["rows"]:
            flat: dict[str, Any] = {"benchmark": row["benchmark"], "optimizer": row["optimizer"], "seeds": len(row["seeds"])}
            for name, told in row["per_seed"].items():
                low, high = told["ci95"] or (None, None)
                flat.update({name: told["mean"], f"{name} low": low, f"{name} high": high})
            rows.append(flat)
        return frame_of(rows)

    def __repr__(self) -> str:
        return f"<evenkeel.Comparison: {self.verdict or 'nothing to compare'}>"


def compare(
    groups: Mapping[str, Curves] | None = None,
    *,
    runs: Path | Sequence[Path] = (),
    against: str | None = None,
    paired: bool = True,
    tasks: int | None = None,
    task: ArrayLike | None = None,
    fraction: bool = False,
) -> Comparison:
    """Compare groups of curves with each other, and with the runs of folders.

    ``groups`` has a name and its curves (anything that :func:`evenkeel.metrics` takes, one curve per seed) for each method. The first one,
    or the one that ``against`` names, is the reference. With ``paired``, equal seeds of two groups share their randomness and are compared
    with each other; say ``paired=False`` if they do not. Curves of yours and runs of evenkeel never are pairs.

    >>> import evenkeel
    >>> shallow = [[80.0, 90.0, 80.0 + s, 89.0] for s in range(4)]
    >>> deep = [[80.0, 90.0, 40.0 + 3 * s, 89.0] for s in range(4)]
    >>> comparison = evenkeel.compare({"mine": shallow, "other": deep}, tasks=2)
    >>> comparison.differences[0].verdict
    'holds'
    >>> [rank.name for rank in comparison.ranking]
    ['mine', 'other']
    """
    folders = [runs] if isinstance(runs, (str, os.PathLike)) else list(runs)
    if not groups and not folders:
        raise ValueError("there is nothing to compare: give groups, or runs=")
    own = []
    for name, source in (groups or {}).items():
        curves = curves_of(source, tasks=tasks, task=task, fraction=fraction)
        seeds = [curve.seed for curve in curves]
        if len(set(seeds)) < len(seeds):
            raise ValueError(f"{name}: two curves of one seed; a group has one curve per seed")
        own.append((name, [(curve.seed, curve.arrays()) for curve in curves], paired))
    return Comparison(_evenkeel.Analysis(folders, own, against))


def _rank(row: dict[str, Any]) -> Rank:
    gap, minimum = Interval.of(row["gap"]), Interval.of(row["minimum"])
    assert gap is not None and minimum is not None
    return Rank(
        row["name"],
        row["seeds"],
        gap,
        minimum,
        Interval.of(row["all_seen"]),
        Interval.of(row["newest"]),
        row["best_is_smaller"],
        row["adjusted_p"],
    )


def _difference(told: dict[str, Any]) -> Difference:
    intervals = {part["quantity"]: Interval.of(part["interval"]) for part in told["differences"]}
    return Difference(
        told["benchmark"],
        told["reference"],
        told["against"],
        told["paired"],
        {name: interval for name, interval in intervals.items() if interval is not None},
        told["verdict"],
        told["adjusted_p"],
    )


__all__ = ["Comparison", "Difference", "Interval", "Rank", "compare"]
