"""Accuracy on every task seen so far, after every iteration of training."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from .checks import shown
from .ema import Ema
from .gain import Gain

_EXAMPLES_AT_ONCE = 1000


class Row(NamedTuple):
    """One evaluation.

    >>> Row(1, 1, [98.5, None], None, None, None, None, 98.5).accuracies[0]
    98.5
    """

    iteration: int
    """Optimizer steps so far, over all tasks."""
    task: int
    """The task that is trained, from 1."""
    accuracies: list[float | None]
    """Percent on the test set of each task, index k−1 for task k; None where it is not evaluated."""
    loss: float | None
    """Cross-entropy on the test set of task 1."""
    train_loss: float | None
    """The loss of the batch, as it was given."""
    gain: float | None
    """The gain after the step."""
    entropy: float | None
    """The mean output entropy of the batch in nats."""
    seen: float | None
    """Percent on the test sets of all tasks seen so far together."""


class Recorder(Protocol):
    """What rows are written to: :class:`evenkeel.Recorder`, or anything with its ``log``."""

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
    ) -> Any: ...


def continual_evaluation(
    model: nn.Module,
    loaders: Sequence[Iterable[Any]],
    every: int = 1,
    recorder: Recorder | None = None,
    ema: Ema | None = None,
) -> ContinualEvaluation:
    """Evaluates all tasks seen so far while a model is trained.

    Args:
        model: gives logits ``[examples, classes]``.
        loaders: one test set per task, in the order of training: a ``DataLoader``, or a pair of tensors ``(x, y)``.
        every: iterations between two evaluations.
        recorder: gets every row, such as an :class:`evenkeel.Recorder`.
        ema: the average to evaluate instead of the model. You update it.

    >>> from torch.nn import Linear
    >>> model, x, y = Linear(4, 2), torch.zeros(10, 4), torch.zeros(10, dtype=torch.long)
    >>> with torch.no_grad():
    ...     _ = model.bias.copy_(torch.tensor([1.0, 0.0]))
    >>> evaluation = continual_evaluation(model, [(x, y), (x, y + 1)])
    >>> row = evaluation.after_step(task=1, loss=0.7)
    >>> row.accuracies
    [100.0, None]
    >>> evaluation.after_step(task=2).accuracies
    [100.0, 0.0]
    """
    return ContinualEvaluation(model, loaders, every, recorder, ema)


class ContinualEvaluation:
    """Made by :func:`continual_evaluation`; call :meth:`after_step` after every step of the optimizer.

    Training does not notice: modes, running statistics and the state of random numbers are as before.

    >>> evaluation = ContinualEvaluation(nn.Linear(4, 2), [(torch.zeros(1, 4), torch.zeros(1).long())], every=2)
    >>> evaluation.after_step(1)
    >>> evaluation.after_step(1).iteration
    2
    """

    def __init__(
        self,
        model: nn.Module,
        loaders: Sequence[Iterable[Any]],
        every: int = 1,
        recorder: Recorder | None = None,
        ema: Ema | None = None,
    ) -> None:
        if every < 1:
            raise ValueError(f"every must be >= 1, got {shown(every)}")
        self.model, self.loaders, self.every, self.recorder, self.ema = model, loaders, every, recorder, ema
        self.iteration = 0
        self.tasks_seen = 0
        self.rows: list[Row] = []

    def after_step(self, task: int, loss: Tensor | float | None = None) -> Row | None:
        """Counts the iteration, and evaluates when it is time to.

        Args:
            task: the task that is trained, from 1.
            loss: the loss of the batch.
        """
        if not 1 <= task <= len(self.loaders):
            raise ValueError(f"task must be in 1..{len(self.loaders)}, one for each loader, got {shown(task)}")
        self.iteration += 1
        self.tasks_seen = max(self.tasks_seen, task)
        if self.iteration % self.every:
            return None
        row = self._evaluate(task, None if loss is None else float(torch.as_tensor(loss).detach()))
        self.rows.append(row)
        if self.recorder is not None:
            self.recorder.log(**row._asdict())
        return row

    def _evaluate(self, task: int, train_loss: float | None) -> Row:
        model = self.model if self.ema is None else self.ema.module
        with _evaluating(model), random_numbers_kept(model):
            counts = [_count(model, loader) for loader in self.loaders[: self.tasks_seen]]
        unseen: list[float | None] = [None] * (len(self.loaders) - self.tasks_seen)
        first = counts[0]
        gain = next((module for module in self.model.modules() if isinstance(module, Gain)), None)
        return Row(
            iteration=self.iteration,
            task=task,
            accuracies=[_percent(count.right, count.examples) for count in counts] + unseen,
            loss=first.loss / first.examples if first.examples else None,
            train_loss=train_loss,
            gain=None if gain is None else gain.value,
            entropy=None if gain is None else gain.entropy,
            seen=_percent(sum(count.right for count in counts), sum(count.examples for count in counts)),
        )


class _Count(NamedTuple):
    """What one test set gave."""

    examples: int
    right: int
    loss: float


def _percent(right: int, examples: int) -> float | None:
    return 100 * right / examples if examples else None


def _count(model: nn.Module, loader: Iterable[Any]) -> _Count:
    device = next((parameter.device for parameter in model.parameters()), torch.device("cpu"))
    examples, right, loss = 0, 0, 0.0
    for x, y, *_ in _batches(loader):
        logits, y = model(x.to(device)), y.to(device)
        examples += len(y)
        right += int((logits.argmax(dim=1) == y).sum())
        loss += float(cross_entropy(logits.float(), y, reduction="sum"))
    return _Count(examples, right, loss)


def _batches(loader: Iterable[Any]) -> Iterable[Any]:
    if isinstance(loader, (tuple, list)) and len(loader) == 2 and isinstance(loader[0], Tensor):
        x, y = loader
        return zip(x.split(_EXAMPLES_AT_ONCE), y.split(_EXAMPLES_AT_ONCE))
    return loader


@contextmanager
def _evaluating(model: nn.Module) -> Iterator[None]:
    """Evaluation mode without gradients; afterwards each module has the mode that it had."""
    modes = [(module, module.training) for module in model.modules()]
    model.eval()
    try:
        with torch.no_grad():
            yield
    finally:
        for module, mode in modes:
            module.training = mode


@contextmanager
def random_numbers_kept(model: nn.Module) -> Iterator[None]:
    """Loaders draw random numbers, and training must not miss them.

    >>> model = nn.Linear(2, 2)
    >>> state = torch.get_rng_state()
    >>> with random_numbers_kept(model):
    ...     _ = torch.rand(1)
    >>> torch.equal(torch.get_rng_state(), state)
    True
    """
    python, numpy = random.getstate(), np.random.get_state()
    devices = sorted({parameter.device.index for parameter in model.parameters() if parameter.is_cuda})
    try:
        with torch.random.fork_rng(devices=devices):
            yield
    finally:
        random.setstate(python)
        np.random.set_state(numpy)
