"""An exponential moving average of the weights: train one model, evaluate the average of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn

from .checks import below_one
from .gain import Gain


class Ema:
    """The exponential moving average of a model's weights.

    With t the updates before this one::

        θ̄ ← d_t θ̄ + (1 − d_t) θ         d_t = min(1 − 1/(t+1), d) with warm-up, else d

    Parameters are averaged, and running statistics such as BatchNorm's unless they are to be copied; integers are
    copied. A gain that the model is under is shared: ``W̄ = g·w̄`` at the gain of the moment.

    ===================  =======  ==========  =================================================
    parameter            default  range       purpose
    ===================  =======  ==========  =================================================
    ``model``            –        –           the model that is trained; not a compiled wrapper
    ``decay``            0.99     ``[0, 1)``  share d of the old average in the new one
    ``warm_up``          True     –           begin as the plain mean of the weights so far
    ``average_buffers``  True     –           average running statistics as well
    ===================  =======  ==========  =================================================

    >>> model = nn.Linear(2, 1, bias=False)
    >>> ema = Ema(model, decay=0.9)
    >>> for value in [1.0, 2.0, 3.0]:
    ...     _ = nn.init.constant_(model.weight, value)  # a step of training
    ...     ema.update()
    >>> ema.module.weight
    Parameter containing:
    tensor([[2., 2.]])
    >>> with ema.applied():
    ...     print(model(torch.ones(1, 2)).item())
    4.0

    Reference: Polyak and Juditsky, *Acceleration of stochastic approximation by averaging* (1992).
    """

    def __init__(
        self, model: nn.Module, decay: float = 0.99, *, warm_up: bool = True, average_buffers: bool = True
    ) -> None:
        below_one("decay", decay)
        if not any(parameter.requires_grad for parameter in model.parameters()):
            raise ValueError("no parameter of the model requires gradients; give the model that is trained")
        self.model = model
        self.max_decay, self.warm_up, self.average_buffers = decay, warm_up, average_buffers
        self.updates = 0
        """How often the average was updated."""
        # What is in the memo is not copied: the average reads the same gain.
        shared: dict[int, Any] = {id(gain): gain for gain in model.modules() if isinstance(gain, Gain)}
        self.module: nn.Module = copy.deepcopy(model, shared).eval().requires_grad_(False)
        """The averaged model, in evaluation mode."""

    @property
    def decay(self) -> float:
        """The share of the old average in the next update."""
        return min(1 - 1 / (self.updates + 1), self.max_decay) if self.warm_up else self.max_decay

    @torch.no_grad()
    def update(self) -> None:
        """Takes the weights of the model in, as they are now. Call it after every step."""
        decay = self.decay
        for new, average, averaged in self._pairs():
            if average.device != new.device:
                average.data = average.data.to(new.device)
            if averaged:
                average.mul_(decay).add_(new, alpha=1 - decay)
            else:
                average.copy_(new)
        self.updates += 1

    @contextmanager
    def applied(self) -> Iterator[nn.Module]:
        """The model itself with the averaged weights, as long as the block lasts."""
        with torch.no_grad():
            kept = [(tensor, tensor.clone()) for tensor, _, _ in self._pairs()]
            for tensor, average, _ in self._pairs():
                tensor.copy_(average)
        try:
            yield self.model
        finally:
            with torch.no_grad():
                for tensor, value in kept:
                    tensor.copy_(value)

    def state_dict(self) -> dict[str, Any]:
        """The average and the number of updates."""
        return {"module": self.module.state_dict(), "updates": self.updates}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores what :meth:`state_dict` gave. The gain in it is set for the model as well."""
        self.module.load_state_dict(state_dict["module"])
        self.updates = state_dict["updates"]

    def _pairs(self) -> Iterator[tuple[Tensor, Tensor, bool]]:
        """Each tensor of the model, its average, and whether it is averaged or copied."""
        for new, average in zip(self.model.parameters(), self.module.parameters(), strict=True):
            yield new, average, True
        for buffer, average_buffer in zip(self.model.buffers(), self.module.buffers(), strict=True):
            if buffer is not average_buffer:  # a shared gain is the same tensor
                yield buffer, average_buffer, self.average_buffers and buffer.is_floating_point()
