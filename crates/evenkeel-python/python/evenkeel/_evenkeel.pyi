"""What the compiled module has; ``evenkeel`` is the interface for people."""

from collections.abc import Callable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

VERSION: str

class Frame:
    @property
    def columns(self) -> list[str]: ...
    def column(self, name: str) -> list[Any]: ...
    def __len__(self) -> int: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class Recorder:
    def __init__(
        self,
        folder: str | PathLike[str],
        benchmark: str,
        optimizer: str,
        seed: int,
        tasks: int,
        iterations: int,
        resume: int | None,
    ) -> None: ...
    @property
    def folder(self) -> Path: ...
    @property
    def iteration(self) -> int: ...
    @property
    def closed(self) -> bool: ...
    def log(
        self,
        iteration: int,
        task: int,
        accuracies: Sequence[float | None],
        loss: float | None,
        gain: float | None,
        entropy: float | None,
        train_loss: float | None,
        seen: float | None,
    ) -> None: ...
    def finish(self, diverged: str | None) -> None: ...
    def leave(self) -> None: ...

class Analysis:
    def __init__(
        self,
        dirs: Sequence[str | PathLike[str]],
        groups: Sequence[tuple[str, Sequence[tuple[int, dict[str, Any]]], bool]],
        against: str | None,
    ) -> None: ...
    def summary(self) -> str: ...
    def text(self) -> str: ...
    def is_empty(self) -> bool: ...
    def problems(self) -> list[str]: ...
    def html(self, title: str) -> str: ...
    def figures(self, dark: bool) -> list[tuple[str, str, str]]: ...
    def tables(self) -> list[tuple[str, list[str], list[list[str]]]]: ...
    def curves(self) -> Frame: ...

def metrics(curves: Sequence[tuple[str, dict[str, Any]]]) -> list[dict[str, Any]]: ...
def main(arguments: Sequence[str], again: Sequence[str]) -> int: ...
def run(
    arguments: Sequence[str],
    again: Sequence[str],
    progress: Callable[[int, int, str, int, str, int, int, float | None], None],
) -> Path: ...
def train_mlp(
    weights: Sequence[NDArray[np.float32]],
    x: NDArray[np.float32],
    y: NDArray[np.int64],
    optimizer: str,
    parameters: Sequence[str],
) -> dict[str, Any]: ...
