"""A recorder for any training loop."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType

from evenkeel import _evenkeel


class Recorder:
    """Writes a run folder that ``evenkeel report``, ``serve``, ``metrics`` and :func:`evenkeel.compare` take as one of their own.

    >>> import evenkeel, tempfile
    >>> folder = tempfile.mkdtemp()
    >>> with evenkeel.Recorder(folder, optimizer="mine", seed=0, tasks=2) as recorder:
    ...     for iteration, accuracy in enumerate([60.0, 90.0, 45.0, 88.0], start=1):
    ...         recorder.log(iteration, task=1 if iteration <= 2 else 2, accuracies=[accuracy], loss=0.1)
    >>> evenkeel.load(folder).metrics[0].avg_sg
    0.5

    Each row is handed to the system at once: a program that is killed loses no complete row. Then the run is unfinished, and
    ``resume=True`` goes on after its last row, ``resume=400`` after iteration 400, where you have a checkpoint; later rows are cut off. Without
    ``resume`` an unfinished run begins again. Leaving the ``with`` block ends the run, and its files are sealed; an exception leaves
    it unfinished. Only one process at a time can record a run.

    ``folder`` holds any number of runs; each has a folder of its own in it, named after ``optimizer`` and ``seed``. Runs of one ``benchmark``
    are compared with each other, equal seeds in pairs. ``iterations`` per task, if they are known, let the live page say how long it takes.
    """

    def __init__(
        self,
        folder: str | os.PathLike[str],
        optimizer: str,
        seed: int = 0,
        tasks: int = 1,
        *,
        benchmark: str = "recorded",
        iterations: int = 0,
        resume: bool | int = False,
    ) -> None:
        if tasks < 1 or seed < 0 or iterations < 0:
            raise ValueError(f"tasks={tasks}, seed={seed}, iterations={iterations}: tasks from 1, the others from 0")
        # True is an int, too.
        after = (2**63 if resume else None) if isinstance(resume, bool) else resume
        self._compiled = _evenkeel.Recorder(folder, benchmark, optimizer, seed, tasks, iterations, after)
        self.tasks = tasks

    @property
    def folder(self) -> Path:
        """The folder of this run."""
        return self._compiled.folder

    @property
    def iteration(self) -> int:
        """The last iteration that is recorded; 0 before the first."""
        return self._compiled.iteration

    def log(
        self,
        iteration: int,
        task: int,
        accuracies: Sequence[float | None],
        loss: float | None = None,
        *,
        train_loss: float | None = None,
        gain: float | None = None,
        entropy: float | None = None,
        seen: float | None = None,
    ) -> None:
        """Record one evaluation after ``iteration`` iterations (over all tasks), while ``task`` (from 1) is trained.

        ``accuracies`` are in percent: that on task 1 first, then the others; ``None`` where a task was not evaluated. ``loss`` is that on task 1,
        ``seen`` the accuracy on the test sets of all tasks so far.
        """
        if len(accuracies) > self.tasks:
            raise ValueError(f"accuracies of {len(accuracies)} tasks in a recording of {self.tasks}; give the Recorder tasks={len(accuracies)}")
        self._compiled.log(iteration, task, accuracies, loss, gain, entropy, train_loss, seen)

    def close(self) -> None:
        """End the run."""
        self._compiled.finish(None)

    def diverged(self, reason: str = "the loss is not finite") -> None:
        """End a run that came to nothing; it counts as the worst value, and is never left out."""
        self._compiled.finish(reason)

    def leave(self) -> None:
        """Leave the run unfinished, to be gone on with."""
        self._compiled.leave()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None) -> None:
        if kind is not None:
            self.leave()
        elif not self._compiled.closed:
            self.close()
