"""EvenKeel: a bounded gain that follows the normalised entropy. It needs no tuning."""

from __future__ import annotations

import math
from typing import Any

import torch

from .checks import above_zero, at_least, below_one, shown
from .gain import Gain, Observation
from .under_gain import Params, UnderGain

SMALLEST_RMS = 1e-3
"""Root mean square below which a layer counts as this large: one of zeros can move."""


class EvenKeel(UnderGain):
    """SGD under a bounded gain that needs no tuning.

    One iteration, with H the mean output entropy, L the loss and C the number of classes seen so far (2 or more)::

        forward with W = g·w;  w ← w − min(α/g, τ‖w‖/‖∂L/∂w‖) ∂L/∂w
        h = min(1, H/L) H / ln C;  g ← g^γ g*(h)^(1−γ),  g*(h) = 1 + (G−1) h/(h+h₀)

    It has to know the targets: call ``gain.observe(logits, targets)`` before every step. Evaluate with
    ``Ema(model, decay=0.9)``, updated after every step: that is part of the method.

    The gain stays in ``[1, G]`` whatever the entropy does, and means the same for 2 classes and for 150. It is never told
    of a task switch.

    ===============  =======  ==========  ===================================================================
    parameter        default  range       purpose
    ===============  =======  ==========  ===================================================================
    ``lr``           0.1      ``>= 0``    learning rate α: a step is α/g times the gradient
    ``gain``         –        –           what :func:`modulate` returned
    ``gamma``        0.9      ``[0, 1)``  memory γ of the gain
    ``ceiling``      3        ``>= 1``    the gain G of a network that knows nothing
    ``half``         0.1      ``> 0``     normalised entropy h₀ at which the gain is half way between 1 and G
    ``calibration``  1        ``>= 0``    power p of the factor ``min(1, H/L)``
    ``trust``        0.025    ``> 0``     no step changes a layer by more than this share τ of its norm
    ===============  =======  ==========  ===================================================================

    The bound τ is for weights of two dimensions or more: biases and scales of normalisation may be small for good reasons. A layer
    whose root mean square is below 0.001 counts as that large, so that one of zeros can move.

    ``lr`` and ``trust`` may differ between parameter groups.

    >>> import torch
    >>> from evenkeel.torch import Ema, modulate
    >>> model = torch.nn.Linear(4, 3)
    >>> gain = modulate(model, "weight")
    >>> optimizer, ema = EvenKeel(model.parameters(), gain=gain), Ema(model, decay=0.9)
    >>> x, y = torch.zeros(6, 4), torch.arange(6) % 3
    >>> for _ in range(3):
    ...     logits = model(x)
    ...     gain.observe(logits, y)
    ...     optimizer.zero_grad()
    ...     torch.nn.functional.cross_entropy(logits, y).backward()
    ...     optimizer.step()
    ...     ema.update()
    >>> predictions = ema.module(x)
    >>> 1 < gain.value < 3
    True
    """

    def __init__(
        self,
        params: Params,
        lr: float = 0.1,
        *,
        gain: Gain,
        gamma: float = 0.9,
        ceiling: float = 3.0,
        half: float = 0.1,
        calibration: float = 1.0,
        trust: float = 0.025,
    ) -> None:
        at_least("calibration", 0, calibration)
        below_one("gamma", gamma)
        if not (ceiling >= 1 and math.isfinite(ceiling)):
            raise ValueError(f"ceiling must be >= 1, got {shown(ceiling)}")
        above_zero("half", half)
        self.gamma, self.ceiling, self.half, self.calibration = gamma, ceiling, half, calibration
        super().__init__(params, {"lr": lr, "trust": trust}, gain, start=1.0)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Adds a group with its own ``lr`` and ``trust``."""
        at_least("lr", 0, float(param_group.get("lr", self.defaults["lr"])))
        above_zero("trust", param_group.get("trust", self.defaults["trust"]))
        super().add_param_group(param_group)

    def target(self, h: float) -> float:
        """``g*(h) = 1 + (G − 1) h / (h + h₀)``: where the gain goes at the normalised entropy ``h``."""
        return 1 + (self.ceiling - 1) * h / (h + self.half)

    def _descend(self, g: float) -> None:
        for group in self.param_groups:
            rate = float(group["lr"]) / g
            for w in group["params"]:
                if w.grad is None:
                    continue
                if w.dim() < 2:
                    w.add_(w.grad, alpha=-rate)
                    continue
                # On the device: nothing waits for a number.
                size = torch.linalg.vector_norm(w).clamp(min=SMALLEST_RMS * math.sqrt(w.numel()))
                w.sub_(w.grad * (group["trust"] * size / torch.linalg.vector_norm(w.grad)).clamp(max=rate))

    def _next_gain(self, g: float, observed: Observation) -> float:
        entropy, loss = observed
        if loss is None or not self.gain.classes:
            raise RuntimeError(
                "EvenKeel needs the loss and the classes seen so far: call gain.observe(logits, targets) before "
                "every step()"
            )
        calibration = (entropy / loss) ** self.calibration if loss > entropy else 1.0
        h = calibration * entropy / math.log(max(2, len(self.gain.classes)))
        return float(g**self.gamma * self.target(h) ** (1 - self.gamma))
