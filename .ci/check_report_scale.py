"""How long the report takes, how large it gets and how much memory it needs: few runs and a thousand.

    python3 .ci/check_report_scale.py PATH/TO/evenkeel

Makes one run of 1,000 rows and copies it under other seeds and optimizers, with a little noise.
"""

import hashlib
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

program = Path(sys.argv[1]).resolve()


def sha256(text):
    return hashlib.sha256(text.encode()).hexdigest()


def make(source, out, optimizers, seeds, benchmark):
    record = json.loads((source / "run.json").read_text())
    head, *rows = (source / "curve.csv").read_text().splitlines()
    rng = random.Random(0)
    for optimizer in optimizers:
        for seed in range(seeds):
            spec = record["spec"] | {"benchmark": benchmark, "seed": seed}
            spec["optimizer"] = spec["optimizer"] | {"name": optimizer}
            text = json.dumps(spec, separators=(",", ":"))
            run = out / f"{optimizer}-{seed}"
            run.mkdir(parents=True)
            identity = hashlib.sha256(text.encode()).digest()[:6].hex()
            cells = (row.split(",", 3) for row in rows)
            noisy = (f"{i},{task},{max(0.0, float(acc) - 3 * rng.random())!r},{rest}" for i, task, acc, rest in cells)
            curve = "\n".join([head, *noisy]) + "\n"
            (run / "curve.csv").write_text(curve)
            copy = record | {"id": identity, "spec": spec, "files": {"curve.csv": sha256(curve)}}
            copy.pop("sha256")
            copy["sha256"] = sha256(json.dumps(copy, separators=(",", ":"), ensure_ascii=False))
            (run / "run.json").write_text(json.dumps(copy))


def report(folder, page):
    start = time.monotonic()
    process = subprocess.Popen([program, "report", folder, "-o", page], stderr=subprocess.PIPE, text=True)
    messages = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    assert status == 0 and "note:" not in messages, messages
    return time.monotonic() - start, page.stat().st_size / 1e6, usage.ru_maxrss / 1024


with tempfile.TemporaryDirectory() as work:
    work = Path(work)
    command = [program, "run", "split-digits", "--iterations", 200, "--eval-samples", 60, "--seeds", 1, "--optimizers", "ngm-sgd"]
    settings = ["--set", "hidden=[24,16]", "--set", "batch=16", "--out", work / "one"]
    subprocess.run([*map(str, command), *map(str, settings)], check=True, capture_output=True)
    source = next(path.parent for path in (work / "one").glob("*/run.json"))
    four = ["ngm-sgd", "msgd", "adam", "sgd"]
    for name, seeds, seconds, megabytes, mebibytes in [("few", 5, 2, 3, 1024), ("many", 250, 20, 3, 1024)]:
        make(source, work / name, four, seeds, "<script>alert(1)</script>")
        took, size, memory = report(work / name, work / f"{name}.html")
        print(f"{len(four) * seeds} runs: {took:.2f} s, {size:.2f} MB, {memory:.0f} MiB of memory")
        assert took < seconds and size < megabytes and memory < mebibytes
        page = (work / f"{name}.html").read_text()
        assert "<script>alert" not in page and "&lt;script&gt;alert(1)&lt;/script&gt;" in page
        assert f"{len(four) * seeds} of {len(four) * seeds} runs are done" in page
