"""The gain: one number, written by the optimizer, read by the layers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import nullcontext
from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.nn.utils.parametrize import ParametrizationList

from .entropy import entropy, wide


class Observation(NamedTuple):
    """What a step was told about its batch.

    >>> Observation(entropy=0.69, loss=0.71).entropy
    0.69
    """

    entropy: float
    """Mean output entropy H in nats."""
    loss: float | None
    """Mean loss L, if it is known."""


# Rows and columns of what is counted between two steps.
_BY_HOOK, _BY_CALL = 0, 1
_COLUMNS = 4  # sum of entropies, examples, sum of losses, examples with a loss


class Gain(nn.Module):
    """One gain ``g`` that all weights under it share: ``W = g·w``.

    :func:`modulate` makes one. It is a module with one buffer, so ``state_dict()`` of the model holds it, and ``to()`` and
    ``deepcopy`` of the model keep it shared. It stays float64 when the model changes its type.

    It also counts what the optimizer needs to know about the batch: the entropy of the model's outputs, by a hook in
    training mode, or by :meth:`observe`.

    >>> gain = Gain()
    >>> gain.value
    1.0
    >>> gain.set(1.5)
    >>> gain.g
    tensor(1.5000, dtype=torch.float64)
    """

    g: Tensor
    _totals: Tensor

    def __init__(self, value: float = 1.0) -> None:
        super().__init__()
        self.register_buffer("g", torch.tensor(value, dtype=torch.float64))
        self.register_buffer("_totals", torch.zeros(2, _COLUMNS, dtype=torch.float64), persistent=False)
        self.classes: set[int] = set()
        """The classes seen so far, by the targets of :meth:`observe`."""
        self.entropy: float | None = None
        """The entropy H of the last step."""
        self._parametrizations: list[ParametrizationList] = []
        self._lock = threading.Lock()

    @property
    def value(self) -> float:
        """The gain now."""
        return float(self.g)

    def set(self, value: float) -> None:
        """Sets the gain for all weights under it."""
        with torch.no_grad():
            self.g.fill_(value)

    def weights(self) -> list[nn.Parameter]:
        """The base weights ``w`` that are under this gain."""
        return [w for of_one in self._parametrizations for w in of_one.parameters(recurse=False)]

    @torch.no_grad()
    def observe(self, logits: Tensor, targets: Tensor | None = None, loss: Tensor | float | None = None) -> None:
        """Tells the gain what the model said about a batch, before the step of the optimizer.

        Needed by EvenKeel, and for models whose output is not a tensor of logits. Calls before one step are taken
        together, weighted by their examples, so accumulated gradients get the right mean. They replace what the
        hook saw.

        Args:
            logits: ``[examples, classes]``; flatten sequences and pixels first.
            targets: the class of each example. Gives the loss (cross-entropy) and the classes seen so far. Examples
                with a negative class are left out.
            loss: the mean loss of these examples, if it is not the cross-entropy.

        >>> gain = Gain()
        >>> gain.observe(torch.zeros(8, 4), targets=torch.arange(8) % 4)
        >>> h, loss = gain.take()
        >>> round(h, 4), round(loss, 4), gain.classes
        (1.3863, 1.3863, {0, 1, 2, 3})
        """
        if not _are_logits(logits):
            raise ValueError(
                "logits must be a float tensor [examples, classes] of 2 classes or more, got "
                f"{logits.dtype} {list(logits.shape)}"
            )
        losses = None
        if targets is not None:
            if targets.shape != logits.shape[:1] or targets.is_floating_point():
                raise ValueError(
                    f"targets must be {logits.shape[0]} class numbers, got {targets.dtype} {list(targets.shape)}"
                )
            known = targets >= 0
            logits, targets = logits[known], targets[known].long()
            self.classes.update(torch.unique(targets).tolist())
            losses = cross_entropy(wide(logits), targets, reduction="none")
        if loss is not None:
            losses = torch.full(logits.shape[:1], float(loss), device=logits.device)
        self._count(_BY_CALL, logits, losses)

    def take(self) -> Observation:
        """The means over all examples since the last call. Optimizers call it once a step."""
        with self._lock:
            by_hook, by_call = self._totals.tolist()
            self._totals.zero_()
        entropies, examples, losses, with_loss = by_call if by_call[1] > 0 else by_hook
        if examples == 0:
            raise RuntimeError(
                "no finite output was observed since the last step: before step(), run the model in training mode "
                "with gradients enabled, or, if its output is not a tensor of logits [examples, classes], call "
                "gain.observe(logits)"
            )
        self.entropy = entropies / examples
        return Observation(self.entropy, losses / with_loss if with_loss else None)

    def _observe_output(self, module: nn.Module, inputs: Any, output: Any) -> None:
        """The forward hook of the model."""
        if module.training and torch.is_grad_enabled() and isinstance(output, Tensor) and _are_logits(output):
            with torch.no_grad():
                self._count(_BY_HOOK, output, None)

    def _count(self, row: int, logits: Tensor, losses: Tensor | None) -> None:
        h = entropy(logits)
        # A batch that overflows, as a gradient scaler provokes at first, must not spoil the gain for ever.
        finite = h.isfinite() if losses is None else h.isfinite() & losses.isfinite()
        count = finite.sum()
        sums = [torch.where(finite, h, 0).sum(), count]
        sums += [count * 0, count * 0] if losses is None else [torch.where(finite, losses, 0).sum(), count]
        added = torch.stack([part.to(h.dtype) for part in sums]).to(self._totals)
        # Replicas of DataParallel run in threads. A compiled graph knows no locks, and no replicas.
        with nullcontext() if torch.compiler.is_compiling() else self._lock:
            self._totals[row] += added

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Gain:
        for name, buffer in self._buffers.items():
            assert buffer is not None
            device = fn(torch.empty(0, device=buffer.device)).device
            # A number on the CPU works with tensors of any device, so where there is no float64 it stays there.
            if device.type != "mps":
                moved = fn(buffer)
                self._buffers[name] = moved if moved.dtype == buffer.dtype else buffer.to(moved.device)
        return self

    def __getstate__(self) -> dict[str, Any]:
        # Locks cannot be copied.
        return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def extra_repr(self) -> str:
        return f"g={self.value:.6g}"


def _are_logits(output: Tensor) -> bool:
    return output.dim() == 2 and output.shape[1] >= 2 and output.is_floating_point()
