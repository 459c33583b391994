"""Experiments from Python."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path as Folder
from typing import Any, Union

import numpy as np
from numpy.typing import ArrayLike

from evenkeel import _evenkeel
from evenkeel.__main__ import AGAIN
from evenkeel.runs import Path, Runs, load

#: Features, labels and, if the data says it, the task of each example.
Data = Union["tuple[ArrayLike, ArrayLike]", "tuple[ArrayLike, ArrayLike, ArrayLike]"]


def run(
    experiment: Path = "split-mnist",
    *,
    optimizers: Sequence[str] | str = (),
    seeds: int | Iterable[int] = 5,
    out: Path | None = None,
    data: Data | None = None,
    iterations: int | None = None,
    eval_every: int | None = None,
    eval_samples: int | None = None,
    jobs: int | None = None,
    threads: int | None = None,
    control: bool = False,
    progress: bool = True,
    settings: Mapping[str, Any] | None = None,
) -> Runs:
    """Train on a benchmark (``evenkeel list``) or an experiment file, evaluate after every iteration, and give the runs back.

    It does what ``evenkeel run`` does: each run is a process of its own and its results are kept in ``out`` (``runs/<benchmark>`` by default),
    so the same call again does only what is missing. Ctrl-C, and *interrupt* in a notebook, save the state of every run and raise
    ``KeyboardInterrupt``; the same call goes on.

    ``settings`` are those of an experiment file: ``{"batch": 64, "ngm-sgd.eta": 0.3}``. ``control`` also runs controls without a switch, which
    measure the noise floor.

    ``data=(X, y)`` or ``(X, y, task)`` is a stream of your own: a row of numbers per example, labels from 0, and tasks. Without tasks, set
    ``classes_per_task``. A random fifth of each class tests, unless ``settings`` say otherwise (``test_fraction``).

    >>> import evenkeel, tempfile
    >>> runs = evenkeel.run("split-digits", optimizers="sgd", seeds=1, iterations=4, out=tempfile.mkdtemp(), progress=False)
    >>> len(runs.frame)
    20
    """
    name = os.fspath(experiment)
    folder = Folder(out) if out is not None else Folder("runs") / (Folder(name).stem if data is None else "own-data")
    chosen: dict[str, Any] = dict(settings or {})
    if data is not None:
        chosen = {**_described(folder, data, chosen), **chosen}
    arguments = [name, "--out", str(folder), "--seeds", _seeds(seeds)]
    names = [optimizers] if isinstance(optimizers, str) else list(optimizers)
    if names:
        arguments += ["--optimizers", ",".join(names)]
    numbers = {"--iterations": iterations, "--eval-every": eval_every, "--eval-samples": eval_samples, "--jobs": jobs, "--threads": threads}
    for option, number in numbers.items():
        if number is not None:
            arguments += [option, str(number)]
    for key, value in chosen.items():
        arguments += ["--set", f"{key}={value if isinstance(value, str) else json.dumps(value)}"]
    if control:
        arguments.append("--control")
    with _Bar(progress) as bar:
        done = _evenkeel.run(arguments, AGAIN, bar.update)
    return load(done)


def _seeds(seeds: int | Iterable[int]) -> str:
    if isinstance(seeds, int):
        return str(seeds)
    listed = [int(seed) for seed in seeds]
    if not listed:
        raise ValueError("seeds: there are none")
    # A single number would be a number of seeds.
    return f"{listed[0]}..{listed[0] + 1}" if len(listed) == 1 else ",".join(map(str, listed))


def _described(folder: Folder, data: Data, chosen: Mapping[str, Any]) -> dict[str, Any]:
    """Writes the arrays for the workers, and says how they are read."""
    if not 2 <= len(data) <= 3:
        raise ValueError("data: expected (X, y) or (X, y, task)")
    x, y = np.asarray(data[0]), np.asarray(data[1])
    columns = {"features": x.reshape(len(x), -1).astype(np.float32), "label": y}
    if len(data) == 3:
        columns["task"] = np.asarray(data[2])
    elif "classes_per_task" not in chosen and "scenario" not in chosen:
        raise ValueError("data: say which tasks there are, with (X, y, task) or settings={'classes_per_task': 2}")
    for column, values in columns.items():
        if len(values) != len(x):
            raise ValueError(f"data: {len(values)} values of {column} for {len(x)} examples")
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "data.npz"
    np.savez(path, **columns)  # type: ignore[arg-type]
    stream = {"scenario": "task-column"} if "task" in columns else {}
    return {"data": f"features:{path.resolve()}", **stream}


class _Bar:
    """How far all runs are together, in a terminal or in a notebook."""

    def __init__(self, shown: bool) -> None:
        self._done: dict[int, int] = {}
        self._bar: Any = None
        self._shown = shown

    def __enter__(self) -> _Bar:
        return self

    def __exit__(self, *_: object) -> None:
        if self._bar is not None:
            self._bar.close()

    def update(self, index: int, runs: int, name: str, seed: int, what: str, done: int, total: int, accuracy: float | None) -> None:
        """One thing that happened to a run."""
        if not self._shown:
            return
        if self._bar is None:
            with warnings.catch_warnings():
                # Without ipywidgets a notebook gets the bar of a terminal.
                warnings.simplefilter("ignore")
                from tqdm.auto import tqdm
            self._bar = tqdm(total=runs * total, unit="it", desc=f"{runs} runs", mininterval=0.2)
        before = self._done.get(index, 0)
        if done > before:
            self._bar.update(done - before)
            self._done[index] = done
        if accuracy is not None:
            self._bar.set_postfix_str(f"{name} seed {seed}: task 1 at {accuracy:.1f} %", refresh=False)
        if what.startswith(("diverged", "failed", "another")):
            self._bar.write(f"{name} seed {seed}: {what}")
