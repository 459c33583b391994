"""A gain on the weights of any PyTorch model, without changing the model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, cast

from torch import Tensor, nn
from torch.nn.utils import parametrize

from .gain import Gain


class Modulation(nn.Module):
    """``W = g·w``, the parametrization of one weight.

    >>> import torch
    >>> Modulation(Gain(2.0))(torch.ones(2))
    tensor([2., 2.])
    """

    def __init__(self, gain: Gain) -> None:
        super().__init__()
        self.gain = gain

    def forward(self, weight: Tensor) -> Tensor:
        return weight * self.gain.g.to(weight)


def modulate(model: nn.Module, pattern: str, gain: Gain | None = None) -> Gain:
    """Puts every weight whose path in the model matches ``pattern`` under one gain: ``W = g·w``.

    The layers compute with ``W``. The optimizer and ``state_dict()`` keep the base weights ``w``, whose gradient is
    ``g · ∂L/∂W``. Biases and normalisation scales (rank 1) are left alone.

    Call it on the model whose output are the logits: a hook on it observes their entropy in training mode. Load weights
    of a model that had no gain before. ``torch.nn.utils.parametrize.remove_parametrizations`` works the gain into the
    weights.

    Args:
        model: any module. It is changed in place.
        pattern: a regular expression, searched for in paths such as ``fc1.weight``.
        gain: a gain to share with weights that are under it already; a new one if not given.

    Raises:
        ValueError: nothing matches, nothing that matches is trained, or a weight is under a gain already.

    >>> import torch
    >>> model = nn.Sequential(nn.Linear(3, 2, bias=False))
    >>> x = torch.ones(1, 3)
    >>> before = model(x)
    >>> gain = modulate(model, "weight$")
    >>> gain.set(2.0)
    >>> torch.equal(model(x), 2 * before)
    True
    >>> modulate(model, "bias")
    Traceback (most recent call last):
    ValueError: no weight of rank 2 or more has a path that matches 'bias'
    """
    try:
        matches = re.compile(pattern).search
    except re.error as error:
        raise ValueError(f"'{pattern}' is not a regular expression: {error}") from None
    found = [weight for weight in _weights(model) if matches(weight[0])]
    if not found:
        raise ValueError(f"no weight of rank 2 or more has a path that matches '{pattern}'")
    for path, module, name in found:
        if _under_a_gain(module, name):
            raise ValueError(f"'{path}' is already under a gain")
    if not any(getattr(module, name).requires_grad for _, module, name in found):
        raise ValueError(f"no weight whose path matches '{pattern}' requires gradients")

    gain = Gain() if gain is None else gain
    gain.to(getattr(found[0][1], found[0][2]).device)
    for _, module, name in found:
        parametrize.register_parametrization(module, name, Modulation(gain))
        gain._parametrizations.append(_parametrizations(module)[name])
    if not any(getattr(hook, "__self__", None) is gain for hook in model._forward_hooks.values()):
        model.register_forward_hook(gain._observe_output)
    return gain


def _weights(model: nn.Module) -> Iterator[tuple[str, nn.Module, str]]:
    """Path, module and name of every weight of rank 2 or more, those with a parametrization included."""
    for prefix, module in model.named_modules():
        if "parametrizations" in prefix.split("."):
            continue
        names = [name for name, parameter in module._parameters.items() if parameter is not None]
        if parametrize.is_parametrized(module):
            names += list(_parametrizations(module))
        for name in names:
            if getattr(module, name).dim() >= 2:
                yield f"{prefix}.{name}" if prefix else name, module, name


def _under_a_gain(module: nn.Module, name: str) -> bool:
    if not parametrize.is_parametrized(module, name):
        return False
    return any(isinstance(part, Modulation) for part in _parametrizations(module)[name])


def _parametrizations(module: nn.Module) -> dict[str, parametrize.ParametrizationList]:
    return dict(cast(Any, module.parametrizations).items())
