"""Ranges of parameters. The texts are those of the Rust library."""

from __future__ import annotations

import math


def below_one(name: str, value: float) -> None:
    """Refuses a value outside [0, 1).

    >>> below_one("gamma", 1.0)
    Traceback (most recent call last):
    ValueError: gamma must be in [0, 1), got 1
    """
    if not 0.0 <= value < 1.0:
        raise ValueError(f"{name} must be in [0, 1), got {shown(value)}")


def at_least(name: str, least: float, value: float) -> None:
    """Refuses a value below ``least``, infinity and NaN.

    >>> at_least("eta", 0, -0.5)
    Traceback (most recent call last):
    ValueError: eta must be a finite number >= 0, got -0.5
    """
    if not (value >= least and math.isfinite(value)):
        raise ValueError(f"{name} must be a finite number >= {shown(least)}, got {shown(value)}")


def above_zero(name: str, value: float) -> None:
    """Refuses zero, what is below it, infinity and NaN.

    >>> above_zero("half", 0.0)
    Traceback (most recent call last):
    ValueError: half must be > 0, got 0
    """
    if not (value > 0 and math.isfinite(value)):
        raise ValueError(f"{name} must be > 0, got {shown(value)}")


def shown(value: float) -> str:
    """A number as messages have it: 1, not 1.0.

    >>> shown(1.0), shown(0.25)
    ('1', '0.25')
    """
    return repr(value).removesuffix(".0")
