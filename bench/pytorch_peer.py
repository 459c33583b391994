"""The workloads of `evenkeel bench` in PyTorch, as its users would write them.

    python3 bench/pytorch_peer.py mlp|resnet [--threads N] [--iterations N] [--variant eager|channels_last|compile] [--json]

One iteration: a training step under NGM-SGD, and an evaluation of accuracy and loss.
mlp: 128 images, 784-400-400-10, evaluation of 2,115 images. resnet: slim ResNet-18, 256 images of 32x32, evaluation of 1,000.
Inputs are random: dense products do not care. Medians in milliseconds.

PyTorch's allocator gives large blocks back to the system after each step; set MALLOC_TOP_PAD_ and MALLOC_TRIM_THRESHOLD_
(bench/compare does) for a fair comparison with an allocator that keeps them.
"""

import argparse
import json
import time

import torch
import torch.nn as nn
import torch.nn.functional as F

from slim_resnet import SlimResNet

parser = argparse.ArgumentParser()
parser.add_argument("workload", choices=["mlp", "resnet"])
parser.add_argument("--threads", type=int, default=2)
parser.add_argument("--iterations", type=int)
parser.add_argument("--variant", choices=["eager", "channels_last", "compile"], default="eager")
parser.add_argument("--json", action="store_true")
args = parser.parse_args()
torch.set_num_threads(args.threads)
torch.manual_seed(0)


class Mlp(nn.Module):
    def __init__(self):
        super().__init__()
        sizes = [784, 400, 400, 10]
        scales = [0.01, 0.01, 0.05]
        self.weights = nn.ParameterList([torch.randn(a, b) * s for a, b, s in zip(sizes, sizes[1:], scales)])

    def forward(self, x, gain):
        for w in self.weights[:-1]:
            x = torch.relu(x @ w * gain)
        return x @ self.weights[-1] * gain


if args.workload == "mlp":
    model, batch, evaluated, iterations, warm_up = Mlp(), 128, 2115, 200, 20
    images = (torch.rand(12665, 784) * (torch.rand(12665, 784) < 0.19) - 0.1307) / 0.3081
    groups = [{"params": model.parameters(), "momentum": 0.0}]
else:
    model, batch, evaluated, iterations, warm_up = SlimResNet(), 256, 1000, 7, 2
    images = torch.randn(2000, 3, 32, 32)
    backbone = [p for name, p in model.named_parameters() if not name.startswith("head")]
    groups = [{"params": backbone, "momentum": 0.9}, {"params": model.head.parameters(), "momentum": 0.0}]
labels = torch.randint(0, 2, (len(images),))
optimizer = torch.optim.SGD(groups, lr=0.01)
if args.variant != "eager":
    model = model.to(memory_format=torch.channels_last)
    images = images.to(memory_format=torch.channels_last) if images.dim() == 4 else images
forward = torch.compile(model) if args.variant == "compile" else model
test_x, test_y = images[:evaluated], labels[:evaluated]

gain, train_ms, eval_ms = torch.tensor(1.0), [], []
for iteration in range(warm_up + (args.iterations or iterations)):
    model.train()
    start = time.perf_counter()
    chosen = torch.randint(0, len(images), (batch,))
    x, y = images[chosen], labels[chosen]
    logits = forward(x, gain)
    loss = F.cross_entropy(logits, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    loss.item()
    log_pi = F.log_softmax(logits.detach(), 1)
    entropy = -(log_pi.exp() * log_pi).sum(1).mean()
    gain = 0.9 * gain + 0.1 + 0.4 * entropy
    middle = time.perf_counter()
    model.eval()
    with torch.no_grad():
        logits = forward(test_x, gain)
        accuracy = (logits.argmax(1) == test_y).float().mean().item()
        F.cross_entropy(logits, test_y).item()
    if iteration >= warm_up:
        train_ms.append(1e3 * (middle - start))
        eval_ms.append(1e3 * (time.perf_counter() - middle))

median = lambda values: sorted(values)[len(values) // 2]
total = [a + b for a, b in zip(train_ms, eval_ms)]
result = {"train_ms": median(train_ms), "eval_ms": median(eval_ms), "iteration_ms": median(total)}
if args.json:
    print(json.dumps(result))
else:
    print(f"torch {torch.__version__}, {args.workload}, {args.variant}, {args.threads} threads: " + ", ".join(f"{k} {v:.2f}" for k, v in result.items()))
