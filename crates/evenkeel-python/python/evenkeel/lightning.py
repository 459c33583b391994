"""Lightning: a callback that measures the stability gap of any module."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import lightning.pytorch as pl

from evenkeel.torch import ContinualEvaluation, Ema
from evenkeel.torch.evaluation import Recorder, Row


class ContinualEvaluationCallback(pl.Callback):
    """Evaluates the test sets of all tasks seen so far after every step of the optimizer.

    The module's ``forward`` gives the logits. With :class:`evenkeel.torch.EvenKeel`, ``training_step`` calls
    ``gain.observe(logits, targets)``; with :class:`evenkeel.torch.NGMSGD` there is nothing to do. Checkpoints keep the
    iteration and the average.

    ============  =======  ============================================================================
    parameter     default  purpose
    ============  =======  ============================================================================
    ``loaders``   –        one test set per task, in the order of training: a loader, or tensors (x, y)
    ``task``      1        the task that is trained, from 1; a number to set before each ``fit``, or a
                           function of the trainer
    ``every``     1        iterations between two evaluations
    ``recorder``  None     gets every row, such as an :class:`evenkeel.Recorder`
    ``ema``       None     the average of the module; updated after each step, and evaluated
    ============  =======  ============================================================================

    >>> import torch
    >>> class Module(pl.LightningModule):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.layer = torch.nn.Linear(4, 2)
    ...     def forward(self, x):
    ...         return self.layer(x)
    ...     def training_step(self, batch, _):
    ...         return torch.nn.functional.cross_entropy(self(batch[0]), batch[1])
    ...     def configure_optimizers(self):
    ...         return torch.optim.SGD(self.parameters(), 0.1)
    >>> data = torch.utils.data.TensorDataset(torch.randn(8, 4), torch.tensor([0, 1] * 4))
    >>> tests = [data.tensors, data.tensors]
    >>> callback = ContinualEvaluationCallback(tests, task=lambda trainer: trainer.current_epoch + 1)
    >>> trainer = pl.Trainer(
    ...     max_epochs=2, callbacks=[callback], accelerator="cpu", logger=False, enable_checkpointing=False,
    ...     enable_progress_bar=False, enable_model_summary=False,
    ... )
    >>> trainer.fit(Module(), torch.utils.data.DataLoader(data, 4))
    >>> [(row.iteration, row.task) for row in callback.rows]
    [(1, 1), (2, 1), (3, 2), (4, 2)]
    """

    def __init__(
        self,
        loaders: Sequence[Iterable[Any]],
        task: int | Callable[[pl.Trainer], int] = 1,
        every: int = 1,
        recorder: Recorder | None = None,
        ema: Ema | None = None,
    ) -> None:
        super().__init__()
        self.task, self.ema = task, ema
        # The module comes with the trainer.
        model = pl.LightningModule() if ema is None else ema.model
        self.evaluation = ContinualEvaluation(model, loaders, every, recorder, ema)
        self._steps = 0

    @property
    def rows(self) -> list[Row]:
        """What was measured so far."""
        return self.evaluation.rows

    def on_train_start(self, trainer: pl.Trainer, pl_module: pl.LightningModule) -> None:
        """Takes the module that is trained."""
        self.evaluation.model = pl_module
        self._steps = trainer.global_step

    def on_train_batch_end(
        self, trainer: pl.Trainer, pl_module: pl.LightningModule, outputs: Any, batch: Any, batch_idx: int
    ) -> None:
        """Evaluates, if the optimizer has made a step."""
        if trainer.global_step == self._steps:
            return  # gradients are being accumulated
        self._steps = trainer.global_step
        if self.ema is not None:
            self.ema.update()
        loss = outputs.get("loss") if isinstance(outputs, dict) else outputs
        if loss is not None:
            loss = loss * trainer.accumulate_grad_batches  # Lightning has divided it
        self.evaluation.after_step(self.task(trainer) if callable(self.task) else self.task, loss)

    def state_dict(self) -> dict[str, Any]:
        """The iteration, the tasks seen so far and the average."""
        state: dict[str, Any] = {
            "iteration": self.evaluation.iteration,
            "tasks_seen": self.evaluation.tasks_seen,
        }
        if self.ema is not None:
            state["ema"] = self.ema.state_dict()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores what :meth:`state_dict` gave."""
        self.evaluation.iteration = state_dict["iteration"]
        self.evaluation.tasks_seen = state_dict["tasks_seen"]
        if self.ema is not None:
            self.ema.load_state_dict(state_dict["ema"])
