"""Curves in every form that people have them, as the arrays that Rust takes."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

#: What was measured besides accuracies, as curve files call it.
NAMED = ("task1_loss", "gain", "entropy", "train_loss", "seen_acc")


@dataclass(frozen=True)
class Curve:
    """The accuracies of one seed while it trained.

    ``accuracies`` has a column per task, in percent; NaN where a task was not evaluated. Task 1 always is. ``iteration`` counts over all
    tasks, ``task`` is the one in training, from 1.

    >>> Curve.of([60.0, 90.0, 45.0, 88.0], tasks=2).task
    array([1, 1, 2, 2])
    """

    iteration: Ints
    task: Ints
    accuracies: Floats
    seed: int = 0
    optimizer: str = "curves"
    named: dict[str, Floats] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        accuracies: ArrayLike,
        *,
        tasks: int | None = None,
        task: ArrayLike | None = None,
        iteration: ArrayLike | None = None,
        seed: int = 0,
        optimizer: str = "curves",
        **named: ArrayLike,
    ) -> Curve:
        """A curve of arrays: accuracies on task 1, or a column per task.

        Say where the tasks end: ``tasks=5`` for five of equal length, or ``task=`` with the task of every row. Rows are iterations 1, 2, …
        unless ``iteration=`` says otherwise.
        """
        values = np.asarray(accuracies, dtype=np.float64)
        if values.ndim == 1:
            values = values[:, np.newaxis]
        if values.ndim != 2 or len(values) == 0:
            raise ValueError(f"accuracies: expected a row per iteration, got the shape {values.shape}")
        rows = len(values)
        if task is not None:
            tasks_of_rows = np.asarray(task, dtype=np.int64)
        elif tasks is None or tasks < 1 or rows % tasks:
            raise ValueError(
                f"tasks={tasks}: {rows} rows are not so many tasks of equal length; give task= with the task of every row"
            )
        else:
            tasks_of_rows = np.repeat(np.arange(1, tasks + 1, dtype=np.int64), rows // tasks)
        iterations = np.arange(1, rows + 1, dtype=np.int64) if iteration is None else np.asarray(iteration, dtype=np.int64)
        unknown = set(named) - set(NAMED)
        if unknown:
            raise ValueError(f"{', '.join(sorted(unknown))}: not a column; there are {', '.join(NAMED)}")
        columns = {name: np.asarray(column, dtype=np.float64) for name, column in named.items()}
        return cls(iterations, tasks_of_rows, values, seed, optimizer, columns)

    def arrays(self) -> dict[str, Any]:
        """What the compiled module takes."""
        return {
            "iteration": np.ascontiguousarray(self.iteration),
            "task": np.ascontiguousarray(self.task),
            "accuracies": np.ascontiguousarray(self.accuracies),
            "named": [self.named.get(name) for name in NAMED],
        }

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.optimizer}, seed {self.seed}"


#: Everything that is understood as curves: see :func:`curves_of`.
Curves = Union[Curve, str, "os.PathLike[str]", ArrayLike, Sequence["Curves"], Mapping[str, Any], Any]


def curves_of(
    source: Curves, *, tasks: int | None = None, task: ArrayLike | None = None, fraction: bool = False
) -> list[Curve]:
    """The curves of almost anything.

    - a :class:`Curve`, or a list of them
    - an array: accuracies on task 1 after each iteration, or one row of them per seed; with ``tasks=`` or ``task=``
    - a pandas or polars frame (or anything that pandas takes) with the columns of a curve file: ``iteration``, ``task``, ``task1_acc``
      and, if there are any, ``acc_2``, …, ``seen_acc``, ``task1_loss``; ``seed`` and ``optimizer`` part it
    - the path of a curve file, a pattern such as ``mine-*.csv``, or a folder of runs

    ``fraction`` says that accuracies lie between 0 and 1.
    """
    found = list(_curves(source, tasks, task))
    if not found:
        raise ValueError("there are no curves")
    for curve in found:
        highest = np.nanmax(curve.accuracies, initial=0.0)
        if fraction and highest > 1.0:
            raise ValueError(f"{curve.name}: has accuracies above 1, which are no fractions; leave fraction=True away")
        if not fraction and 0.0 < highest <= 1.0:
            raise ValueError(f"{curve.name}: no accuracy is above 1. If they lie between 0 and 1, say fraction=True")
    return [_in_percent(curve) for curve in found] if fraction else found


def _in_percent(curve: Curve) -> Curve:
    named = {name: values * 100.0 if name == "seen_acc" else values for name, values in curve.named.items()}
    return Curve(curve.iteration, curve.task, curve.accuracies * 100.0, curve.seed, curve.optimizer, named)


def _curves(source: Curves, tasks: int | None, task: ArrayLike | None) -> Iterator[Curve]:
    if isinstance(source, Curve):
        yield source
    elif isinstance(source, (str, os.PathLike)):
        yield from _of_path(os.fspath(source))
    elif isinstance(source, np.ndarray) or _is_numbers(source):
        yield from _of_array(np.asarray(source, dtype=np.float64), tasks, task)
    elif _is_frame(source):
        yield from _of_frame(source)
    elif isinstance(source, Iterable):
        for seed, part in enumerate(source):
            for curve in _curves(part, tasks, task):
                # Curves without a seed of their own are told apart by their place.
                own = isinstance(part, (Curve, str, os.PathLike)) or _is_frame(part)
                yield curve if own else Curve(curve.iteration, curve.task, curve.accuracies, seed, curve.optimizer, curve.named)
    else:
        raise ValueError(f"{type(source).__name__}: not curves; see evenkeel.metrics")


def _is_numbers(source: object) -> bool:
    return isinstance(source, (list, tuple)) and bool(source) and all(isinstance(value, (int, float)) for value in source)


def _is_frame(source: object) -> bool:
    return isinstance(source, Mapping) or (hasattr(source, "columns") and hasattr(source, "__getitem__")) or hasattr(
        source, "__arrow_c_stream__"
    )


def _of_array(values: Floats, tasks: int | None, task: ArrayLike | None) -> Iterator[Curve]:
    if values.ndim not in (1, 2):
        raise ValueError(f"expected accuracies per iteration, or a row of them per seed, got the shape {values.shape}")
    for seed, row in enumerate(np.atleast_2d(values)):
        yield Curve.of(row, tasks=tasks, task=task, seed=seed)


def _of_path(path: str) -> Iterator[Curve]:
    from evenkeel._evenkeel import Analysis

    if os.path.isdir(path):
        analysis = Analysis([path], [], None)
        problems = analysis.problems()
        if problems:
            raise ValueError("; ".join(problems))
        yield from _of_frame(analysis.curves())
        return
    files = sorted(glob.glob(path))
    if not files:
        raise ValueError(f"{path}: no such file or folder")
    for place, file in enumerate(files):
        digits = Path(file).stem
        number = digits[len(digits.rstrip("0123456789")) :]
        yield _of_file(file, int(number) if number else place)


def _of_file(path: str, seed: int) -> Curve:
    with open(path, encoding="utf-8") as file:
        header = file.readline().strip().split(",")
        missing = {"iteration", "task", "task1_acc"} - set(header)
        if missing:
            raise ValueError(f"{path}: the column {', '.join(sorted(missing))} is missing")
        try:
            cells = np.genfromtxt(file, delimiter=",", dtype=np.float64, ndmin=2)
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from None
    if cells.shape[1] != len(header):
        raise ValueError(f"{path}: rows of {cells.shape[1]} cells under a header of {len(header)}")
    return _of_columns({name: cells[:, i] for i, name in enumerate(header)}, seed, "curves")


def _of_frame(frame: Any) -> Iterator[Curve]:
    columns = _columns(frame)
    missing = {"iteration", "task", "task1_acc"} - set(columns)
    if missing:
        raise ValueError(f"the column {', '.join(sorted(missing))} is missing")
    rows = len(columns["iteration"])
    optimizer = np.asarray(columns.pop("optimizer", np.full(rows, "curves")), dtype=object)
    seed = np.asarray(columns.pop("seed", np.zeros(rows)), dtype=np.int64)
    keys = list(dict.fromkeys(zip(optimizer, seed.tolist())))
    for name, number in keys:
        chosen = (optimizer == name) & (seed == number)
        part = {key: np.asarray(column)[chosen] for key, column in columns.items() if key != "benchmark"}
        yield _of_columns(part, int(number), str(name))


def _columns(frame: Any) -> dict[str, Any]:
    from evenkeel import _evenkeel

    if isinstance(frame, _evenkeel.Frame):
        return {name: np.asarray(frame.column(name), dtype=None if name in ("benchmark", "optimizer") else np.float64) for name in frame.columns}
    if isinstance(frame, Mapping):
        return {str(name): np.asarray(column) for name, column in frame.items()}
    if not hasattr(frame, "columns"):
        import pyarrow

        frame = pyarrow.table(frame).to_pandas()
    names = frame.column_names if hasattr(frame, "column_names") else frame.columns
    return {str(name): np.asarray(frame[name]) for name in names}


def _of_columns(columns: dict[str, Any], seed: int, optimizer: str) -> Curve:
    def numbers(name: str) -> Floats:
        return np.asarray(columns[name], dtype=np.float64)

    accuracies = [numbers("task1_acc")]
    while f"acc_{len(accuracies) + 1}" in columns:
        accuracies.append(numbers(f"acc_{len(accuracies) + 1}"))
    named = {name: numbers(name) for name in NAMED if name in columns}
    whole = {name: numbers(name).astype(np.int64) for name in ("iteration", "task")}
    return Curve(whole["iteration"], whole["task"], np.column_stack(accuracies), seed, optimizer, named)
