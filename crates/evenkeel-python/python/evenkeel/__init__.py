"""The stability gap: metrics, honest statistics, a recorder for any training loop, and a fast runner.

When a model starts on a new task, its accuracy on what it knew falls for a while, even when all old data is still trained on. It shows
only if the model is evaluated every few iterations.

>>> import evenkeel, numpy
>>> accuracy = numpy.array([60.0, 80.0, 90.0, 45.0, 72.0, 88.0])  # on task 1, after each iteration; task 2 starts at the fourth
>>> evenkeel.metrics(accuracy, tasks=2)[0].avg_sg
0.5

- :func:`metrics` measures curves, :func:`compare` tests groups of them against each other.
- :class:`Recorder` writes a run folder from any training loop.
- :func:`run` trains on a benchmark or on data of your own, :func:`load` reads the curves, :func:`report` makes a page.
- :mod:`evenkeel.torch` has the optimizers for PyTorch, :mod:`evenkeel.avalanche` and :mod:`evenkeel.lightning` the plug-ins.

Accuracies are in percent. Whatever is long runs in Rust without the interpreter's lock.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenkeel.comparison import Comparison, compare
    from evenkeel.curves import Curve
    from evenkeel.frames import Frame
    from evenkeel.measure import Metrics, MetricsList, metrics
    from evenkeel.recorder import Recorder
    from evenkeel.runs import Figure, Runs, load, report
    from evenkeel.runner import run

# Imported when they are first used: a worker process needs none of it, and a plain import stays quick.
_HOMES = {
    "Comparison": "comparison",
    "compare": "comparison",
    "Curve": "curves",
    "Frame": "frames",
    "Metrics": "measure",
    "MetricsList": "measure",
    "metrics": "measure",
    "Recorder": "recorder",
    "Figure": "runs",
    "Runs": "runs",
    "load": "runs",
    "report": "runs",
    "run": "runner",
}

__all__ = [
    "Comparison",
    "Curve",
    "Figure",
    "Frame",
    "Metrics",
    "MetricsList",
    "Recorder",
    "Runs",
    "__version__",
    "compare",
    "load",
    "metrics",
    "report",
    "run",
]


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from evenkeel._evenkeel import VERSION

        return VERSION
    if name not in _HOMES:
        raise AttributeError(f"module 'evenkeel' has no attribute {name!r}")
    value = getattr(import_module(f"evenkeel.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
