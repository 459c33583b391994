"""Slim ResNet-18 in PyTorch, with the parameter names of `evenkeel export --weights`.

What the speed is compared with (bench/pytorch_peer.py), what the parity test was made with, and what exported weights are loaded into.
"""

import torch.nn as nn
import torch.nn.functional as F

# Of each block: inputs and outputs as multiples of the stem's channels, and the stride.
BLOCKS = [(1, 1, 1), (1, 1, 1), (1, 2, 2), (2, 2, 1), (2, 4, 2), (4, 4, 1), (4, 8, 2), (8, 8, 1)]


class ConvNorm(nn.Module):
    def __init__(self, i, o, k, stride):
        super().__init__()
        self.conv = nn.Conv2d(i, o, k, stride, k // 2, bias=False)
        self.bn = nn.BatchNorm2d(o)

    def forward(self, x):
        return self.bn(self.conv(x))


class Block(nn.Module):
    def __init__(self, i, o, stride):
        super().__init__()
        self.first, self.second = ConvNorm(i, o, 3, stride), ConvNorm(o, o, 3, 1)
        self.shortcut = ConvNorm(i, o, 1, stride) if i != o or stride != 1 else None

    def forward(self, x):
        y = self.second(F.relu(self.first(x)))
        return F.relu(y + (x if self.shortcut is None else self.shortcut(x)))


class Backbone(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.stem = ConvNorm(3, channels, 3, 1)
        self.blocks = nn.Sequential(*[Block(i * channels, o * channels, stride) for i, o, stride in BLOCKS])

    def forward(self, x):
        return F.avg_pool2d(self.blocks(F.relu(self.stem(x))), 4).flatten(1)


class SlimResNet(nn.Module):
    """For images of 32x32; the gain is on the head alone."""

    def __init__(self, channels=20):
        super().__init__()
        self.backbone, self.head = Backbone(channels), nn.Linear(8 * channels, 10, bias=False)

    def forward(self, x, gain=1.0):
        return self.head(self.backbone(x)) * gain
