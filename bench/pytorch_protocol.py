"""Split MNIST in PyTorch, sharing no code with evenkeel: a check that its numbers are the protocol's.

    python3 bench/pytorch_protocol.py MNIST_FOLDER [--optimizers ngm-sgd,sgd] [--seeds N]

MNIST_FOLDER holds the raw IDX files (`evenkeel data path mnist`). Prints avg-ACC, avg-min-ACC and avg-SG with the minimum of each seed's own
curve: mean and sample standard deviation over seeds. To save time task 1 is evaluated after each of the first 60 iterations of a task, where
the minimum lies, and at its end.
"""

import argparse
import pathlib
import statistics

import numpy as np
import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("--optimizers", default="ngm-sgd,sgd")
parser.add_argument("--seeds", type=int, default=12)
parser.add_argument("--threads", type=int, default=1)
args = parser.parse_args()
torch.set_num_threads(args.threads)


def read(name, offset):
    return np.frombuffer((args.folder / name).read_bytes(), np.uint8, offset=offset)


def images(name):
    return torch.tensor((read(name, 16).reshape(-1, 784).astype(np.float32) / 255 - 0.1307) / 0.3081)


train_x, train_y = images("train-images-idx3-ubyte"), torch.tensor(read("train-labels-idx1-ubyte", 8).astype(np.int64))
test_x, test_y = images("t10k-images-idx3-ubyte"), torch.tensor(read("t10k-labels-idx1-ubyte", 8).astype(np.int64))
test_x, test_y = test_x[test_y < 2], test_y[test_y < 2]


def run(name, seed):
    rng = torch.Generator().manual_seed(seed)
    shapes = [(784, 400, 0.01), (400, 400, 0.01), (400, 10, 0.05)]
    weights = [(torch.randn(a, b, generator=rng) * std).requires_grad_() for a, b, std in shapes]
    optimizer = {
        "ngm-sgd": lambda: torch.optim.SGD(weights, lr=0.01),
        "sgd": lambda: torch.optim.SGD(weights, lr=0.1),
        "msgd": lambda: torch.optim.SGD(weights, lr=0.01, momentum=0.9),
        "adam": lambda: torch.optim.Adam(weights, lr=0.001),
    }[name]()
    gain = 1.0

    def forward(x):
        x = torch.relu(x @ (gain * weights[0]))
        x = torch.relu(x @ (gain * weights[1]))
        return x @ (gain * weights[2])

    ends, minima = [], []
    for task in range(5):
        seen = torch.where(train_y < 2 * task + 2)[0]
        lowest = 100.0
        for i in range(200):
            batch = seen[torch.randint(0, len(seen), (128,), generator=rng)]
            logits = forward(train_x[batch])
            loss = F.cross_entropy(logits, train_y[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            log_pi = F.log_softmax(logits.detach(), 1)
            if name == "ngm-sgd":
                gain = 0.9 * gain + 0.1 + 0.4 * -(log_pi.exp() * log_pi).sum(1).mean().item()
            if (task > 0 and i < 60) or i == 199:
                with torch.no_grad():
                    accuracy = 100 * (forward(test_x).argmax(1) == test_y).float().mean().item()
                lowest = min(lowest, accuracy)
        ends.append(accuracy)
        minima.append(lowest)
    minima = minima[1:]
    gaps = [(end - low) / end for end, low in zip(ends, minima)]
    return statistics.mean(ends), statistics.mean(minima), statistics.mean(gaps)


for name in args.optimizers.split(","):
    results = list(zip(*[run(name, seed) for seed in range(args.seeds)]))
    cells = [f"{label} {statistics.mean(v):.3f} (sd {statistics.stdev(v):.3f})" for label, v in zip(["avg-ACC", "avg-min-ACC", "avg-SG"], results)]
    print(f"{name}, {args.seeds} seeds: " + ", ".join(cells), flush=True)
