"""Metrics and comparisons, in every form that curves come in."""

import subprocess
import sys
import time

import numpy as np
import pytest

import evenkeel
from evenkeel.curves import Curve

ACCURACY = [60.0, 80.0, 90.0, 45.0, 72.0, 88.0]


def noisy(seeds, dip, rows=20):
    """Curves of two tasks whose minimum lies `dip` below the end of the first."""
    curves = []
    for seed in range(seeds):
        draw = np.random.default_rng(seed)
        curve = 90 + draw.normal(0, 0.3, 2 * rows)
        curve[rows] = curve[rows - 1] - dip - seed
        curves.append(curve)
    return np.array(curves)


def test_a_curve_of_known_metrics():
    (m,) = evenkeel.metrics(ACCURACY, tasks=2)
    assert (m.avg_acc, m.avg_min_acc, m.avg_sg, m.wc_acc) == (89.0, 45.0, 0.5, 66.5)
    assert (m.ends, m.minima, m.minimum_iterations, m.sg) == ((90.0, 88.0), (45.0,), (4,), (0.5,))
    assert m.evaluated_every == 1


def test_every_form_gives_the_same(tmp_path):
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    pyarrow = pytest.importorskip("pyarrow")
    columns = {"iteration": [1, 2, 3, 4, 5, 6], "task": [1, 1, 1, 2, 2, 2], "task1_acc": ACCURACY}
    path = tmp_path / "mine-3.csv"
    pandas.DataFrame(columns).to_csv(path, index=False)
    forms = [
        columns,
        pandas.DataFrame(columns),
        polars.DataFrame(columns),
        pyarrow.table(columns),
        path,
        str(tmp_path / "mine-*.csv"),
        Curve.of(ACCURACY, tasks=2),
    ]
    expected = evenkeel.metrics(np.array(ACCURACY), task=[1, 1, 1, 2, 2, 2])[0]
    for form in forms:
        (m,) = evenkeel.metrics(form)
        assert (m.ends, m.minima, m.sg, m.quantities) == (expected.ends, expected.minima, expected.sg, expected.quantities)
    assert evenkeel.metrics(path)[0].seed == 3


def test_a_frame_is_parted_by_optimizer_and_seed():
    pandas = pytest.importorskip("pandas")
    part = pandas.DataFrame({"iteration": range(1, 7), "task": [1, 1, 1, 2, 2, 2], "task1_acc": ACCURACY, "acc_2": [np.nan] * 3 + [10.0, 50.0, 90.0]})
    frame = pandas.concat([part.assign(optimizer=name, seed=seed) for name in ("a", "b") for seed in (4, 7)])
    measured = evenkeel.metrics(frame)
    assert [(m.optimizer, m.seed) for m in measured] == [("a", 4), ("a", 7), ("b", 4), ("b", 7)]
    assert measured[0].quantities["newest task"] == 90.0


def test_results_as_frames_and_in_notebooks():
    pandas = pytest.importorskip("pandas")
    measured = evenkeel.metrics([ACCURACY, ACCURACY], tasks=2)
    assert list(measured.to_frame()["avg-SG"]) == [0.5, 0.5]
    assert "<td>0.500</td>" in measured._repr_html_()
    escaped = evenkeel.metrics(Curve.of(ACCURACY, tasks=2, optimizer="<script>"))._repr_html_()
    assert "<script>" not in escaped and "&lt;script&gt;" in escaped
    comparison = evenkeel.compare({"a": noisy(4, 2), "b": noisy(4, 30)}, tasks=2)
    assert isinstance(comparison.to_frame(), pandas.DataFrame) and list(comparison.to_frame()["seeds"]) == [4, 4]
    assert "smallest stability gap" in comparison._repr_html_()
    assert comparison.figures and comparison.figures[0]._repr_svg_().startswith("<svg")


def test_verdicts():
    comparison = evenkeel.compare({"shallow": noisy(5, 2), "deep": noisy(5, 30)}, tasks=2)
    (difference,) = comparison.differences
    assert (difference.reference, difference.against, difference.verdict, difference.paired) == ("shallow", "deep", "holds", True)
    assert difference.adjusted_p < 0.001 and difference.intervals["avg-SG"].ci95[1] < 0
    assert [rank.name for rank in comparison.ranking] == ["shallow", "deep"]
    assert "shallow has the smallest stability gap" in comparison.verdict and "shallow" in str(comparison)
    reversed_ = evenkeel.compare({"shallow": noisy(5, 2), "deep": noisy(5, 30)}, tasks=2, against="deep")
    assert reversed_.differences[0].verdict == "contradicted"
    unpaired = evenkeel.compare({"shallow": noisy(5, 2), "deep": noisy(5, 30)}, tasks=2, paired=False)
    assert not unpaired.differences[0].paired
    few = evenkeel.compare({"a": noisy(2, 2), "b": noisy(2, 30)}, tasks=2)
    assert few.differences[0].verdict == "not-tested"


def test_fractions():
    fractions = np.array(ACCURACY) / 100
    with pytest.raises(ValueError, match="no accuracy is above 1. If they lie between 0 and 1, say fraction=True"):
        evenkeel.metrics(fractions, tasks=2)
    assert evenkeel.metrics(fractions, tasks=2, fraction=True)[0].avg_acc == pytest.approx(89.0)
    with pytest.raises(ValueError, match="leave fraction=True away"):
        evenkeel.metrics(ACCURACY, tasks=2, fraction=True)


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda: evenkeel.metrics(ACCURACY), "rows are not so many tasks of equal length"),
        (lambda: evenkeel.metrics(ACCURACY, tasks=4), "rows are not so many tasks of equal length"),
        (lambda: evenkeel.metrics([101.0, 3.0], tasks=2), "task1_acc is 101, outside 0..=100"),
        (lambda: evenkeel.metrics([], tasks=2), "no curves|expected a row per iteration"),
        (lambda: evenkeel.metrics("nowhere.csv"), "nowhere.csv: no such file or folder"),
        (lambda: evenkeel.metrics({"iteration": [1]}), "the column task, task1_acc is missing"),
        (lambda: evenkeel.metrics(Curve.of(ACCURACY, task=[1, 1, 1, 2, 2])), "every column needs a value"),
        (lambda: evenkeel.metrics(Curve.of(ACCURACY, task=[1, 1, 1, 3, 3, 3])), "task 3 cannot follow task 1"),
        (lambda: evenkeel.metrics(Curve.of(ACCURACY, tasks=2, iteration=[1, 2, 2, 3, 4, 5])), "iteration 2 does not come after 2"),
        (lambda: evenkeel.metrics(object()), "not curves"),
        (lambda: evenkeel.compare({}), "nothing to compare"),
        (lambda: evenkeel.compare({"a": [ACCURACY]}, tasks=2, against="z"), "no such optimizer"),
        (lambda: evenkeel.compare(runs="nowhere"), "nowhere: no such folder"),
        (lambda: evenkeel.load("nowhere"), "nowhere: no such folder"),
    ],
)
def test_bad_arguments_say_why(call, reason):
    with pytest.raises(ValueError, match=reason):
        call()


def test_a_hundred_curves_are_measured_in_fifty_milliseconds():
    """A limit with room: it takes a few milliseconds on an idle machine."""
    curves = 90 + np.random.default_rng(0).normal(0, 1, (100, 2000))
    curves = [Curve.of(curve, tasks=5) for curve in np.clip(curves, 0, 100)]
    evenkeel.metrics(curves)
    times = []
    for _ in range(20):
        begin = time.perf_counter()
        assert len(evenkeel.metrics(curves)) == 100
        times.append(time.perf_counter() - begin)
    assert min(times) < 0.05, times


def test_the_import_needs_neither_numpy_nor_torch():
    code = "import sys, evenkeel; assert not {'numpy', 'torch', 'pandas'} & set(sys.modules); evenkeel.__version__; dir(evenkeel)"
    subprocess.run([sys.executable, "-c", code], check=True)
