"""What the optimizers under a gain have in common."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, overload

import torch
from torch import Tensor
from torch.optim import Optimizer

from .gain import Gain, Observation

Params = Iterable[Tensor] | Iterable[dict[str, Any]] | Iterable[tuple[str, Tensor]]
"""Parameters or groups of them, as optimizers of PyTorch take them."""


class UnderGain(Optimizer):
    """A step on the weights, then one on the gain. Base of :class:`NGMSGD` and :class:`EvenKeel`."""

    def __init__(self, params: Params, defaults: dict[str, Any], gain: Gain, start: float) -> None:
        if not isinstance(gain, Gain):
            raise ValueError(f"gain must be the Gain that modulate(model, pattern) returned, got {gain!r}")
        self.gain = gain
        super().__init__(params, defaults)
        under_gain = {id(weight) for weight in gain.weights()}
        if not any(id(p) in under_gain for group in self.param_groups for p in group["params"]):
            raise ValueError("none of the parameters is under the gain; call modulate(model, pattern) on their model")
        # A gain that came with loaded weights belongs to them.
        if gain.value == 1.0:
            gain.set(start)

    def _descend(self, g: float) -> None:
        """Moves the weights."""
        raise NotImplementedError

    def _next_gain(self, g: float, observed: Observation) -> float:
        """The gain after the step."""
        raise NotImplementedError

    @overload
    def step(self, closure: None = None) -> None: ...

    @overload
    def step(self, closure: Callable[[], float]) -> float: ...

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:
        """One iteration: moves the weights, then the gain.

        Raises:
            RuntimeError: the outputs of the model were not observed since the last step. Nothing has moved then.
        """
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        g = self.gain.value
        next_gain = self._next_gain(g, self.gain.take())
        self._descend(g)
        self.gain.set(next_gain)
        return loss

    def state_dict(self) -> dict[str, Any]:
        """The state of the optimizer, with the gain and the classes seen so far under ``"gain"``."""
        state = super().state_dict()
        state["gain"] = {"value": self.gain.value, "classes": sorted(self.gain.classes)}
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Restores what :meth:`state_dict` gave. All weights under the gain see it at once."""
        if "gain" not in state_dict:
            raise ValueError("not a saved state of this optimizer: it has no gain")
        super().load_state_dict({name: part for name, part in state_dict.items() if name != "gain"})
        self.gain.set(state_dict["gain"]["value"])
        self.gain.classes = set(state_dict["gain"]["classes"])
