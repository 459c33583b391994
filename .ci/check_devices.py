#!/usr/bin/env python3
"""Runs Split MNIST for a few iterations on a device and on flex, and compares the curves.

    check_devices.py EVENKEEL DEVICE

Numbers differ by rounding, which training amplifies: over 20 iterations of one task the losses agree to a thousandth of themselves and
the accuracies, which are counts of images, to half a point.
"""

import csv
import pathlib
import subprocess
import sys
import tempfile

OPTIMIZERS = ["ngm-sgd", "adam"]
LOSS, ACCURACY = 1e-3, 0.5


def curves(program: str, device: str, folder: pathlib.Path) -> dict[str, list[dict[str, str]]]:
    out = folder / device
    subprocess.run([program, "run", "split-mnist", "--device", device, "--optimizers", ",".join(OPTIMIZERS), "--seeds", "1", "--iterations", "20", "--out", str(out)], check=True)
    found = {path.parent.name.split("-seed")[0]: list(csv.DictReader(path.open())) for path in out.glob("*/curve.csv")}
    assert sorted(found) == sorted(OPTIMIZERS), found.keys()
    return found


def main() -> None:
    program, device = sys.argv[1:]
    with tempfile.TemporaryDirectory() as name:
        flex, here = (curves(program, of, pathlib.Path(name)) for of in ("flex", device))
    for optimizer, rows in flex.items():
        furthest = {"train_loss": 0.0, "task1_acc": 0.0}
        assert len(rows) == len(here[optimizer]) > 20
        first_task = [pair for pair in zip(rows, here[optimizer]) if pair[0]["task"] == "1"]
        for a, b in first_task:
            for column, limit in (("train_loss", LOSS), ("task1_acc", ACCURACY)):
                if not a[column]:
                    continue
                distance = abs(float(a[column]) - float(b[column]))
                if column == "train_loss":
                    distance /= float(a[column])
                furthest[column] = max(furthest[column], distance)
                assert distance <= limit, f"{optimizer}, iteration {a['iteration']}: {column} {a[column]} on flex, {b[column]} on {device}"
        assert furthest["train_loss"] > 0 or device == "flex", "not one digit differs: was it another device at all?"
        print(f"{optimizer:8} on {device}: loss within {furthest['train_loss']:.1e} of flex (relative), accuracy within {furthest['task1_acc']:.2f} points")


if __name__ == "__main__":
    main()
