"""The stability gap on Split Digits in Lightning: five tasks of two digits, all data seen so far is trained on.

    pip install "evenkeel[lightning]" scikit-learn
    python lightning_split_digits.py --optimizers even-keel ngm-sgd sgd

An epoch is a task. `--record runs` writes what `evenkeel report runs` takes.
"""

from __future__ import annotations

import argparse
import logging
import warnings
from pathlib import Path

import lightning.pytorch as pl
import torch
from sklearn.datasets import load_digits
from torch import Tensor, nn
from torch.nn.functional import cross_entropy
from torch.utils.data import DataLoader, RandomSampler, TensorDataset

from evenkeel.lightning import ContinualEvaluationCallback
from evenkeel.torch import NGMSGD, Ema, EvenKeel, modulate

TASKS = 5


class Digits(pl.LightningDataModule):
    """Task k has the digits 2k − 2 and 2k − 1; training has those of all tasks so far."""

    def __init__(self, iterations: int) -> None:
        super().__init__()
        self.iterations = iterations
        x, y = load_digits(return_X_y=True)
        x, y = torch.tensor(x, dtype=torch.float32) / 16, torch.tensor(y)
        # Every fifth image is for testing.
        tested = torch.arange(len(y)) % 5 == 0
        self.x, self.y = x[~tested], y[~tested]
        self.tests = [(x[chosen], y[chosen]) for chosen in (tested & (y // 2 == task) for task in range(TASKS))]

    def train_dataloader(self) -> DataLoader:
        seen = self.y // 2 <= self.trainer.current_epoch
        data = TensorDataset(self.x[seen], self.y[seen])
        size = 32
        sampler = RandomSampler(data, replacement=True, num_samples=size * self.iterations)
        return DataLoader(data, size, sampler=sampler)


class Classifier(pl.LightningModule):
    """A small network, all of whose weights are under the gain if the optimizer has one."""

    def __init__(self, name: str) -> None:
        super().__init__()
        self.name = name
        self.layers = nn.Sequential(
            nn.Linear(64, 100, bias=False), nn.ReLU(), nn.Linear(100, 100, bias=False), nn.ReLU(), nn.Linear(100, 10, bias=False)
        )
        self.gain = modulate(self.layers, "weight") if name in ("even-keel", "ngm-sgd") else None

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x)

    def training_step(self, batch: tuple[Tensor, Tensor], _: int) -> Tensor:
        x, y = batch
        logits = self(x)
        if self.gain is not None:
            self.gain.observe(logits, y)
        return cross_entropy(logits, y)

    def configure_optimizers(self) -> torch.optim.Optimizer:
        if self.name == "even-keel":
            return EvenKeel(self.parameters(), gain=self.gain)
        if self.name == "ngm-sgd":
            return NGMSGD(self.parameters(), lr=0.01, gain=self.gain)
        if self.name == "sgd":
            return torch.optim.SGD(self.parameters(), lr=0.1)
        return torch.optim.SGD(self.parameters(), lr=0.01, momentum=0.9)


def train(name: str, seed: int, iterations: int, recorder=None) -> ContinualEvaluationCallback:
    pl.seed_everything(seed, verbose=False)
    data, module = Digits(iterations), Classifier(name)
    ema = Ema(module.layers, decay=0.9) if name == "even-keel" else None
    callback = ContinualEvaluationCallback(
        data.tests, task=lambda trainer: trainer.current_epoch + 1, recorder=recorder, ema=ema
    )
    trainer = pl.Trainer(
        max_epochs=TASKS,
        reload_dataloaders_every_n_epochs=1,
        callbacks=[callback],
        accelerator="cpu",
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
    )
    trainer.fit(module, data)
    return callback


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ["even-keel", "ngm-sgd", "sgd", "msgd"]
    parser.add_argument("--optimizers", nargs="+", choices=names, default=["even-keel", "ngm-sgd", "msgd"])
    parser.add_argument("--iterations", type=int, default=100, help="iterations of each task (default: 100)")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each optimizer (default: 1)")
    parser.add_argument("--record", type=Path, help="folder for the curves")
    options = parser.parse_args()
    logging.getLogger("lightning.pytorch").setLevel(logging.ERROR)
    warnings.filterwarnings("ignore")

    print("optimizer  seed  task 1 before and lowest after each switch            all seen at the end")
    for name in options.optimizers:
        for seed in range(options.seeds):
            if options.record:
                from evenkeel import Recorder

                with Recorder(
                    options.record, name, seed, TASKS, benchmark="lightning-split-digits", iterations=options.iterations
                ) as recorder:
                    rows = train(name, seed, options.iterations, recorder).rows
            else:
                rows = train(name, seed, options.iterations).rows
            first = [row.accuracies[0] for row in rows]
            switches = range(options.iterations, TASKS * options.iterations, options.iterations)
            dips = [f"{first[at - 1]:5.1f} {min(first[at : at + options.iterations]):5.1f}" for at in switches]
            print(f"{name:9}  {seed:4}  {'  '.join(dips)}  {rows[-1].seen:5.1f} %", flush=True)


if __name__ == "__main__":
    main()
