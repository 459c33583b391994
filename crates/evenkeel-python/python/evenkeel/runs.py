"""Folders of runs: their curves, tables, figures and page."""

from __future__ import annotations

import html
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Union

from evenkeel import _evenkeel
from evenkeel.frames import Frame
from evenkeel.measure import MetricsList, html_table, metrics

Path = Union[str, "os.PathLike[str]"]


@dataclass(frozen=True)
class Figure:
    """A drawing; a notebook shows it."""

    id: str
    title: str
    svg: str

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: Path) -> None:
        """Write the SVG to a file."""
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.svg)


class Analysed:
    """Curves, grouped and analysed."""

    def __init__(self, analysis: _evenkeel.Analysis) -> None:
        self._analysis = analysis

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Everything that was found, as in ``summary.json``."""
        told: dict[str, Any] = json.loads(self._analysis.summary())
        return told

    @property
    def problems(self) -> list[str]:
        """Runs that are not counted because a file of theirs cannot be used, and why."""
        return self._analysis.problems()

    @cached_property
    def figures(self) -> tuple[Figure, ...]:
        """The figures of the report."""
        return tuple(Figure(*figure) for figure in self._analysis.figures(False))

    def figure(self, name: str) -> Figure:
        """The first figure whose id contains ``name``: ``curves``, ``gain``, ``pareto``, …"""
        found = next((figure for figure in self.figures if name in figure.id), None)
        if found is None:
            raise ValueError(f"{name!r}: no such figure; there are {', '.join(figure.id for figure in self.figures)}")
        return found

    def save_report(self, path: Path, title: str = "evenkeel: the stability gap") -> None:
        """Write one self-contained HTML file."""
        page = self._analysis.html(title)
        with open(path, "w", encoding="utf-8") as file:
            file.write(page)

    def __str__(self) -> str:
        return self._analysis.text()

    def _repr_html_(self) -> str:
        verdicts = "".join(f"<p><b>{html.escape(ranking['verdict'])}</b></p>" for ranking in self.summary["rankings"])
        tables = self._analysis.tables()
        return verdicts + "".join(html_table(*table) for table in tables)


class Runs(Analysed):
    """The runs of a folder: see :func:`load`."""

    def __init__(self, folders: Sequence[Path], against: str | None = None) -> None:
        super().__init__(_evenkeel.Analysis(list(folders), [], against))
        self.folders = tuple(os.fspath(folder) for folder in folders)

    @property
    def frame(self) -> Frame:
        """Every point of every run, finished or not, as columns that other libraries take without a copy."""
        return Frame(self._analysis.curves())

    @property
    def curves(self) -> Any:
        """The same as a data frame: of pandas, else of polars."""
        return self.frame.to_frame()

    @property
    def metrics(self) -> MetricsList:
        """The metrics of each run that has ended."""
        return metrics(self.folders[0]) if len(self.folders) == 1 else metrics(list(self.folders))

    def __repr__(self) -> str:
        return f"<evenkeel.Runs of {', '.join(self.folders)}: {len(self.summary['rows'])} optimizers>"


def load(*folders: Path, against: str | None = None) -> Runs:
    """The runs in some folders, of evenkeel or of a :class:`evenkeel.Recorder`.

    ``load("runs/split-mnist").curves`` is a data frame, ``.metrics`` what they come to, ``.figure("curves")`` a figure.
    """
    if not folders:
        raise ValueError("name a folder")
    return Runs(folders, against)


def report(*folders: Path, output: Path = "report.html", title: str = "evenkeel: the stability gap", against: str | None = None) -> Runs:
    """Make one self-contained HTML file of the runs in some folders, and give them back."""
    runs = load(*folders, against=against)
    runs.save_report(output, title)
    return runs
