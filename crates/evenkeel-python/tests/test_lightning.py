"""evenkeel.lightning, with the real Lightning."""

import pytest

torch = pytest.importorskip("torch")
pl = pytest.importorskip("lightning.pytorch")

from torch import nn  # noqa: E402
from torch.nn.functional import cross_entropy  # noqa: E402
from torch.utils.data import DataLoader, TensorDataset  # noqa: E402

from evenkeel.lightning import ContinualEvaluationCallback  # noqa: E402
from evenkeel.torch import NGMSGD, Ema, EvenKeel, modulate  # noqa: E402

torch.set_num_threads(1)

pytestmark = pytest.mark.filterwarnings("ignore")


def data(task, size=32, seed=0):
    generator = torch.Generator().manual_seed(10 * seed + task)
    y = 2 * task + torch.randint(2, (size,), generator=generator)
    return 3 * nn.functional.one_hot(y, 4) + torch.randn(size, 4, generator=generator), y


class Classifier(pl.LightningModule):
    """Epoch k + 1 trains on the tasks 1 to k + 1."""

    def __init__(self, make=NGMSGD, observe=True):
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.Sequential(nn.Linear(4, 16), nn.BatchNorm1d(16), nn.Dropout(0.1), nn.ReLU(), nn.Linear(16, 4))
        self.gain = modulate(self.layers, r"4\.weight")
        self.make, self.observe, self.losses = make, observe, []

    def forward(self, x):
        return self.layers(x)

    def training_step(self, batch, _):
        logits = self(batch[0])
        if self.observe:
            self.gain.observe(logits, batch[1])
        loss = cross_entropy(logits, batch[1])
        self.losses.append(loss.item())
        return loss

    def train_dataloader(self):
        x, y = (torch.cat(part) for part in zip(*(data(task) for task in range(min(self.current_epoch, 1) + 1))))
        return DataLoader(TensorDataset(x, y), 8, shuffle=True)

    def configure_optimizers(self):
        return self.make(self.parameters(), 0.05, gain=self.gain)


def trainer(callback=None, epochs=2, **options):
    return pl.Trainer(
        max_epochs=epochs,
        accelerator="cpu",
        callbacks=[] if callback is None else [callback],
        reload_dataloaders_every_n_epochs=1,
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        **options,
    )


def tests():
    return [data(task, 50, seed=1) for task in range(2)]


def task(trainer):
    return min(trainer.current_epoch, 1) + 1


@pytest.mark.parametrize(("make", "observe"), [(NGMSGD, False), (NGMSGD, True), (EvenKeel, True)])
def test_every_step_evaluates_the_tasks_seen_so_far(make, observe):
    module, callback = Classifier(make, observe), ContinualEvaluationCallback(tests(), task)
    trainer(callback).fit(module)
    assert [(row.iteration, row.task) for row in callback.rows] == [(i, 1 if i <= 4 else 2) for i in range(1, 13)]
    for row, loss in zip(callback.rows, module.losses):
        assert (row.accuracies[1] is None) == (row.task == 1)
        assert row.gain >= 1 and row.entropy > 0 and row.train_loss == pytest.approx(loss)
    module.eval()
    x, y = tests()[1]
    right = 100 * (module(x).argmax(dim=1) == y).double().mean().item()
    assert callback.rows[-1].accuracies[1] == pytest.approx(right)


def test_evaluation_does_not_change_training():
    losses = []
    for callback in [None, ContinualEvaluationCallback(tests(), task)]:
        module = Classifier(EvenKeel)
        trainer(callback).fit(module)
        losses.append(module.losses)
    assert losses[0] == losses[1]


def test_a_task_can_be_set_between_two_fits():
    module, callback = Classifier(), ContinualEvaluationCallback(tests())
    trainer(callback, epochs=1).fit(module)
    callback.task = 2
    trainer(callback, epochs=1).fit(module)
    assert [(row.iteration, row.task) for row in callback.rows] == [(i, 1 if i <= 4 else 2) for i in range(1, 9)]


def test_accumulated_gradients_are_one_iteration():
    module, callback = Classifier(), ContinualEvaluationCallback(tests(), task)
    trainer(callback, accumulate_grad_batches=2).fit(module)
    assert [row.iteration for row in callback.rows] == list(range(1, 7))
    assert callback.rows[0].train_loss == pytest.approx(module.losses[1])


@pytest.mark.parametrize("make", [NGMSGD, EvenKeel])
def test_a_checkpoint_goes_on_bit_for_bit(make, tmp_path):
    def setup():
        module = Classifier(make)
        module.layers[2].p = 0.0
        return module, ContinualEvaluationCallback(tests(), task, ema=Ema(module.layers, 0.9))

    module, callback = setup()
    first = trainer(callback, epochs=2)
    first.fit(module)
    first.save_checkpoint(tmp_path / "here.ckpt")

    results = []
    for _ in range(2):
        module, callback = setup()
        torch.manual_seed(7)
        trainer(callback, epochs=4).fit(module, ckpt_path=tmp_path / "here.ckpt")
        assert callback.ema.updates == 28 and module.gain.classes == {0, 1, 2, 3}
        results.append((module.losses, callback.rows))
    assert results[0] == results[1]
    assert [row.iteration for row in results[0][1]] == list(range(13, 29))


def test_bfloat16_autocast():
    module, callback = Classifier(EvenKeel), ContinualEvaluationCallback(tests(), task)
    trainer(callback, precision="bf16-mixed").fit(module)
    assert callback.rows[-1].gain > 1 and module.gain.g.dtype == torch.float64
