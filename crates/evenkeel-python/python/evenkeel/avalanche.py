"""Avalanche: a plugin that measures the stability gap of any supervised strategy."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from avalanche.core import SupervisedPlugin
from torch.utils.data import DataLoader

from evenkeel.torch import ContinualEvaluation, Ema, Gain
from evenkeel.torch.evaluation import Recorder, Row, random_numbers_kept


class ContinualEvaluationPlugin(SupervisedPlugin):  # type: ignore[misc]
    """Evaluates the test sets of all experiences seen so far after every training iteration.

    It also tells the gain about the outputs, as :class:`evenkeel.torch.EvenKeel` needs it, and updates the average.
    The experience ``k`` of the stream is task ``k + 1``.

    ===============  =======  =======================================================================
    parameter        default  purpose
    ===============  =======  =======================================================================
    ``test_stream``  –        the test experiences, in the order of training
    ``every``        1        iterations between two evaluations
    ``recorder``     None     gets every row, such as an :class:`evenkeel.Recorder`
    ``gain``         None     the gain of the model, told about outputs and targets before each step
    ``ema``          None     the average of the model; updated after each step, and evaluated
    ``batch_size``   500      test examples at once
    ``in_memory``    True     read each test set once and keep it; False reads it for each evaluation
    ===============  =======  =======================================================================

    >>> from avalanche.benchmarks import benchmark_from_datasets
    >>> from avalanche.benchmarks.utils import DataAttribute, make_avalanche_dataset
    >>> from avalanche.training.supervised import Cumulative
    >>> from evenkeel.torch import NGMSGD, modulate
    >>> def dataset(labels):
    ...     data = torch.utils.data.TensorDataset(torch.randn(len(labels), 4), torch.tensor(labels))
    ...     tasks = DataAttribute([0] * len(labels), "targets_task_labels", use_in_getitem=True)
    ...     return make_avalanche_dataset(data, data_attributes=[DataAttribute(labels, "targets"), tasks])
    >>> tasks = [dataset([0, 1] * 8), dataset([2, 3] * 8)]
    >>> benchmark = benchmark_from_datasets(train=tasks, test=tasks)
    >>> model = torch.nn.Linear(4, 4)
    >>> gain = modulate(model, "weight")
    >>> plugin = ContinualEvaluationPlugin(benchmark.streams["test"], gain=gain)
    >>> optimizer = NGMSGD(model.parameters(), gain=gain)
    >>> strategy = Cumulative(
    ...     model=model, optimizer=optimizer, criterion=torch.nn.CrossEntropyLoss(), train_mb_size=8,
    ...     plugins=[plugin], evaluator=None,
    ... )
    >>> for experience in benchmark.streams["train"]:
    ...     _ = strategy.train(experience)
    >>> [(row.iteration, row.task) for row in plugin.rows]
    [(1, 1), (2, 1), (3, 2), (4, 2), (5, 2), (6, 2)]
    """

    supports_distributed = False

    def __init__(
        self,
        test_stream: Iterable[Any],
        every: int = 1,
        recorder: Recorder | None = None,
        gain: Gain | None = None,
        ema: Ema | None = None,
        batch_size: int = 500,
        in_memory: bool = True,
    ) -> None:
        super().__init__()
        self.gain, self.ema, self.in_memory = gain, ema, in_memory
        loaders = [_loader(experience.dataset, batch_size) for experience in test_stream]
        model = torch.nn.Module() if ema is None else ema.model
        self.evaluation = ContinualEvaluation(model, loaders, every, recorder, ema)

    @property
    def rows(self) -> list[Row]:
        """What was measured so far."""
        return self.evaluation.rows

    def before_training_exp(self, strategy: Any, **kwargs: Any) -> None:
        """Strategies may change the model from one experience to the next."""
        self.evaluation.model = strategy.model
        if self.in_memory:
            task, loaders = _task(strategy), self.evaluation.loaders
            with random_numbers_kept(strategy.model):
                self.evaluation.loaders = [*map(_tensors, loaders[:task]), *loaders[task:]]

    def after_forward(self, strategy: Any, **kwargs: Any) -> None:
        """Tells the gain about the batch."""
        if self.gain is not None:
            self.gain.observe(strategy.mb_output, strategy.mb_y)

    def after_update(self, strategy: Any, **kwargs: Any) -> None:
        """Updates the average."""
        if self.ema is not None:
            self.ema.update()

    def after_training_iteration(self, strategy: Any, **kwargs: Any) -> None:
        """Evaluates."""
        self.evaluation.after_step(_task(strategy), strategy.loss)


def _task(strategy: Any) -> int:
    return int(strategy.experience.current_experience) + 1


def _loader(dataset: Any, batch_size: int) -> Iterable[Any]:
    dataset = dataset.eval()
    return DataLoader(dataset, batch_size, collate_fn=getattr(dataset, "collate_fn", None))


def _tensors(loader: Any) -> Any:
    """All examples and their classes as two tensors."""
    if not isinstance(loader, DataLoader):
        return loader
    parts = [(x, y) for x, y, *_ in loader]
    return tuple(torch.cat(part) for part in zip(*parts))
