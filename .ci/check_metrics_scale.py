"""How much memory `evenkeel metrics` needs for long curves: `check_metrics_scale.py EVENKEEL [MILLIONS_OF_ROWS]`.

Two million rows with every column, as `evenkeel run` writes them, in one file and in five; ten million must stay below 1 GiB, and these
below their share of it.
"""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

program = Path(sys.argv[1]).resolve()
millions = float(sys.argv[2]) if len(sys.argv) > 2 else 2
limit = 1024 * millions / 10 + 45  # MiB; what the program needs for nothing at all is not a share


def write(path, rows, tasks=5):
    with open(path, "w") as file:
        file.write("iteration,task,task1_acc,task1_loss,gain,entropy,train_loss,seen_acc\n")
        for i in range(1, rows + 1):
            accuracy = 90 + i % 997 / 100
            file.write(f"{i},{(i - 1) * tasks // rows + 1},{accuracy},{i % 89 / 100},{1 + i % 7 / 9},0.{i % 991},{i % 83 / 100},{accuracy}\n")


with tempfile.TemporaryDirectory() as work:
    for files in [1, 5]:
        paths = [Path(work) / f"{files}-files-{n}.csv" for n in range(files)]
        for path in paths:
            write(path, int(millions * 1e6) // files)
        process = subprocess.Popen([program, "metrics", *paths], stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(process.pid, 0)
        memory = usage.ru_maxrss / 1024
        print(f"{millions:g} million rows in {files} files: {memory:.0f} MiB, {usage.ru_utime + usage.ru_stime:.1f} s")
        assert status == 0 and memory < limit, f"more than {limit:.0f} MiB"
        for path in paths:
            path.unlink()
