"""Shannon entropy of ``softmax(logits)`` in nats."""

from __future__ import annotations

import torch
from torch import Tensor


def wide(values: Tensor) -> Tensor:
    """The values in float64, or in float32 on devices that have no float64.

    >>> wide(torch.ones(2, dtype=torch.bfloat16)).dtype
    torch.float64
    """
    return values.to(torch.float32 if values.device.type == "mps" else torch.float64)


def entropy(logits: Tensor) -> Tensor:
    """Entropy of each row of logits, ``H = −Σ π ln π``, over all classes of the output.

    A class that is masked by −∞ adds nothing. A row with NaN or +∞ gives NaN.

    >>> logits = torch.tensor([[0.0, 0.0], [50.0, -50.0], [0.0, -torch.inf]])
    >>> [round(h, 4) for h in entropy(logits).tolist()]
    [0.6931, 0.0, 0.0]
    """
    entropies: Tensor = torch.special.entr(torch.softmax(wide(logits.detach()), dim=-1)).sum(dim=-1)
    return entropies
