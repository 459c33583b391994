"""The whole job of `evenkeel run split-mnist` in PyTorch, as its users would write it: four optimizers, some seeds, an evaluation after
every iteration.

    python3 bench/pytorch_job.py MNIST_FOLDER OUT_FOLDER [--optimizers ngm-sgd,sgd,msgd,adam] [--seeds N] [--iterations N] [--jobs N]

MNIST_FOLDER holds the raw IDX files (`evenkeel data path mnist`). Runs go on in as many processes as there are jobs, of one thread each, which
load the data once and take one run after the other. After every iteration accuracy and loss on the test set of task 1 are appended to a file
of the run; at the end of a task every task seen so far is evaluated. `bench/compare job` times it.
"""

import argparse
import csv
import itertools
import multiprocessing
import os
import pathlib

BATCH, TASKS = 128, 5

parser = argparse.ArgumentParser()
parser.add_argument("folder", type=pathlib.Path)
parser.add_argument("out", type=pathlib.Path)
parser.add_argument("--optimizers", default="ngm-sgd,msgd,adam,sgd")
parser.add_argument("--seeds", type=int, default=5)
parser.add_argument("--iterations", type=int, default=200)
parser.add_argument("--jobs", type=int, default=os.cpu_count())


def load(args):
    """Imports PyTorch and reads the data: once in each process."""
    global torch, F, train_x, train_y, tests, arguments
    import numpy as np
    import torch
    import torch.nn.functional as F

    torch.set_num_threads(1)
    arguments = args

    def read(name, offset):
        return np.frombuffer((args.folder / name).read_bytes(), np.uint8, offset=offset)

    def images(name):
        return torch.tensor((read(name, 16).reshape(-1, 784).astype(np.float32) / 255 - 0.1307) / 0.3081)

    def labels(name):
        return torch.tensor(read(name, 8).astype(np.int64))

    train_x, train_y = images("train-images-idx3-ubyte"), labels("train-labels-idx1-ubyte")
    test_x, test_y = images("t10k-images-idx3-ubyte"), labels("t10k-labels-idx1-ubyte")
    of_task = [test_y // 2 == task for task in range(TASKS)]
    tests = [(test_x[chosen], test_y[chosen]) for chosen in of_task]


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
        for w in weights[:-1]:
            x = torch.relu(x @ w * gain)
        return x @ weights[-1] * gain

    def evaluate(task):
        x, y = tests[task]
        with torch.no_grad():
            logits = forward(x)
            accuracy = 100 * (logits.argmax(1) == y).float().mean().item()
            return accuracy, F.cross_entropy(logits, y).item()

    with open(arguments.out / f"{name}-seed{seed}.csv", "w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["iteration", "task", "task1_acc", "task1_loss", "gain", "entropy", "train_loss", *(f"task{k + 1}_acc" for k in range(1, TASKS))])
        for task in range(TASKS):
            seen = torch.where(train_y < 2 * task + 2)[0]
            for i in range(arguments.iterations):
                batch = seen[torch.randint(0, len(seen), (BATCH,), generator=rng)]
                logits = forward(train_x[batch])
                loss = F.cross_entropy(logits, train_y[batch])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                log_pi = F.log_softmax(logits.detach(), 1)
                entropy = -(log_pi.exp() * log_pi).sum(1).mean().item()
                if name == "ngm-sgd":
                    gain = 0.9 * gain + 0.1 + 0.4 * entropy
                others = [evaluate(k)[0] for k in range(1, task + 1)] if i + 1 == arguments.iterations else []
                rows.writerow([task * arguments.iterations + i + 1, task + 1, *evaluate(0), gain, entropy, loss.item(), *others])
                file.flush()


if __name__ == "__main__":
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    runs = itertools.product(args.optimizers.split(","), range(args.seeds))
    with multiprocessing.get_context("spawn").Pool(args.jobs, load, (args,)) as pool:
        pool.starmap(run, runs, chunksize=1)
