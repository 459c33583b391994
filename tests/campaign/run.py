#!/usr/bin/env python3
"""Kills the program at random times and damages its files at random places. Nothing may be silently wrong afterwards.

    python3 tests/campaign/run.py target/release/evenkeel                              short: a minute or two
    python3 tests/campaign/run.py target/release/evenkeel --kills 1000 --damages 2000  long

Then it runs with too few descriptors, too little memory and, where a small file system can be mounted, on a full disk.

A kill is harmless if the same command then gives the same bytes as an undisturbed run. A damage is harmless if everything comes
out as if nothing had happened; else a command must name the damaged file and fail.
"""

import argparse
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SETTINGS = [
    "split-digits", "--optimizers", "ngm-sgd,adam", "--seeds", "2", "--iterations", "30", "--eval-samples", "60",
    "--set", "hidden=[24,16]", "--set", "batch=16", "--set", "train_acc=true",
]
FILES = ["run.json", "curve.csv", "extra.csv", "checkpoint.bin"]


def command(program, out, *more):
    return [program, "run", *SETTINGS, "--out", str(out), "--checkpoint-seconds", "0", *more]


def results(out):
    """What must come out the same: the bytes of every curve and of what else was recorded."""
    return {
        f"{run.name}/{name}": (run / name).read_bytes()
        for run in sorted(out.iterdir()) if run.is_dir() for name in ("curve.csv", "extra.csv")
    }


def children(process):
    try:
        tasks = Path(f"/proc/{process}/task").iterdir()
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []


def send(number, process):
    try:
        os.kill(process, number)
    except ProcessLookupError:
        pass


def disturb(how, runner):
    workers = children(runner.pid)
    if how == "group":
        os.killpg(runner.pid, signal.SIGKILL)
    elif how == "parent":
        send(signal.SIGKILL, runner.pid)
    elif how == "worker" and workers:
        send(signal.SIGKILL, random.choice(workers))
    elif how == "worker told to stop" and workers:
        send(signal.SIGTERM, random.choice(workers))
    elif how == "worker stands still" and workers:
        send(signal.SIGSTOP, random.choice(workers))
        time.sleep(0.02)
        os.killpg(runner.pid, signal.SIGKILL)
    elif how == "terminate":
        send(signal.SIGTERM, runner.pid)
    else:
        send(signal.SIGINT, runner.pid)


def kill_campaign(program, reference, wanted, room):
    kinds = ["group", "parent", "worker", "worker told to stop", "worker stands still", "terminate", "interrupt", "two runners"]
    kills, rounds = 0, 0
    while kills < wanted:
        out = room / f"kills-{rounds}"
        rounds += 1
        while True:
            how = random.choice(kinds)
            start = lambda: subprocess.Popen(
                command(program, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
            runners = [start()] + ([start()] if how == "two runners" else [])
            time.sleep(random.uniform(0.0, 0.6))
            if how == "two runners":
                how = random.choice(kinds[:2])
            alive = runners[0].poll() is None
            if alive:
                disturb(how, runners[0])
                kills += 1
            codes = [runner.wait(timeout=120) for runner in runners]
            # The command that nobody disturbed has finished the work.
            if not alive and codes[0] == 0 or kills >= wanted:
                break
        finished = subprocess.run(command(program, out), capture_output=True, timeout=300)
        assert finished.returncode == 0, finished.stderr.decode()
        assert results(out) == reference, f"other bytes after the kills of round {rounds}, in {out}"
        shutil.rmtree(out)
    return kills, rounds


def damage(path):
    """Changes a file and says how; None if it is as it was."""
    before = path.read_bytes()
    content = bytearray(before)
    if not content:
        return None
    how = random.choice(["bit", "bit", "cut", "zeroes", "gone"])
    at = random.randrange(len(content))
    if how == "bit":
        content[at] ^= 1 << random.randrange(8)
    elif how == "cut":
        del content[at:]
    elif how == "zeroes":
        content[at:at + 512] = bytes(len(content[at:at + 512]))
    if how == "gone":
        path.unlink()
    elif content == before:
        return None
    else:
        path.write_bytes(content)
    return f"{how} at {at}"


def interrupted(program, room):
    """A folder whose runs have checkpoints and are not finished."""
    out = room / "interrupted"
    while True:
        runner = subprocess.Popen(
            command(program, out), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        while runner.poll() is None and len(list(out.glob("*/checkpoint.bin"))) < 2:
            time.sleep(0.002)
        send(signal.SIGINT, runner.pid)
        runner.wait(timeout=120)
        if len(list(out.glob("*/checkpoint.bin"))) >= 1:
            return out
        shutil.rmtree(out)


def damage_campaign(program, whole, reference, wanted, room):
    tables = subprocess.run([program, "metrics", str(whole), "--format", "json"], capture_output=True, check=True).stdout
    named = harmless = 0
    stopped = interrupted(program, room)
    while named + harmless < wanted:
        source = random.choice([whole, stopped])
        out = room / "damaged"
        shutil.rmtree(out, ignore_errors=True)
        shutil.copytree(source, out)
        path = random.choice(sorted(path for path in out.glob("*/*") if path.name in FILES))
        how = damage(path)
        if how is None:
            continue
        what = f"{source.name}/{path.parent.name}/{path.name}: {how}"
        again = subprocess.run(command(program, out), capture_output=True, timeout=300)
        said = (again.stdout + again.stderr).decode(errors="replace")
        assert "panicked" not in said, (what, said)
        if again.returncode != 0:
            assert again.returncode in (1, 2) and path.parent.name in said and path.name in said, (what, said)
            named += 1
            continue
        assert results(out) == reference, f"{what}: other bytes, and not a word; see {out}"
        metrics = subprocess.run([program, "metrics", str(out), "--format", "json"], capture_output=True)
        assert metrics.returncode == 0 and metrics.stdout == tables, f"{what}: other tables, and not a word"
        harmless += 1
    return named, harmless


def limited(program, out, limit, most):
    return subprocess.run(
        command(program, out), capture_output=True, timeout=300, preexec_fn=lambda: resource.setrlimit(limit, (most, most)))


def limit_campaign(program, reference, room):
    """Whatever is scarce: a run that fails says so, and the same command without the limit gives the same bytes."""
    trials = [("descriptors", resource.RLIMIT_NOFILE, most) for most in (8, 12, 16, 24, 32, 64)]
    trials += [("memory", resource.RLIMIT_AS, most << 20) for most in (80, 160, 320, 640, 1280)]
    ended = []
    for what, limit, most in trials:
        out = room / "limited"
        ended.append((what, limited(program, out, limit, most), out))
        check_after_failure(program, reference, *ended[-1])
    disk = room / "disk"
    disk.mkdir()
    for size in ("16k", "64k", "128k", "256k"):
        # Only root can mount.
        if subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", disk], capture_output=True).returncode != 0:
            print("LEFT OUT: a full disk, as nothing can be mounted here", file=sys.stderr)
            break
        try:
            ended.append(("disk", subprocess.run(command(program, disk / "runs"), capture_output=True, timeout=300), disk / "runs"))
            subprocess.run(["mount", "-o", "remount,size=64m", disk], check=True)
            check_after_failure(program, reference, *ended[-1])
        finally:
            subprocess.run(["umount", disk], check=True)
    return len(ended), sum(process.returncode != 0 for _, process, _ in ended)


def check_after_failure(program, reference, what, process, out):
    said = (process.stdout + process.stderr).decode(errors="replace")
    assert "panicked" not in said, (what, said)
    # Memory that is refused ends a process at once; all else is an error with a reason.
    assert process.returncode in (0, 1, 2) or what == "memory", (what, process.returncode, said)
    assert process.returncode == 0 or said, what
    finished = subprocess.run(command(program, out), capture_output=True, timeout=300)
    assert finished.returncode == 0, (what, finished.stderr.decode())
    assert results(out) == reference, f"other bytes after a lack of {what}, in {out}"
    shutil.rmtree(out)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("program")
    arguments.add_argument("--kills", type=int, default=40)
    arguments.add_argument("--damages", type=int, default=150)
    arguments.add_argument("--seed", type=int, default=time.time_ns() % 10**6)
    arguments = arguments.parse_args()
    print(f"seed {arguments.seed}", file=sys.stderr)
    random.seed(arguments.seed)
    program = str(Path(arguments.program).resolve())
    with tempfile.TemporaryDirectory() as room:
        room = Path(room)
        whole = room / "whole"
        subprocess.run(command(program, whole), check=True, capture_output=True)
        reference = results(whole)
        assert len(reference) == 8 and all(reference.values())
        kills, rounds = kill_campaign(program, reference, arguments.kills, room)
        trials, failed = limit_campaign(program, reference, room)
        named, harmless = damage_campaign(program, whole, reference, arguments.damages, room)
    print(
        f"{kills} kills in {rounds} rounds and {trials} runs under limits ({failed} failed with a reason), 0 different bytes; "
        f"{named + harmless} damages, {named} named and {harmless} harmless")


if __name__ == "__main__":
    main()
