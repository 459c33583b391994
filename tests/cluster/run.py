#!/usr/bin/env python3
"""Forty short runs on a real two-node Slurm, one node of which dies in the middle and comes back.

    python3 tests/cluster/run.py target/release/evenkeel

Everything must come out as from an undisturbed local run, byte for byte, and nothing may have been begun twice but what the dead node
had begun. Says LEFT OUT, and why, where no Slurm can be started.
"""

import json
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import slurm

SETTINGS = [
    "split-digits", "--optimizers", "ngm-sgd,adam", "--seeds", "20", "--iterations", "300", "--eval-samples", "100",
    "--set", "hidden=[100,100]", "--set", "batch=32",
]


def results(folder):
    curves = {path.parent.name: path.read_bytes() for path in sorted(folder.glob("*/curve.csv"))}
    return curves, (folder / "summary.json").read_bytes()


def ended(folder):
    records = [json.loads(path.read_text()) for path in folder.glob("*/run.json")]
    return sum(record["status"] == "done" for record in records)


def wait(what, until, seconds):
    begin = time.monotonic()
    while not until():
        if time.monotonic() - begin > seconds:
            sys.exit(f"waited {seconds} s in vain: {what}")
        time.sleep(0.5)


def main():
    program = str(Path(sys.argv[1]).resolve())
    if reason := slurm.missing():
        print(f"LEFT OUT: {reason}")
        return
    with slurm.Cluster() as nodes:
        disturb(program, nodes)


def disturb(program, nodes):
    with tempfile.TemporaryDirectory() as name:
        cluster, alone = Path(name) / "cluster", Path(name) / "alone"
        subprocess.run([program, "run", *SETTINGS, "--out", alone], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        print("40 runs on one machine are done", flush=True)
        submit = [program, "submit", "slurm", *SETTINGS, "--tasks", "2", "--checkpoint-seconds", "1", "--out", cluster]
        subprocess.run(submit, check=True)

        wait("the first runs", lambda: ended(cluster) >= 4, 180)
        before = ended(cluster)
        killed = nodes.cut_power("n1")
        assert killed > 0, "the node had nothing to do"
        begun_by_the_dead = len(list(cluster.glob("*/lease.json")))
        print(f"a node died with {before} of 40 runs ended; {begun_by_the_dead} were being worked on by both nodes")
        wait("the other node to go on", lambda: ended(cluster) >= before + 4, 180)
        nodes.raise_node("n1")
        status = subprocess.run([program, "status", cluster], check=True, capture_output=True, text=True).stdout
        print(status.strip().splitlines()[-1])
        wait("all runs", lambda: ended(cluster) == 40, 600)
        wait("the report", lambda: (cluster / "report.html").is_file() and (cluster / "summary.json").is_file(), 300)

        assert results(cluster) == results(alone), "the cluster's curves or summary differ from those of one machine"
        logs = "\n".join(path.read_text(errors="replace") for path in (cluster / "slurm").glob("*.log"))
        starts = re.findall(r"^(.+): begun$", logs, re.M)
        twice = len(starts) - len(set(starts))
        print(f"40 runs on two nodes, one killed and revived: every curve and summary.json byte for byte those of one machine; "
              f"{len(starts)} starts, {twice} of them a second time")
        assert len(set(starts)) == 40 and twice <= 1, f"begun more than once: {twice}"
        leftovers = list(cluster.glob("*/lease.json")) + list(cluster.glob("*/.part-*"))
        assert not leftovers, leftovers


if __name__ == "__main__":
    main()
