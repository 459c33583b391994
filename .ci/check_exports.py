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

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "bench"))
from slim_resnet import SlimResNet

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


for name, model in [("mlp", Mlp(7, [6, 5], 4)), ("resnet", SlimResNet())]:
    model.load_state_dict(load_file(probes / f"{name}.safetensors"))  # strict: every name and shape must fit
    model.eval()
    probe = load_file(probes / f"{name}-probe.safetensors")
    x = probe["x"] if name == "mlp" else probe["x"].reshape(-1, 3, 32, 32)
    with torch.no_grad():
        apart = (model(x) - probe["logits"]).abs().max().item()
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
