"""The exports in the tools that they are for: pandas, TensorBoard, PyTorch.

    python3 .ci/check_exports.py PATH/TO/evenkeel PROBES

PROBES is the folder that the tests of the weights wrote with EVENKEEL_PROBES=PROBES. Needs pandas, pyarrow, tensorboard, safetensors and torch.
"""

import json
import math
import subprocess
import sys
import tempfile
from pathlib import Path

import pandas as pd
import torch
import torch.nn as nn
import torch.nn.functional as F
from safetensors import safe_open
from safetensors.torch import load_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

program, probes = Path(sys.argv[1]).resolve(), Path(sys.argv[2])


def evenkeel(*args):
    subprocess.run([program, *map(str, args)], check=True, stdout=subprocess.DEVNULL)


class Mlp(nn.Module):
    def __init__(self, inputs, hidden, outputs):
        super().__init__()
        widths = [inputs, *hidden]
        self.hidden = nn.ModuleList(nn.Linear(a, b, bias=False) for a, b in zip(widths, hidden))
        self.output = nn.Linear(widths[-1], outputs, bias=False)

    def forward(self, x):
        for layer in self.hidden:
            x = F.relu(layer(x))
        return self.output(x)


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
    def __init__(self):
        super().__init__()
        self.stem = ConvNorm(3, 20, 3, 1)
        widths = [(20, 20, 1), (20, 20, 1), (20, 40, 2), (40, 40, 1), (40, 80, 2), (80, 80, 1), (80, 160, 2), (160, 160, 1)]
        self.blocks = nn.Sequential(*[Block(*w) for w in widths])

    def forward(self, x):
        return F.avg_pool2d(self.blocks(F.relu(self.stem(x))), 4).flatten(1)


class SlimResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.backbone, self.head = Backbone(), nn.Linear(160, 10, bias=False)

    def forward(self, x):
        return self.head(self.backbone(x.reshape(-1, 3, 32, 32)))


for name, model in [("mlp", Mlp(7, [6, 5], 4)), ("resnet", SlimResNet())]:
    model.load_state_dict(load_file(probes / f"{name}.safetensors"))  # strict: every name and shape must fit
    model.eval()
    probe = load_file(probes / f"{name}-probe.safetensors")
    with torch.no_grad():
        apart = (model(probe["x"]) - probe["logits"]).abs().max().item()
    scale = probe["logits"].abs().max().item()
    assert scale > 0.01 and apart < 1e-4 * scale, (name, apart, scale)
    print(f"ok    {name}: logits of PyTorch differ by {apart:.1e} (largest {scale:.2f})")

with tempfile.TemporaryDirectory() as folder:
    folder = Path(folder)
    runs = folder / "runs"
    evenkeel("run", "split-digits", "--iterations", 10, "--eval-samples", 60, "--set", "hidden=[24,16]", "--set", "batch=16",
             "--seeds", 2, "--optimizers", "ngm-sgd,msgd", "--keep-weights", "--out", runs)
    evenkeel("export", runs, "--parquet", folder / "curves.parquet", "--tensorboard", folder / "tb")
    csv = {path.parent.name: pd.read_csv(path) for path in sorted(runs.glob("*/curve.csv"))}
    assert len(csv) == 4

    frame = pd.read_parquet(folder / "curves.parquet")
    assert set(frame.status) == {"done"} and set(frame.benchmark) == {"split-digits"}
    for run, expected in csv.items():
        ours = frame[frame.run == run].reset_index(drop=True)[expected.columns]
        pd.testing.assert_frame_equal(ours, expected, check_dtype=False, check_exact=True)
    print(f"ok    parquet: {len(frame)} rows equal those of the {len(csv)} curve files")

    for run, expected in csv.items():
        events = EventAccumulator(str(folder / "tb" / "split-digits" / run), size_guidance={"scalars": 0})
        events.Reload()
        for tag, column in [("task1/accuracy", "task1_acc"), ("task1/loss", "task1_loss"), ("task3/accuracy", "acc_3")]:
            present = expected[expected[column].notna()]
            scalars = events.Scalars(tag)
            assert [s.step for s in scalars] == list(present.iteration), (run, tag)
            assert all(math.isclose(s.value, v, rel_tol=1e-6) for s, v in zip(scalars, present[column])), (run, tag)
        assert ("gain/g" in events.Tags()["scalars"]) == run.startswith("ngm-sgd")
    print("ok    tensorboard: steps and values equal those of the curve files")

    run = next(path for path in sorted(runs.iterdir()) if path.name.startswith("ngm-sgd"))
    evenkeel("export", run, "--weights", folder / "w.safetensors")
    with safe_open(folder / "w.safetensors", "pt") as file:
        shapes = {name: file.get_slice(name).get_shape() for name in file.keys()}
        gain = float(file.metadata()["gain"])
    spec = json.loads((run / "run.json").read_text())["spec"]
    assert shapes["hidden.0.weight"] == [spec["settings"]["hidden"][0], 784] and shapes["output.weight"][0] == 10, shapes
    assert gain == csv[run.name].gain.iloc[-1]
    print("ok    weights of a run: shapes, and the gain of the curve's last row")
