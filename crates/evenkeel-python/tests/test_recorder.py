"""The recorder: crash-safe, resumable, one of ours for every command."""

import json
import os
import signal
import subprocess
import sys
import textwrap
import time

import pytest

import evenkeel

EVENKEEL = [sys.executable, "-m", "evenkeel"]


def accuracy(iteration, seed=0):
    return 50.0 + seed if iteration == 11 else 90.0


def record(folder, optimizer, seed, begin=1, end=20, **options):
    with evenkeel.Recorder(folder, optimizer, seed, tasks=2, **options) as recorder:
        for i in range(begin, end + 1):
            recorder.log(i, 1 if i <= 10 else 2, [accuracy(i, seed), None if i <= 10 else 40.0 + i], loss=0.5, gain=1.25, seen=70.0)
    return recorder


def command(*arguments):
    return subprocess.run([*EVENKEEL, *map(str, arguments)], capture_output=True, text=True, check=False)


def test_a_recording_is_one_of_ours_for_every_command(tmp_path):
    runs = tmp_path / "runs"
    for name, seeds in (("mine", range(3)), ("other", range(3))):
        for seed in seeds:
            record(runs, name, seed, benchmark="my stream", iterations=10)
    told = json.loads(command("metrics", runs, "--json").stdout)
    assert [(row["optimizer"], row["benchmark"], row["seeds"]) for row in told["rows"]] == [("mine", "my stream", [0, 1, 2]), ("other", "my stream", [0, 1, 2])]
    assert told["comparisons"][0]["paired"]
    status = command("status", runs)
    assert status.returncode == 0 and "6 of 6 runs ended" in status.stdout, status.stdout + status.stderr
    page = tmp_path / "page.html"
    assert command("report", runs, "-o", page).returncode == 0
    text = page.read_text()
    assert "recorded by another program" in text and "my stream" in text and "batches of" not in text
    assert command("work", runs).returncode == 0, "there is nothing to do"
    loaded = evenkeel.load(runs)
    assert len(loaded.frame) == 6 * 20 and loaded.metrics[0].quantities["newest task"] == 60.0


def test_an_exception_leaves_it_unfinished_and_resume_goes_on(tmp_path):
    with pytest.raises(KeyError):
        with evenkeel.Recorder(tmp_path, "mine", tasks=2) as recorder:
            for i in range(1, 8):
                recorder.log(i, 1, [accuracy(i)])
            raise KeyError
    assert "unfinished" in command("metrics", tmp_path).stdout + command("metrics", tmp_path).stderr
    with evenkeel.Recorder(tmp_path, "mine", tasks=2, resume=5) as recorder:
        assert recorder.iteration == 5
        for i in range(6, 21):
            recorder.log(i, 1 if i <= 10 else 2, [accuracy(i)])
    assert len(evenkeel.load(tmp_path).frame) == 20
    with pytest.raises(ValueError, match="this run has ended"):
        evenkeel.Recorder(tmp_path, "mine", tasks=2)


def test_without_resume_an_unfinished_run_begins_again(tmp_path):
    recorder = evenkeel.Recorder(tmp_path, "mine", tasks=2)
    recorder.log(1, 1, [50.0])
    recorder.leave()
    assert evenkeel.Recorder(tmp_path, "mine", tasks=2).iteration == 0


def test_a_killed_recorder_loses_no_complete_row(tmp_path):
    script = textwrap.dedent(
        """
        import sys, evenkeel
        recorder = evenkeel.Recorder(sys.argv[1], "mine", tasks=1)
        for i in range(1, 10**7):
            recorder.log(i, 1, [50.0])
            sys.stdout.write(f"{i}\\n") if i % 1000 == 0 else None
            sys.stdout.flush() if i % 1000 == 0 else None
        """
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    said = 0
    for line in process.stdout:
        said = int(line)
        if said >= 20_000:
            process.send_signal(signal.SIGKILL)
            break
    process.wait()
    recorder = evenkeel.Recorder(tmp_path, "mine", tasks=1, resume=True)
    assert recorder.iteration >= said
    kept = recorder.iteration
    recorder.log(kept + 1, 1, [50.0])
    recorder.close()
    assert len(evenkeel.load(tmp_path).frame) == kept + 1


def test_only_one_process_records_a_run(tmp_path):
    recorder = evenkeel.Recorder(tmp_path, "mine")
    with pytest.raises(OSError, match="another process works on this run"):
        evenkeel.Recorder(tmp_path, "mine")
    recorder.leave()
    evenkeel.Recorder(tmp_path, "mine").leave()


def test_a_run_that_diverged_counts_as_the_worst(tmp_path):
    record(tmp_path, "mine", 0)
    with evenkeel.Recorder(tmp_path, "mine", 1, tasks=2) as recorder:
        recorder.log(1, 1, [10.0])
        recorder.diverged("nan")
    row = evenkeel.load(tmp_path).summary["rows"][0]
    assert (row["seeds"], row["diverged"], row["per_seed"]["avg-SG"]["mean"]) == ([0, 1], [1], pytest.approx((1 + 40 / 90) / 2))


def test_a_changed_curve_is_named_and_not_counted(tmp_path):
    curve = record(tmp_path, "mine", 0).folder / "curve.csv"
    curve.write_text(curve.read_text().replace("90", "95", 1))
    assert evenkeel.load(tmp_path).problems and not evenkeel.load(tmp_path).summary["rows"]
    assert command("metrics", tmp_path).returncode == 1


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ((3, 1, [50.0]), "iteration 3 does not come after 3"),
        ((4, 3, [50.0]), "task 3 cannot follow task 1"),
        ((4, 1, [150.0]), "task1_acc is 150, outside 0..=100"),
        ((4, 1, [50.0, 30.0, 20.0]), "accuracies of 3 tasks in a recording of 2; give the Recorder tasks=3"),
        ((4, 1, []), "that on task 1 is needed"),
        ((4, 1, [None]), "that on task 1 is needed"),
    ],
)
def test_a_row_that_cannot_be_is_refused_and_nothing_is_written(tmp_path, row, reason):
    recorder = evenkeel.Recorder(tmp_path, "mine", tasks=2)
    recorder.log(3, 1, [50.0])
    with pytest.raises(ValueError, match=reason):
        recorder.log(*row)
    recorder.log(4, 2, [50.0])
    recorder.close()
    assert len(evenkeel.load(tmp_path).frame) == 2
    with pytest.raises(RuntimeError, match="closed"):
        recorder.log(5, 2, [50.0])


@pytest.mark.parametrize(("options", "reason"), [({"optimizer": "../x"}, "not a name for a folder"), ({"tasks": 0}, "tasks from 1"), ({"seed": -1}, "the others from 0")])
def test_bad_descriptions_say_why(tmp_path, options, reason):
    with pytest.raises(ValueError, match=reason):
        evenkeel.Recorder(tmp_path, **{"optimizer": "mine", **options})
    assert os.listdir(tmp_path) == []


def test_a_million_rows_in_twenty_seconds(tmp_path):
    recorder = evenkeel.Recorder(tmp_path, "mine", tasks=5)
    begin = time.perf_counter()
    for i in range(1, 1_000_001):
        recorder.log(i, 1, [97.125, 12.5], 0.25, gain=1.0625)
    seconds = time.perf_counter() - begin
    recorder.leave()
    assert seconds < 20, f"{seconds:.1f} s"
