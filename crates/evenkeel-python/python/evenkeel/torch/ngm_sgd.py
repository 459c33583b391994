"""NGM-SGD: SGD on the base weights of a gain-modulated model."""

from __future__ import annotations

from typing import Any

import torch

from .checks import at_least, below_one
from .gain import Gain, Observation
from .under_gain import Params, UnderGain


class NGMSGD(UnderGain):
    """Stochastic gradient descent under an entropy-driven gain.

    One iteration::

        forward with W = g·w;  w ← w − α ∂L/∂w;  g ← γ g + (1−γ) g0 + η H

    H is the mean output entropy of the batch in nats, observed by the hook of :func:`modulate` or told by
    :meth:`Gain.observe`. The gain is never reset, not at a task switch either.

    An ordinary optimizer otherwise: parameter groups, schedulers, ``GradScaler`` and closures work as usual. A step that a
    ``GradScaler`` skips leaves its outputs to the next one. In ``DistributedDataParallel``, which broadcasts buffers, the
    gain is that of process 0.

    ============  =======  ==========  ====================================================
    parameter     default  range       purpose
    ============  =======  ==========  ====================================================
    ``lr``        0.01     ``>= 0``    learning rate α
    ``gain``      –        –           what :func:`modulate` returned
    ``gamma``     0.9      ``[0, 1)``  how slowly the gain decays, γ
    ``eta``       0.4      ``>= 0``    how strongly entropy raises the gain, η
    ``g0``        1        ``>= 1``    tonic gain g₀, where a new gain starts
    ``momentum``  0        ``[0, 1)``  μ as in ``torch.optim.SGD``; for groups without gain
    ============  =======  ==========  ====================================================

    ``lr`` and ``momentum`` may differ between parameter groups: plain SGD for a modulated head, momentum for the backbone.

    >>> from torch import nn
    >>> from evenkeel.torch import modulate
    >>> model = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
    >>> gain = modulate(model, "^2")
    >>> groups = [{"params": model[2].parameters()}, {"params": model[0].parameters(), "momentum": 0.9}]
    >>> optimizer = NGMSGD(groups, lr=0.1, gain=gain, eta=0.2)
    >>> loss = nn.functional.cross_entropy(model(torch.ones(5, 4)), torch.tensor([0, 1, 2, 0, 1]))
    >>> loss.backward()
    >>> optimizer.step()
    >>> abs(gain.value - (1 + 0.2 * gain.entropy)) < 1e-12
    True

    Reference: Rodriguez-Garcia, Ghosh and Ramaswamy, *Dynamic gain neuromodulation attenuates the stability gap under
    joint training* (2026), algorithm 1.
    """

    def __init__(
        self,
        params: Params,
        lr: float = 0.01,
        *,
        gain: Gain,
        gamma: float = 0.9,
        eta: float = 0.4,
        g0: float = 1.0,
        momentum: float = 0.0,
    ) -> None:
        below_one("gamma", gamma)
        at_least("eta", 0, eta)
        at_least("g0", 1, g0)
        self.gamma, self.eta, self.g0 = gamma, eta, g0
        super().__init__(params, {"lr": lr, "momentum": momentum}, gain, start=g0)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group with its own ``lr`` and ``momentum``."""
        at_least("lr", 0, float(param_group.get("lr", self.defaults["lr"])))
        below_one("momentum", param_group.get("momentum", self.defaults["momentum"]))
        super().add_param_group(param_group)

    def _descend(self, g: float) -> None:
        for group in self.param_groups:
            for w in group["params"]:
                if w.grad is None:
                    continue
                d = w.grad
                if group["momentum"] > 0:
                    state = self.state[w]
                    if "momentum_buffer" in state:
                        d = state["momentum_buffer"].mul_(group["momentum"]).add_(d)
                    else:
                        d = state["momentum_buffer"] = d.clone()
                w.add_(d, alpha=-float(group["lr"]))

    def _next_gain(self, g: float, observed: Observation) -> float:
        return self.gamma * g + (1 - self.gamma) * self.g0 + self.eta * observed.entropy
