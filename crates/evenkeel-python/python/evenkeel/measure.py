"""Metrics of curves."""

from __future__ import annotations

import html
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, overload

from numpy.typing import ArrayLike

from evenkeel import _evenkeel
from evenkeel.curves import Curves, curves_of
from evenkeel.frames import frame_of


@dataclass(frozen=True)
class Metrics:
    r"""What one curve says.

    With :math:`E_k` the accuracy on task 1 at the end of task :math:`k` and :math:`m_k` its minimum within task :math:`k \ge 2`:

    .. math:: \mathrm{SG}_k = \frac{E_{k-1} - m_k}{E_{k-1}}, \qquad \mathrm{avg\text{-}SG} = \frac{1}{K-1} \sum_{k=2}^{K} \mathrm{SG}_k

    ``None`` stands where a curve does not hold what a number needs.
    """

    optimizer: str
    seed: int
    avg_acc: float
    avg_min_acc: float
    wc_acc: float
    avg_sg: float | None
    #: :math:`E_1, …, E_K`.
    ends: tuple[float, ...]
    #: :math:`m_2, …, m_K`.
    minima: tuple[float, ...]
    #: Where the minima lie.
    minimum_iterations: tuple[int, ...]
    #: The gap of each switch.
    sg: tuple[float | None, ...]
    #: Iterations between two evaluations. If it is not 1, minima are upper and gaps lower bounds.
    evaluated_every: int
    #: Everything else that has a name: ``all seen``, ``newest task``, ``online``, ``first 50``, …
    quantities: dict[str, float | None]


class MetricsList(Sequence[Metrics]):
    """Metrics of several curves, in their order."""

    def __init__(self, all_of_them: Sequence[Metrics]) -> None:
        self._all = tuple(all_of_them)

    @overload
    def __getitem__(self, index: int) -> Metrics: ...
    @overload
    def __getitem__(self, index: slice) -> MetricsList: ...
    def __getitem__(self, index: int | slice) -> Metrics | MetricsList:
        return MetricsList(self._all[index]) if isinstance(index, slice) else self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def _rows(self) -> list[dict[str, Any]]:
        return [{"optimizer": m.optimizer, "seed": m.seed, **m.quantities} for m in self._all]

    def to_frame(self) -> Any:
        """A data frame with a row per curve and a column per quantity: of pandas, else of polars; else a list of rows."""
        return frame_of(self._rows())

    def __repr__(self) -> str:
        lines = (f"  {m.optimizer}, seed {m.seed}: avg-ACC {m.avg_acc:.2f}, avg-min-ACC {m.avg_min_acc:.2f}, avg-SG {_shown(m.avg_sg)}" for m in self._all)
        return "\n".join([f"<metrics of {len(self)} curves>", *lines])

    def _repr_html_(self) -> str:
        rows = self._rows()
        names = [name for name in rows[0] if any(row[name] is not None for row in rows)] if rows else []
        return html_table("Metrics of each curve. Accuracies are in percent.", names, [[_shown(row[name]) for name in names] for row in rows])


def _shown(value: object) -> str:
    if value is None:
        return "–"
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def html_table(caption: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table for a notebook; every text in it is escaped."""
    head = "".join(f"<th>{html.escape(name)}</th>" for name in columns)
    body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
    return f"<table><caption>{html.escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def metrics(curves: Curves, *, tasks: int | None = None, task: ArrayLike | None = None, fraction: bool = False) -> MetricsList:
    """The metrics of each of some curves.

    ``curves`` may be an array of the accuracies on task 1 after each iteration (or a row of them per seed), a data frame, the path of a
    curve file, of several (``mine-*.csv``) or of a folder of runs, or a list of those: see :func:`evenkeel.curves.curves_of`.

    >>> import evenkeel
    >>> measured = evenkeel.metrics([[60.0, 80.0, 90.0, 45.0, 72.0, 88.0], [50.0, 80.0, 80.0, 60.0, 72.0, 80.0]], tasks=2)
    >>> [m.avg_sg for m in measured]
    [0.5, 0.25]
    >>> measured[0].minimum_iterations
    (4,)
    """
    found = curves_of(curves, tasks=tasks, task=task, fraction=fraction)
    measured = _evenkeel.metrics([(curve.name, curve.arrays()) for curve in found])
    return MetricsList([_metrics(curve.optimizer, curve.seed, of) for curve, of in zip(found, measured)])


def _metrics(optimizer: str, seed: int, of: dict[str, Any]) -> Metrics:
    quantities = of["quantities"]
    return Metrics(
        optimizer=optimizer,
        seed=seed,
        avg_acc=quantities["avg-ACC"],
        avg_min_acc=quantities["avg-min-ACC"],
        wc_acc=quantities["WC-ACC"],
        avg_sg=quantities["avg-SG"],
        ends=tuple(of["ends"]),
        minima=tuple(of["minima"]),
        minimum_iterations=tuple(of["minimum_iterations"]),
        sg=tuple(of["sg"]),
        evaluated_every=of["interval"],
        quantities=quantities,
    )
