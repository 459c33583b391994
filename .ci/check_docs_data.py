"""Every command and experiment file of docs/your-data.md and docs/streams.md, on small data: `check_docs_data.py EVENKEEL`.

The commands are taken from the pages as they stand there; only what makes them long (iterations, seeds, evaluated images) is made small.
Needs numpy, and MNIST in the data cache or the network.
"""
import csv
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
EVENKEEL = str(Path(sys.argv[1]).resolve())
LOGS = ROOT / "crates/evenkeel-lab/tests/fixtures/logs"
rng = np.random.default_rng(0)


def png(path, side, colour):
    rows = b"".join(b"\0" + bytes(colour) * side for _ in range(side))
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def make_data(folder):
    """What the pages say that a reader brings."""
    for name in range(6):
        for i in range(6):
            png(folder / f"photos/class{name}/{i}.jpg", 30 + i, [40 * name, 10 * i, 30 * (name + i) % 256])
    label = np.arange(400) % 20
    features = rng.normal(size=(400, 16)) + label[:, None]
    np.savez(folder / "backbone.npz", features=features.astype(np.float32), label=label)
    with open(folder / "intents.csv", "w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["text", "label", "task"])
        for i in range(240):
            intent = i % 6
            table.writerow([f"please {'book pay call find play stop'.split()[intent]} it, number {i}", f"intent{intent}", intent // 2])
    for seed in range(3):
        with open(folder / f"mine-{seed}.csv", "w") as file:
            print("iteration,task,task1_acc", file=file)
            for i in range(1, 41):
                accuracy = 90 + seed - (30 if i % 8 == 1 else 0) * (i > 8)
                print(f"{i},{(i - 1) // 8 + 1},{accuracy}", file=file)
    shutil.copy(LOGS / "avalanche-text.txt", folder / "avalanche.txt")
    shutil.copytree(LOGS / "avalanche-csv", folder / "csvlogs")
    for seed in range(2):
        shutil.copytree(LOGS / "pytorch-tensorboard", folder / f"tb/seed{seed}")
    shutil.copy(LOGS / "wandb.csv", folder / "chart.csv")


def blocks(page):
    return re.findall(r"^```(\w*)\n(.*?)^```", (ROOT / "docs" / page).read_text(), re.M | re.S)


def small(command):
    """The same command with fewer iterations, seeds and evaluated images."""
    if not re.match(r"evenkeel run ", command):
        return command
    command = re.sub(r"--iterations \d+", "--iterations 3", command)
    if "--iterations" not in command and "task_iterations" not in command:
        command += " --iterations 3"
    command = re.sub(r"--seeds \d+", "--seeds 3", command) if "--seeds" in command else command + " --seeds 3"
    return command + " --eval-samples 40"


def main():
    done = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make_data(folder)
        bin_folder = folder / "bin"
        bin_folder.mkdir()
        (bin_folder / "evenkeel").symlink_to(EVENKEEL)
        environment = dict(os.environ, PATH=f"{bin_folder}:{os.environ['PATH']}", NO_COLOR="1")
        environment.setdefault("EVENKEEL_DATA", str(Path.home() / ".cache/evenkeel"))
        for page in ["your-data.md", "streams.md"]:
            for kind, text in blocks(page):
                experiment = re.match(r"# (\S+\.toml)\n", text)
                if kind == "toml":
                    (folder / experiment[1]).write_text(text)
                    commands = [f"evenkeel run {experiment[1]}"]
                elif kind == "sh":
                    commands = [re.sub(r"\s+#.*", "", line) for line in text.splitlines() if line.strip()]
                else:
                    continue
                for line in commands:
                    line = " && ".join(small(part) for part in line.split(" && "))
                    ran = subprocess.run(["bash", "-c", line], cwd=folder, env=environment, capture_output=True, text=True)
                    assert ran.returncode == 0, f"{page}: {line}\n{ran.stderr}"
                    done += 1
        figures = list(folder.glob("figs/*.svg"))
        assert figures and (folder / "report.html").stat().st_size > 10_000, "no figure of a comparison was made"
    assert done >= 15, f"only {done} commands were found: the pages are laid out in another way"
    print(f"{done} commands of the pages on data and streams work")


main()
