"""The MLP workload of `evenkeel run split-mnist` in PyTorch eager, as its users would write it.

    python3 bench/pytorch_peer.py [--threads N] [--iterations N] [--optimizer NAME]

One iteration: a training step on 128 images and an evaluation of accuracy and loss on 2,115 images, 784-400-400-10.
Prints the median milliseconds of an iteration and of its two parts. Inputs are random with MNIST's sparsity: dense
products do not care.
"""

import argparse
import time

import torch
import torch.nn.functional as F

parser = argparse.ArgumentParser()
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--iterations", type=int, default=200)
parser.add_argument("--optimizer", choices=["sgd", "msgd", "adam", "ngm-sgd"], default="ngm-sgd")
args = parser.parse_args()
torch.set_num_threads(args.threads)
torch.manual_seed(0)

sizes = [784, 400, 400, 10]
weights = [torch.nn.Parameter(torch.randn(a, b) * s) for a, b, s in zip(sizes, sizes[1:], [0.01, 0.01, 0.05])]
optimizer = {
    "sgd": lambda: torch.optim.SGD(weights, lr=0.1),
    "ngm-sgd": lambda: torch.optim.SGD(weights, lr=0.01),
    "msgd": lambda: torch.optim.SGD(weights, lr=0.01, momentum=0.9),
    "adam": lambda: torch.optim.Adam(weights, lr=0.001),
}[args.optimizer]()
images = (torch.rand(12665, 784) * (torch.rand(12665, 784) < 0.19) - 0.1307) / 0.3081
labels = torch.randint(0, 2, (12665,))
test_x, test_y = images[:2115], labels[:2115]
gain, scaled = 1.0, args.optimizer == "ngm-sgd"


def forward(x):
    for w in weights[:-1]:
        x = torch.relu(x @ w * gain if scaled else x @ w)
    return x @ weights[-1] * gain if scaled else x @ weights[-1]


train_ms, eval_ms = [], []
for _ in range(args.iterations):
    start = time.perf_counter()
    chosen = torch.randint(0, len(images), (128,))
    x, y = images[chosen], labels[chosen]
    logits = forward(x)
    loss = F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    loss.item()
    pi = F.log_softmax(logits.detach(), 1)
    entropy = -(pi.exp() * pi).sum(1).mean().item()
    if scaled:
        gain = 0.9 * gain + 0.1 + 0.4 * entropy
    middle = time.perf_counter()
    with torch.no_grad():
        logits = forward(test_x)
        accuracy = (logits.argmax(1) == test_y).float().mean().item()
        F.cross_entropy(logits, test_y).item()
    end = time.perf_counter()
    train_ms.append(1e3 * (middle - start))
    eval_ms.append(1e3 * (end - middle))

median = lambda values: sorted(values)[len(values) // 2]
total = [a + b for a, b in zip(train_ms, eval_ms)]
print(f"torch {torch.__version__}, {args.threads} threads, {args.optimizer}: {median(total):.2f} ms an iteration "
      f"(train {median(train_ms):.2f}, eval {median(eval_ms):.2f})")
