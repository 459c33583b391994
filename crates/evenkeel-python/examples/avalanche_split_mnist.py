"""The stability gap on Split MNIST in Avalanche: five tasks of two digits, all data seen so far is trained on.

    pip install "evenkeel[avalanche]"
    python avalanche_split_mnist.py --data mnist --optimizers even-keel ngm-sgd sgd

`--data` is a folder with the four files of MNIST (`train-images-idx3-ubyte` and so on, also with `.gz`). Without it, made-up
data of the same shape shows that everything runs. `--record runs` writes what `evenkeel report runs` takes.
"""

from __future__ import annotations

import argparse
import gzip
import warnings
from pathlib import Path

import numpy as np
import torch
from avalanche.benchmarks import benchmark_from_datasets
from avalanche.benchmarks.utils import DataAttribute, make_avalanche_dataset
from avalanche.core import SupervisedPlugin
from avalanche.training.supervised import Cumulative
from torch import nn
from torch.utils.data import TensorDataset

from evenkeel.avalanche import ContinualEvaluationPlugin
from evenkeel.torch import NGMSGD, Ema, EvenKeel, modulate

TASKS = 5


def read_idx(folder: Path, name: str) -> np.ndarray:
    """One file of MNIST."""
    path = folder / name
    data = path.read_bytes() if path.exists() else gzip.decompress((folder / f"{name}.gz").read_bytes())
    dimensions = data[3]
    shape = np.frombuffer(data, ">u4", dimensions, offset=4)
    return np.frombuffer(data, np.uint8, offset=4 + 4 * dimensions).reshape(shape)


def mnist(folder: Path) -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Images and digits of both streams."""
    streams = {}
    for stream, name in [("train", "train"), ("test", "t10k")]:
        x = read_idx(folder, f"{name}-images-idx3-ubyte").reshape(-1, 784) / np.float32(255)
        y = read_idx(folder, f"{name}-labels-idx1-ubyte").astype(np.int64)
        streams[stream] = torch.from_numpy((x - np.float32(0.1307)) / np.float32(0.3081)), torch.from_numpy(y)
    return streams


def made_up() -> dict[str, tuple[torch.Tensor, torch.Tensor]]:
    """Noisy copies of ten patterns, in the shape of MNIST."""
    generator = torch.Generator().manual_seed(0)
    patterns = torch.randn(10, 784, generator=generator)
    streams = {}
    for stream, size in [("train", 4000), ("test", 1000)]:
        y = torch.arange(size) % 10
        streams[stream] = patterns[y] + 4 * torch.randn(size, 784, generator=generator), y
    return streams


def experiences(x: torch.Tensor, y: torch.Tensor, at_most: int) -> list:
    """Task k has the digits 2k and 2k + 1."""
    datasets = []
    for task in range(TASKS):
        of_task = (y // 2 == task).nonzero().squeeze(1)[:at_most]
        labels = y[of_task].tolist()
        one_head = DataAttribute([0] * len(labels), "targets_task_labels", use_in_getitem=True)
        data = TensorDataset(x[of_task], y[of_task])
        datasets.append(make_avalanche_dataset(data, data_attributes=[DataAttribute(labels, "targets"), one_head]))
    return datasets


def network() -> nn.Sequential:
    """The paper's network: no biases, small weights."""
    sizes = [784, 400, 400, 10]
    layers: list[nn.Module] = []
    for inputs, outputs in zip(sizes, sizes[1:]):
        layer = nn.Linear(inputs, outputs, bias=False)
        nn.init.normal_(layer.weight, std=0.05 if outputs == 10 else 0.01)
        layers += [layer, nn.ReLU()]
    return nn.Sequential(*layers[:-1])


class Iterations(SupervisedPlugin):
    """Ends an experience after so many iterations."""

    def __init__(self, iterations: int) -> None:
        super().__init__()
        self.iterations, self.left = iterations, 0

    def before_training_exp(self, strategy, **kwargs) -> None:
        self.left = self.iterations

    def after_training_iteration(self, strategy, **kwargs) -> None:
        self.left -= 1
        if self.left == 0:
            strategy.stop_training()


def train(benchmark, name: str, seed: int, iterations: int, recorder=None) -> ContinualEvaluationPlugin:
    torch.manual_seed(seed)
    model = network()
    gain = ema = None
    if name == "sgd":
        optimizer: torch.optim.Optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    elif name == "msgd":
        optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    elif name == "ngm-sgd":
        gain = modulate(model, "weight")
        optimizer = NGMSGD(model.parameters(), lr=0.01, gain=gain)
    else:
        gain = modulate(model, "weight")
        optimizer, ema = EvenKeel(model.parameters(), gain=gain), Ema(model, decay=0.9)
    plugin = ContinualEvaluationPlugin(benchmark.streams["test"], recorder=recorder, gain=gain, ema=ema)
    strategy = Cumulative(
        model=model,
        optimizer=optimizer,
        criterion=nn.CrossEntropyLoss(),
        train_mb_size=128,
        train_epochs=iterations,
        plugins=[plugin, Iterations(iterations)],
        evaluator=None,
    )
    for experience in benchmark.streams["train"]:
        strategy.train(experience)
    return plugin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="folder with the files of MNIST; made-up data without it")
    names = ["even-keel", "ngm-sgd", "sgd", "msgd"]
    parser.add_argument("--optimizers", nargs="+", choices=names, default=["even-keel", "ngm-sgd", "msgd"])
    parser.add_argument("--iterations", type=int, default=30, help="iterations of each task (default: 30)")
    parser.add_argument("--seeds", type=int, default=1, help="runs of each optimizer (default: 1)")
    parser.add_argument("--test", type=int, default=200, help="test images of each task (default: 200)")
    parser.add_argument("--record", type=Path, help="folder for the curves")
    options = parser.parse_args()
    warnings.filterwarnings("ignore", message="No loggers specified")

    data = mnist(options.data) if options.data else made_up()
    benchmark = benchmark_from_datasets(
        train=experiences(*data["train"], at_most=20_000), test=experiences(*data["test"], at_most=options.test)
    )
    print("optimizer  seed  task 1 before and lowest after each switch            all seen at the end")
    for name in options.optimizers:
        for seed in range(options.seeds):
            if options.record:
                from evenkeel import Recorder

                with Recorder(
                    options.record, name, seed, TASKS, benchmark="avalanche-split-mnist", iterations=options.iterations
                ) as recorder:
                    rows = train(benchmark, name, seed, options.iterations, recorder).rows
            else:
                rows = train(benchmark, name, seed, options.iterations).rows
            first = [row.accuracies[0] for row in rows]
            switches = range(options.iterations, TASKS * options.iterations, options.iterations)
            dips = [f"{first[at - 1]:5.1f} {min(first[at : at + options.iterations]):5.1f}" for at in switches]
            print(f"{name:9}  {seed:4}  {'  '.join(dips)}  {rows[-1].seen:5.1f} %", flush=True)


if __name__ == "__main__":
    main()
