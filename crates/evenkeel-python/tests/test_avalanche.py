"""evenkeel.avalanche, with the real Avalanche."""

import pytest

torch = pytest.importorskip("torch")
pytest.importorskip("avalanche")

from avalanche.benchmarks import benchmark_from_datasets  # noqa: E402
from avalanche.benchmarks.utils import DataAttribute, make_avalanche_dataset  # noqa: E402
from avalanche.training.supervised import Cumulative, Naive  # noqa: E402
from torch import nn  # noqa: E402

from evenkeel.avalanche import ContinualEvaluationPlugin  # noqa: E402
from evenkeel.torch import NGMSGD, Ema, EvenKeel, modulate  # noqa: E402

torch.set_num_threads(1)

TASKS, CLASSES = 3, 6


class Log:
    """A recorder that keeps what it is given."""

    def __init__(self):
        self.rows = []

    def log(self, iteration, task, accuracies, loss=None, *, train_loss=None, gain=None, entropy=None, seen=None):
        self.rows.append((iteration, task, accuracies, loss, train_loss, gain, entropy, seen))


def dataset(task, size, seed):
    generator = torch.Generator().manual_seed(100 * seed + task)
    y = 2 * task + torch.randint(2, (size,), generator=generator)
    x = 3 * nn.functional.one_hot(y, CLASSES) + torch.randn(size, CLASSES, generator=generator)
    attributes = [
        DataAttribute(y.tolist(), "targets"),
        DataAttribute([0] * size, "targets_task_labels", use_in_getitem=True),
    ]
    return make_avalanche_dataset(torch.utils.data.TensorDataset(x, y), data_attributes=attributes)


def benchmark():
    train = [dataset(task, 32, seed=1) for task in range(TASKS)]
    return benchmark_from_datasets(train=train, test=[dataset(task, 50, seed=2) for task in range(TASKS)])


def trained(make, strategy=Cumulative, evaluated=True, decay=None, epochs=2, **options):
    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(CLASSES, 16), nn.BatchNorm1d(16), nn.ReLU(), nn.Linear(16, CLASSES))
    gain = modulate(model, r"3\.weight")
    ema = None if decay is None else Ema(model, decay)
    streams = benchmark().streams
    plugin = ContinualEvaluationPlugin(streams["test"] if evaluated else [], gain=gain, ema=ema, **options)
    if not evaluated:
        plugin.after_training_iteration = lambda *_, **__: None
    strategy = strategy(
        model=model,
        optimizer=make(model.parameters(), 0.05, gain=gain),
        criterion=nn.CrossEntropyLoss(),
        train_mb_size=8,
        train_epochs=epochs,
        plugins=[plugin],
        evaluator=None,
    )
    for experience in streams["train"]:
        strategy.train(experience)
    return model, gain, plugin, ema


@pytest.mark.parametrize("make", [NGMSGD, EvenKeel])
def test_every_iteration_evaluates_the_experiences_seen_so_far(make):
    log = Log()
    # EvenKeel moves a layer by at most a fortieth of its norm per step: it takes more than two epochs of so few batches to learn.
    model, gain, plugin, _ = trained(make, recorder=log, epochs=6)
    # 4, 8 and 12 batches of 8, six times.
    assert [row.task for row in plugin.rows] == [1] * 24 + [2] * 48 + [3] * 72
    assert [row.iteration for row in plugin.rows] == list(range(1, 145))
    for row in plugin.rows:
        assert [accuracy is not None for accuracy in row.accuracies] == [task < row.task for task in range(TASKS)]
        assert row.gain >= 1 and row.entropy > 0 and row.train_loss > 0 and row.loss > 0
    assert plugin.rows[-1].seen > 80
    assert log.rows == [tuple(row) for row in plugin.rows]
    assert gain.classes == set(range(CLASSES))
    # The last row is what the model gives now.
    model.eval()
    x, y = plugin.evaluation.loaders[1]
    right = 100 * (model(x).argmax(dim=1) == y).double().mean().item()
    assert plugin.rows[-1].accuracies[1] == pytest.approx(right)


def test_evaluation_does_not_change_training():
    results = []
    for evaluated in [False, True]:
        model, gain, plugin, _ = trained(EvenKeel, evaluated=evaluated)
        results.append((gain.value, [value.tolist() for value in model.state_dict().values()]))
        assert bool(plugin.rows) == evaluated
    assert results[0] == results[1]


def test_test_sets_read_each_time_give_the_same_rows():
    kept, read = (trained(NGMSGD, in_memory=in_memory, every=5)[2].rows for in_memory in (True, False))
    assert len(kept) == 9 and kept == read


def test_the_average_is_updated_and_evaluated():
    model, _, plugin, ema = trained(EvenKeel, decay=0.9)
    assert ema.updates == 48
    ema.module.eval()
    x, y = plugin.evaluation.loaders[0]
    right = 100 * (ema.module(x).argmax(dim=1) == y).double().mean().item()
    assert plugin.rows[-1].accuracies[0] == pytest.approx(right)


def test_fine_tuning_forgets_and_the_rows_show_it():
    _, _, plugin, _ = trained(NGMSGD, strategy=Naive)
    first = [row.accuracies[0] for row in plugin.rows]
    assert first[7] > 80 and min(first[8:]) < 40
