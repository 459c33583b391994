"""NGM-SGD and EvenKeel for PyTorch models.

    >>> import torch
    >>> from evenkeel.torch import NGMSGD, modulate
    >>> model = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.ReLU(), torch.nn.Linear(8, 3))
    >>> gain = modulate(model, "weight$")
    >>> optimizer = NGMSGD(model.parameters(), lr=0.01, gain=gain)
    >>> loss = torch.nn.functional.cross_entropy(model(torch.randn(16, 4)), torch.randint(3, (16,)))
    >>> loss.backward()
    >>> optimizer.step()
    >>> gain.value > 1
    True
"""

from .ema import Ema
from .entropy import entropy
from .evaluation import ContinualEvaluation, Row, continual_evaluation
from .even_keel import EvenKeel
from .gain import Gain, Observation
from .modulate import Modulation, modulate
from .ngm_sgd import NGMSGD

__all__ = [
    "NGMSGD",
    "ContinualEvaluation",
    "Ema",
    "EvenKeel",
    "Gain",
    "Modulation",
    "Observation",
    "Row",
    "continual_evaluation",
    "entropy",
    "modulate",
]
