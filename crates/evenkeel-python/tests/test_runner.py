"""Experiments from Python, and the command inside the package."""

import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import evenkeel

SMALL = {"iterations": 6, "progress": False}


def test_a_benchmark_gives_curves_metrics_and_figures(tmp_path):
    pandas = pytest.importorskip("pandas")
    runs = evenkeel.run("split-digits", optimizers=["ngm-sgd", "sgd"], seeds=3, out=tmp_path, settings={"ngm-sgd.eta": 0.3, "batch": 32}, **SMALL)
    assert isinstance(runs.curves, pandas.DataFrame) and len(runs.curves) == 2 * 3 * 5 * 6
    assert set(runs.curves["optimizer"]) == {"ngm-sgd", "sgd"} and set(runs.curves["seed"]) == {0, 1, 2}
    assert len(runs.metrics) == 6 and runs.figure("curves").svg.startswith("<svg")
    assert (tmp_path / "summary.json").exists()
    again = time.perf_counter()
    evenkeel.run("split-digits", optimizers=["ngm-sgd", "sgd"], seeds=3, out=tmp_path, settings={"ngm-sgd.eta": 0.3, "batch": 32}, **SMALL)
    assert time.perf_counter() - again < 5, "nothing was left to do"
    evenkeel.report(tmp_path, output=tmp_path / "page.html")
    assert "eta=0.3" in (tmp_path / "page.html").read_text()
    for told in ("polars", "pyarrow"):
        module = pytest.importorskip(told)
        frame = module.DataFrame(runs.frame) if told == "polars" else module.table(runs.frame)
        assert frame.shape == (180, 15)


def test_the_same_bytes_as_the_command(tmp_path):
    evenkeel.run("split-digits", optimizers="sgd", seeds=[7], out=tmp_path / "python", **SMALL)
    arguments = ["run", "split-digits", "--optimizers", "sgd", "--seeds", "7..8", "--iterations", "6", "--out", str(tmp_path / "command")]
    done = subprocess.run([sys.executable, "-m", "evenkeel", *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    ours, theirs = ([*(tmp_path / kind).glob("*/curve.csv")] for kind in ("python", "command"))
    assert len(ours) == len(theirs) == 1 and ours[0].read_bytes() == theirs[0].read_bytes()
    assert ours[0].parent.name == theirs[0].parent.name


def test_own_arrays_as_a_stream(tmp_path):
    draw = np.random.default_rng(0)
    y = np.arange(600) % 4
    x = draw.normal(0, 1, (600, 3, 4)) + 3 * np.eye(4)[y][:, np.newaxis, :]
    runs = evenkeel.run(data=(x, y, y // 2), optimizers="sgd", seeds=1, out=tmp_path / "tasks", **SMALL)
    assert runs.metrics[0].avg_acc > 60 and len(runs.metrics[0].ends) == 2
    runs = evenkeel.run(data=(x, y), optimizers="sgd", seeds=1, out=tmp_path / "classes", settings={"classes_per_task": 1}, **SMALL)
    assert len(runs.metrics[0].ends) == 4


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda out: evenkeel.run("split-digts", out=out), "split-digits"),
        (lambda out: evenkeel.run("split-digits", optimizers="sdg", out=out), "sgd"),
        (lambda out: evenkeel.run("split-digits", out=out, settings={"batch": 0}), "batch"),
        (lambda out: evenkeel.run("split-digits", out=out, jobs=0), "--jobs"),
        (lambda out: evenkeel.run("split-digits", out=out, seeds=[]), "seeds: there are none"),
        (lambda out: evenkeel.run(data=(np.zeros((3, 2)), [0, 1, 0]), out=out), "say which tasks there are"),
        (lambda out: evenkeel.run(data=(np.zeros((3, 2)), [0, 1], [0, 0, 0]), out=out), "2 values of label for 3 examples"),
    ],
)
def test_bad_arguments_say_why(tmp_path, call, reason):
    with pytest.raises(ValueError, match=reason):
        call(tmp_path / "out")


@pytest.mark.skipif(os.name == "nt", reason="signals")
def test_ctrl_c_saves_and_the_same_call_goes_on(tmp_path):
    script = textwrap.dedent(
        """
        import sys, evenkeel
        evenkeel.run("split-digits", optimizers="sgd", seeds=2, out=sys.argv[1], iterations=int(sys.argv[2]), progress=False)
        """
    )

    def start(out, iterations="400"):
        return subprocess.Popen([sys.executable, "-c", script, str(out), iterations], stderr=subprocess.PIPE, text=True)

    process = start(tmp_path / "stopped")
    deadline = time.monotonic() + 60
    while not any(path.read_text().count("\n") > 20 for path in (tmp_path / "stopped").glob("*/curve.csv")):
        assert process.poll() is None and time.monotonic() < deadline, process.stderr.read()
        time.sleep(0.02)
    process.send_signal(signal.SIGINT)
    _, words = process.communicate(timeout=30)
    assert process.returncode != 0 and "KeyboardInterrupt" in words
    curves = sorted((tmp_path / "stopped").glob("*/curve.csv"))
    assert any(path.read_text().count("\n") < 2001 for path in curves), "it had not ended"
    for out in ("stopped", "whole"):
        process = start(tmp_path / out)
        _, words = process.communicate(timeout=300)
        assert process.returncode == 0, words
    whole = {path.parent.name: path.read_bytes() for path in (tmp_path / "whole").glob("*/curve.csv")}
    assert len(whole) == 2
    for path in curves:
        assert path.read_bytes() == whole[path.parent.name]


def test_the_command_has_its_exit_codes():
    def code(*arguments):
        return subprocess.run([sys.executable, "-m", "evenkeel", *arguments], capture_output=True, check=False).returncode

    assert (code("--help"), code("list"), code("metrics", "nowhere.csv"), code("no-such-command")) == (0, 0, 2, 2)


def test_other_threads_go_on_while_rust_works(tmp_path):
    import threading

    ticks = []
    done = threading.Event()

    def tick():
        while not done.wait(0.01):
            ticks.append(time.monotonic())

    thread = threading.Thread(target=tick)
    thread.start()
    begin = time.monotonic()
    evenkeel.run("split-digits", optimizers="sgd", seeds=1, out=tmp_path, iterations=100, progress=False)
    took = time.monotonic() - begin
    done.set()
    thread.join()
    assert len(ticks) > 10 * took, f"{len(ticks)} ticks in {took:.1f} s"
