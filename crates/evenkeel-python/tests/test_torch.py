"""evenkeel.torch: the gain, the optimizers, the average and the evaluation."""

import copy
import doctest
import importlib
import math
import pkgutil
import random
import shutil
import threading

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from torch import nn  # noqa: E402
from torch.nn.functional import cross_entropy  # noqa: E402
from torch.nn.utils import parametrize  # noqa: E402

import evenkeel.torch  # noqa: E402
from evenkeel.torch import NGMSGD, Ema, EvenKeel, Gain, continual_evaluation, entropy, modulate  # noqa: E402

torch.set_num_threads(1)

OPTIMIZERS = [NGMSGD, EvenKeel]


class Network(nn.Module):
    """A backbone with BatchNorm under no gain, and a head of two layers under one."""

    def __init__(self):
        super().__init__()
        self.backbone = nn.Linear(6, 16)
        self.norm = nn.BatchNorm1d(16)
        self.head1 = nn.Linear(16, 8)
        self.head2 = nn.Linear(8, 4)

    def forward(self, x):
        return self.head2(torch.relu(self.head1(torch.relu(self.norm(self.backbone(x))))))


def network(seed=0):
    torch.manual_seed(seed)
    return Network()


def batches(steps, seed=1, size=10):
    generator = torch.Generator().manual_seed(seed)
    teacher = torch.randn(6, 4, generator=generator)
    for _ in range(steps):
        x = torch.randn(size, 6, generator=generator)
        yield x, (x @ teacher).argmax(dim=1)


def train(model, gain, optimizer, data, ema=None, after=lambda loss: None):
    losses = []
    for x, y in data:
        optimizer.zero_grad()
        logits = model(x)
        gain.observe(logits, y)
        loss = cross_entropy(logits, y)
        loss.backward()
        optimizer.step()
        if ema is not None:
            ema.update()
        losses.append(loss.item())
        after(loss)
    return losses


def one_step(model, optimizer, x=None):
    x = torch.ones(3, 6) if x is None else x
    model(x).square().mean().backward()
    optimizer.step()


def close(left, right, tolerance=1e-5):
    return np.allclose(left, right, rtol=tolerance, atol=tolerance * np.abs(right).max())


# The equations


class Mlp(nn.Module):
    """Layers without biases, ReLU between them."""

    def __init__(self, weights):
        super().__init__()
        self.layers = nn.ModuleList(nn.Linear(*w.shape, bias=False) for w in weights)
        with torch.no_grad():
            for layer, w in zip(self.layers, weights):
                layer.weight = nn.Parameter(torch.tensor(w.T.copy()))

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.relu(layer(x))
        return self.layers[-1](x)

    def base_weights(self):
        return [w.detach().numpy().T.copy() for w in self.parameters()]


def stream(dtype, steps=50, batch=16, sizes=(12, 10, 8, 5)):
    rng = np.random.default_rng(3)
    weights = [(rng.standard_normal(shape) * 0.3).astype(dtype) for shape in zip(sizes, sizes[1:])]
    x = rng.standard_normal((steps, batch, sizes[0])).astype(dtype)
    teacher = rng.standard_normal((sizes[0], sizes[-1]))
    # The classes come one after the other, as in a stream of tasks.
    shown = np.minimum(2 + np.arange(steps) // 10, sizes[-1])
    y = np.stack([(x[t] @ teacher)[:, : shown[t]].argmax(axis=1) for t in range(steps)]).astype(np.int64)
    return weights, x, y


def naive(weights, x, y, next_gain, lr, modulated=lambda layer: True, rate=lambda lr, g, w, d: lr, decay=0.9):
    """Training in plain NumPy, with backpropagation by hand."""
    weights, g, classes = [w.astype(np.float64) for w in weights], 1.0, set()
    average, losses, gains = None, [], []
    for t, (inputs, labels) in enumerate(zip(x, y)):
        classes.update(labels.tolist())
        factors = [g if modulated(layer) else 1.0 for layer in range(len(weights))]
        activations = [inputs]
        for layer, w in enumerate(weights):
            z = activations[-1] @ (factors[layer] * w)
            activations.append(np.maximum(z, 0) if layer + 1 < len(weights) else z)
        z = activations.pop()
        p = np.exp(z - z.max(axis=1, keepdims=True))
        p /= p.sum(axis=1, keepdims=True)
        n = len(labels)
        loss = -np.log(p[np.arange(n), labels]).mean()
        h = -(p * np.log(p)).sum(axis=1).mean()
        d = p.copy()
        d[np.arange(n), labels] -= 1
        d /= n
        gradients = []
        for layer in reversed(range(len(weights))):
            gradients.insert(0, factors[layer] * activations[layer].T @ d)
            d = (d @ (factors[layer] * weights[layer]).T) * (activations[layer] > 0)
        weights = [w - rate(lr, g, w, grad) * grad for w, grad in zip(weights, gradients)]
        g = next_gain(g, h, loss, len(classes))
        share = min(1 - 1 / (t + 1), decay)
        average = [share * old + (1 - share) * new for old, new in zip(average or weights, weights)]
        losses.append(loss)
        gains.append(g)
    return losses, gains, weights, average


def ngm_gain(g, h, loss, classes, gamma=0.9, eta=0.4, g0=1.0):
    return gamma * g + (1 - gamma) * g0 + eta * h


def even_keel_gain(g, h, loss, classes, gamma=0.9, ceiling=3.0, half=0.1, p=1.0):
    x = min(1, h / loss) ** p * h / math.log(max(2, classes))
    return g**gamma * (1 + (ceiling - 1) * x / (x + half)) ** (1 - gamma)


def even_keel_rate(lr, g, w, d, trust=0.025):
    size = max(np.linalg.norm(w), 1e-3 * math.sqrt(w.size))
    return min(lr / g, trust * size / np.linalg.norm(d))


def trained_here(weights, x, y, make, pattern="weight", decay=0.9):
    model = Mlp(weights)
    gain = modulate(model, pattern) if pattern else Gain()
    optimizer, ema, gains = make(model, gain), Ema(model, decay), []
    data = zip(torch.tensor(x), torch.tensor(y))
    losses = train(model, gain, optimizer, data, ema, after=lambda _: gains.append(gain.value))
    average = [w.numpy().T for w in ema.module.parameters()]
    return losses, gains, model.base_weights(), average


@pytest.mark.parametrize(
    ("make", "lr", "rules", "pattern", "modulated"),
    [
        (NGMSGD, 0.02, (ngm_gain, lambda lr, g, w, d: lr), "weight", lambda layer: True),
        (EvenKeel, 0.2, (even_keel_gain, even_keel_rate), "weight", lambda layer: True),
        (EvenKeel, 5.0, (even_keel_gain, even_keel_rate), "weight", lambda layer: True),
        (EvenKeel, 0.2, (even_keel_gain, even_keel_rate), "2.weight", lambda layer: layer == 2),
    ],
    ids=["ngm-sgd", "even-keel", "even-keel with bounded steps", "even-keel with a backbone"],
)
def test_training_follows_the_equations(make, lr, rules, pattern, modulated):
    weights, x, y = stream(np.float64)
    here = trained_here(weights, x, y, lambda m, g: make(m.parameters(), lr, gain=g), pattern)
    losses, gains, final, average = naive(weights, x, y, rules[0], lr, modulated, rules[1])
    assert close(here[0], losses, 1e-10) and close(here[1], gains, 1e-10)
    assert all(close(*pair, 1e-10) for pair in zip(here[2] + here[3], final + average))


@pytest.mark.parametrize(
    ("name", "parameters", "make", "pattern", "decay"),
    [
        (
            "ngm-sgd",
            {"lr": 0.02, "gamma": 0.9, "eta": 0.4, "g0": 1.0},
            lambda m, g, p: NGMSGD(m.parameters(), gain=g, **p),
            "weight",
            0.0,
        ),
        (
            "even-keel",
            {"lr": 0.2, "gamma": 0.9, "ceiling": 4.0, "half": 0.1, "calibration": 1.0, "trust": 0.05},
            lambda m, g, p: EvenKeel(m.parameters(), gain=g, **p),
            "weight",
            0.9,
        ),
        ("ema-sgd", {"lr": 0.1}, lambda m, g, p: torch.optim.SGD(m.parameters(), **p), None, 0.99),
    ],
)
def test_training_is_that_of_the_rust_library(name, parameters, make, pattern, decay):
    rust = pytest.importorskip("evenkeel._evenkeel")
    if not hasattr(rust, "train_mlp"):
        pytest.skip("this build has no train_mlp")
    weights, x, y = stream(np.float32)
    there = rust.train_mlp(weights, x, y, name, [f"{key}={value}" for key, value in parameters.items()])
    losses, gains, final, average = trained_here(weights, x, y, lambda m, g: make(m, g, parameters), pattern, decay)
    assert len(there["loss"]) == 50 and close(losses, there["loss"])
    assert all(close(*pair) for pair in zip(final, there["weights"], strict=True))
    assert all(close(*pair) for pair in zip(average, there["evaluated"], strict=True))
    if pattern:
        assert close(gains, there["gain"])
    else:
        assert there["gain"] is None or set(there["gain"]) <= {None, 1.0}


def test_momentum_is_that_of_pytorch():
    results = []
    for make in [
        lambda p, g: torch.optim.SGD(p, 0.1, momentum=0.9),
        lambda p, g: NGMSGD(p, 0.1, gain=g, eta=0.0, momentum=0.9),
    ]:
        model = network()
        gain = modulate(model, "head.*weight")
        train(model, gain, make(model.parameters(), gain), batches(20))
        results.append([p.clone() for p in model.parameters()])
    assert all(torch.equal(a, b) for a, b in zip(*results))


def test_the_gradient_of_a_base_weight_is_g_times_that_of_the_weight():
    model, x = network().eval(), torch.randn(5, 6)
    model(x).square().sum().backward()
    plain = model.head2.weight.grad
    gain = modulate(model, "head2.weight")
    gain.set(2.5)
    with torch.no_grad():
        model.head2.parametrizations.weight.original.div_(2.5)
    model.zero_grad()
    model(x).square().sum().backward()
    assert torch.allclose(model.head2.parametrizations.weight.original.grad, 2.5 * plain)


# The gain is one


def gains_of(model):
    return {id(module) for module in model.modules() if isinstance(module, Gain)}


def test_copies_moves_and_loads_keep_one_gain():
    model = network()
    gain = modulate(model, "head.*weight")
    gain.set(1.68)

    twin = copy.deepcopy(model)
    assert len(gains_of(twin)) == 1 and gains_of(twin) != gains_of(model)
    copied = next(module for module in twin.modules() if isinstance(module, Gain))
    assert copied.value == 1.68
    copied.set(2.0)
    assert gain.value == 1.68
    # The hook of the copy tells the gain of the copy, and its weights are those of the copy.
    twin(torch.ones(2, 6))
    assert copied.take().entropy > 0
    with pytest.raises(RuntimeError, match="no finite output"):
        gain.take()
    assert {id(w) for w in copied.weights()} <= {id(w) for w in twin.parameters()}

    for moved in [model.to(torch.bfloat16), model.half(), model.to("cpu"), model.float(), model.double()]:
        assert len(gains_of(moved)) == 1
        assert gain.g.dtype == torch.float64 and gain.value == 1.68
    model.float()

    for assign in [False, True]:
        fresh = network(seed=5)
        loaded = modulate(fresh, "head.*weight")
        fresh.load_state_dict(copy.deepcopy(model.state_dict()), assign=assign)
        assert len(gains_of(fresh)) == 1 and loaded.value == 1.68
        loaded.set(3.0)
        values = [value for name, value in fresh.state_dict().items() if name.endswith("gain.g")]
        assert len(values) == 2 and all(value == 3.0 for value in values)
        assert {id(w) for w in loaded.weights()} <= {id(w) for w in fresh.parameters()}
        assert gain.value == 1.68

    meta = modulate(nn.Linear(2, 2, device="meta"), "weight")
    assert meta.g.device.type == "meta"


def test_a_state_dict_without_the_gain_is_refused():
    model = network()
    plain = model.state_dict()
    modulate(model, "head.*weight")
    with pytest.raises(RuntimeError, match="gain.g"):
        model.load_state_dict(plain)


def test_a_gain_can_be_worked_into_the_weights():
    model, x = network().eval(), torch.randn(5, 6)
    modulate(model, "head2.weight").set(2.0)
    before = model(x)
    parametrize.remove_parametrizations(model.head2, "weight")
    assert torch.equal(model(x), before) and set(model.state_dict()) == set(network().state_dict())


def test_two_groups_of_layers_can_have_a_gain_each_or_share_one():
    model = network()
    first = modulate(model, "head1.weight")
    second = modulate(model, "head2.weight")
    assert first is not second and len(gains_of(model)) == 2
    shared = network()
    one = modulate(shared, "head1.weight")
    assert modulate(shared, "head2.weight", one) is one
    assert len(gains_of(shared)) == 1 and len(one.weights()) == 2 and len(shared._forward_hooks) == 1


# What is refused


def test_patterns_that_put_nothing_under_a_gain_are_refused():
    model = network()
    with pytest.raises(ValueError, match=r"no weight of rank 2 or more has a path that matches 'fc7'"):
        modulate(model, "fc7")
    with pytest.raises(ValueError, match=r"no weight of rank 2 or more has a path that matches 'bias|norm'"):
        modulate(model, "bias|norm")
    with pytest.raises(ValueError, match="'\\(' is not a regular expression"):
        modulate(model, "(")
    model.head2.requires_grad_(False)
    with pytest.raises(ValueError, match="no weight whose path matches 'head2' requires gradients"):
        modulate(model, "head2")
    modulate(model, "head1")
    before = list(model.state_dict())
    with pytest.raises(ValueError, match="'head1.weight' is already under a gain"):
        modulate(model, "weight")
    assert list(model.state_dict()) == before


@pytest.mark.parametrize(
    ("optimizer", "bad", "text"),
    [
        (NGMSGD, {"gamma": 1.0}, r"gamma must be in \[0, 1\), got 1$"),
        (NGMSGD, {"gamma": math.nan}, r"gamma must be in \[0, 1\), got nan"),
        (NGMSGD, {"eta": -0.5}, "eta must be a finite number >= 0, got -0.5"),
        (NGMSGD, {"eta": math.inf}, "eta must be a finite number >= 0, got inf"),
        (NGMSGD, {"g0": 0.5}, "g0 must be a finite number >= 1, got 0.5"),
        (NGMSGD, {"lr": -1.0}, "lr must be a finite number >= 0, got -1"),
        (NGMSGD, {"momentum": 1.0}, r"momentum must be in \[0, 1\), got 1"),
        (EvenKeel, {"gamma": -0.1}, r"gamma must be in \[0, 1\), got -0.1"),
        (EvenKeel, {"ceiling": 0.9}, "ceiling must be >= 1, got 0.9"),
        (EvenKeel, {"half": 0.0}, "half must be > 0, got 0"),
        (EvenKeel, {"calibration": -1}, "calibration must be a finite number >= 0, got -1"),
        (EvenKeel, {"trust": math.nan}, "trust must be > 0, got nan"),
        (EvenKeel, {"lr": math.inf}, "lr must be a finite number >= 0, got inf"),
        (EvenKeel, {"gain": 1.0}, "gain must be the Gain"),
        (EvenKeel, {"gain": Gain()}, "none of the parameters is under the gain"),
    ],
)
def test_bad_parameters_are_named(optimizer, bad, text):
    model = network()
    arguments = {"gain": modulate(model, "head.*weight"), **bad}
    with pytest.raises(ValueError, match=text):
        optimizer(model.parameters(), **arguments)


def test_bad_parameters_of_a_group_are_named():
    model = network()
    gain = modulate(model, "head.*weight")
    with pytest.raises(ValueError, match="momentum must be in"):
        NGMSGD([{"params": model.parameters(), "momentum": 2.0}], gain=gain)


def test_other_arguments_that_make_no_sense_are_refused():
    gain = Gain()
    with pytest.raises(ValueError, match=r"logits must be a float tensor \[examples, classes\]"):
        gain.observe(torch.zeros(3))
    with pytest.raises(ValueError, match="2 classes or more"):
        gain.observe(torch.zeros(3, 1))
    with pytest.raises(ValueError, match="targets must be 3 class numbers"):
        gain.observe(torch.zeros(3, 2), torch.zeros(2, dtype=torch.long))
    with pytest.raises(ValueError, match="targets must be 3 class numbers"):
        gain.observe(torch.zeros(3, 2), torch.zeros(3))
    with pytest.raises(ValueError, match=r"decay must be in \[0, 1\), got 1"):
        Ema(network(), 1.0)
    with pytest.raises(ValueError, match="no parameter of the model requires gradients"):
        Ema(network().requires_grad_(False))
    with pytest.raises(ValueError, match="every must be >= 1, got 0"):
        continual_evaluation(network(), [], every=0)
    with pytest.raises(ValueError, match=r"task must be in 1..0"):
        continual_evaluation(network(), []).after_step(1)


def test_a_step_without_an_observation_says_what_to_do_and_moves_nothing():
    model = network()
    gain = modulate(model, "head.*weight")
    for make, text in [(NGMSGD, r"gain.observe\(logits\)"), (EvenKeel, r"gain.observe\(logits, targets\)")]:
        optimizer = make(model.parameters(), gain=gain)
        if make is EvenKeel:
            model(torch.ones(3, 6))
        for parameter in model.parameters():
            parameter.grad = torch.ones_like(parameter)
        before = copy.deepcopy(model.state_dict())
        with pytest.raises(RuntimeError, match=text):
            optimizer.step()
        assert all(torch.equal(a, b) for a, b in zip(model.state_dict().values(), before.values()))


# What is observed


def test_the_entropy_is_that_of_the_definition():
    logits = torch.randn(100, 7) * 5
    p = torch.softmax(logits.double(), dim=1)
    assert torch.allclose(entropy(logits), -(p * p.log()).sum(dim=1))
    assert entropy(torch.full((1, 3), torch.inf)).isnan().all()


def test_the_hook_counts_examples_in_training_with_gradients_only():
    model = network()
    gain = modulate(model, "head.*weight")
    x = torch.randn(9, 6)
    with torch.no_grad():
        model(x)
    model.eval()
    model(x)
    with pytest.raises(RuntimeError):
        gain.take()
    model.train()
    # Parts of different size, as the last batch of accumulated gradients may be.
    outputs = torch.cat([model(x[:7]), model(x[7:])])
    assert abs(gain.take().entropy - entropy(outputs).mean().item()) < 1e-12


def test_what_is_told_replaces_what_the_hook_saw():
    model = network()
    gain = modulate(model, "head.*weight")
    model(torch.randn(9, 6))
    gain.observe(torch.zeros(2, 3))
    gain.observe(torch.zeros(6, 2), loss=torch.tensor(0.25))
    seen = gain.take()
    assert abs(seen.entropy - (2 * math.log(3) + 6 * math.log(2)) / 8) < 1e-12 and seen.loss == 0.25
    assert gain.entropy == seen.entropy
    # The next step begins anew.
    logits = model(torch.randn(4, 6))
    assert abs(gain.take().entropy - entropy(logits).mean().item()) < 1e-12


def test_classes_add_up_and_negative_ones_are_left_out():
    gain, logits = Gain(), torch.randn(4, 5)
    gain.observe(logits, torch.tensor([3, 3, -100, 1]))
    seen = gain.take()
    assert abs(seen.loss - cross_entropy(logits[[0, 1, 3]].double(), torch.tensor([3, 3, 1])).item()) < 1e-12
    assert abs(seen.entropy - entropy(logits[[0, 1, 3]]).mean().item()) < 1e-12
    gain.observe(logits, torch.tensor([0, 0, 0, 1], dtype=torch.uint8))
    assert gain.classes == {0, 1, 3}


def test_outputs_that_are_not_finite_are_not_counted():
    gain = Gain()
    gain.observe(torch.tensor([[0.0, 0.0], [torch.nan, 0.0]]))
    assert gain.take().entropy == pytest.approx(math.log(2))
    gain.observe(torch.full((2, 2), torch.nan))
    with pytest.raises(RuntimeError, match="no finite output"):
        gain.take()


def test_threads_count_together():
    model = network().requires_grad_()
    gain = modulate(model, "head.*weight")
    model.norm.eval()
    x = torch.randn(8, 6)
    threads = [threading.Thread(target=lambda: [model(x) for _ in range(25)]) for _ in range(8)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
    assert gain._totals[0, 1] == 8 * 25 * 8


def test_data_parallel_counts_and_shares_the_gain():
    model = network()
    gain = modulate(model, "head.*weight")
    parallel = nn.DataParallel(model)
    optimizer = NGMSGD(parallel.parameters(), gain=gain)
    one_step(parallel, optimizer)
    assert gain.value > 1 and len(gains_of(parallel)) == 1
    # Replicas are shallow copies with tensors of their own: what they see reaches the gain of the model.
    replica = model._replicate_for_data_parallel()
    replica.training = True
    replica(torch.ones(3, 6))
    assert gain.take().entropy > 0


# As any optimizer


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_saved_and_loaded_it_goes_on_bit_for_bit(make, tmp_path):
    def setup(seed):
        model = network(seed)
        gain = modulate(model, "head.*weight")
        groups = [{"params": model.parameters()}]
        if make is NGMSGD:
            heads = [*model.head1.parameters(), *model.head2.parameters()]
            rest = [*model.backbone.parameters(), *model.norm.parameters()]
            groups = [{"params": heads}, {"params": rest, "momentum": 0.9}]
        return model, gain, make(groups, 0.05, gain=gain), Ema(model, 0.9)

    data = list(batches(50))
    model, gain, optimizer, ema = setup(seed=0)
    train(model, gain, optimizer, data[:30], ema)
    parts = {"model": model, "optimizer": optimizer, "ema": ema}
    torch.save({name: part.state_dict() for name, part in parts.items()}, tmp_path / "checkpoint.pt")
    expected = train(model, gain, optimizer, data[30:], ema)

    again, other, resumed, average = setup(seed=7)
    saved = torch.load(tmp_path / "checkpoint.pt")
    for name, part in {"model": again, "optimizer": resumed, "ema": average}.items():
        part.load_state_dict(saved[name])
    assert other.value > 1 and average.updates == 30
    assert train(again, other, resumed, data[30:], average) == expected
    assert other.value == gain.value and other.classes == gain.classes
    for left, right in [(model, again), (ema.module, average.module)]:
        assert all(torch.equal(a, b) for a, b in zip(left.state_dict().values(), right.state_dict().values()))


def test_the_gain_of_loaded_weights_survives_a_new_optimizer():
    model = network()
    gain = modulate(model, "head.*weight")
    NGMSGD(model.parameters(), gain=gain, g0=1.5)
    assert gain.value == 1.5
    saved = model.state_dict()
    other = network()
    loaded = modulate(other, "head.*weight")
    other.load_state_dict(saved)
    NGMSGD(other.parameters(), gain=loaded)
    assert loaded.value == 1.5


def test_a_state_of_another_optimizer_is_refused():
    model = network()
    state = torch.optim.SGD(model.parameters(), 0.1).state_dict()
    optimizer = NGMSGD(model.parameters(), gain=modulate(model, "head.*weight"))
    with pytest.raises(ValueError, match="it has no gain"):
        optimizer.load_state_dict(state)


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_it_learns_and_schedulers_change_its_learning_rate(make):
    model = network()
    gain = modulate(model, "head.*weight")
    optimizer = make(model.parameters(), 0.1, gain=gain)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 100)
    losses = train(model, gain, optimizer, batches(100), after=lambda _: scheduler.step())
    assert np.mean(losses[-10:]) < 0.6 * np.mean(losses[:10])
    assert optimizer.param_groups[0]["lr"] == pytest.approx(0, abs=1e-9)
    before = copy.deepcopy(list(model.parameters()))
    train(model, gain, optimizer, batches(1))
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters()))


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_parameter_groups_have_rates_of_their_own(make):
    model = network()
    gain = modulate(model, "head.*weight")
    optimizer = make([{"params": model.head1.parameters()}, {"params": model.head2.parameters(), "lr": 0.0}], gain=gain)
    optimizer.add_param_group({"params": model.backbone.parameters(), "lr": 0.1})
    before = copy.deepcopy(model.state_dict())
    train(model, gain, optimizer, batches(2))
    moved = {name for name, value in model.state_dict().items() if not torch.equal(value, before[name])}
    assert {name.split(".")[0] for name in moved if "gain" not in name} == {"head1", "backbone", "norm"}
    assert not any(name.startswith("norm.weight") for name in moved)


def test_even_keel_divides_the_gain_out_of_every_step_and_bounds_those_of_layers():
    def moved(trust):
        model = network()
        gain = modulate(model, "head.*weight")
        gain.set(4.0)
        optimizer = EvenKeel(model.parameters(), 0.1, gain=gain, trust=trust)
        weights = [model.backbone.weight, gain.weights()[0], model.backbone.bias]
        before = [w.clone() for w in weights]
        train(model, gain, optimizer, batches(1))
        return [(old, old - w, w.grad) for old, w in zip(before, weights)]

    for _, step, grad in moved(1e6):
        assert torch.allclose(step, 0.025 * grad, atol=1e-7)
    *layers, (_, step, grad) = moved(1e-4)
    assert torch.allclose(step, 0.025 * grad, atol=1e-7)
    for old, step, grad in layers:
        assert math.isclose(step.norm(), 1e-4 * old.norm(), rel_tol=1e-2)
        assert torch.cosine_similarity(step.flatten(), grad.flatten(), dim=0) > 0.99


def test_a_layer_of_zeros_can_move():
    model = network()
    gain = modulate(model, "head.*weight")
    torch.nn.init.zeros_(model.backbone.weight)
    train(model, gain, EvenKeel(model.parameters(), gain=gain), batches(1))
    assert math.isclose(model.backbone.weight.norm(), 0.025e-3 * math.sqrt(96), rel_tol=1e-4)


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_a_closure_is_run_first(make):
    results = []
    for with_closure in [False, True]:
        model = network()
        gain = modulate(model, "head.*weight")
        optimizer = make(model.parameters(), gain=gain)
        hooked = []
        optimizer.register_step_post_hook(lambda *_: hooked.append(1))
        losses = []
        for x, y in batches(5):

            def closure():
                optimizer.zero_grad()
                logits = model(x)
                gain.observe(logits, y)
                loss = cross_entropy(logits, y)
                loss.backward()
                return loss

            if with_closure:
                losses.append(optimizer.step(closure).item())
            else:
                losses.append(closure().item())
                assert optimizer.step() is None
        results.append((losses, gain.value))
        assert len(hooked) == 5
    assert results[0] == results[1]


def test_accumulated_gradients_give_the_gain_of_the_whole_batch():
    gains = []
    for parts in [1, 3]:
        model = network()
        model.norm.eval()
        gain = modulate(model, "head.*weight")
        optimizer = EvenKeel(model.parameters(), gain=gain)
        for x, y in batches(5, size=9):
            optimizer.zero_grad()
            for x_part, y_part in zip(x.chunk(parts), y.chunk(parts)):
                logits = model(x_part)
                gain.observe(logits, y_part)
                (cross_entropy(logits, y_part) / parts).backward()
            optimizer.step()
        gains.append(gain.value)
    assert gains[0] == pytest.approx(gains[1], rel=1e-5)


@pytest.mark.parametrize("make", OPTIMIZERS)
def test_mixed_precision_with_a_gradient_scaler(make):
    model = network()
    gain = modulate(model, "head.*weight")
    optimizer = make(model.parameters(), 0.05, gain=gain)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**10)
    losses = []
    for step, (x, y) in enumerate(batches(60)):
        optimizer.zero_grad()
        with torch.autocast("cpu", dtype=torch.bfloat16):
            logits = model(x)
            loss = cross_entropy(logits, y)
        assert logits.dtype == torch.bfloat16
        gain.observe(logits, y)
        scaled = scaler.scale(loss)
        (scaled * torch.inf if step == 30 else scaled).backward()
        before = gain.value
        scaler.step(optimizer)
        scaler.update()
        # A step that overflows is skipped, the gain included.
        assert (gain.value == before) == (step == 30)
        losses.append(loss.item())
    assert np.mean(losses[-10:]) < 0.8 * np.mean(losses[:10])
    assert gain.g.dtype == torch.float64 and math.isfinite(gain.value)
    assert all(w.dtype == torch.float32 and w.isfinite().all() for w in model.parameters())


@pytest.mark.skipif(shutil.which("c++") is None and shutil.which("g++") is None, reason="no C++ compiler")
def test_a_compiled_model_is_not_compiled_again_for_each_gain():
    results = []
    for compiled in [False, True]:
        torch._dynamo.reset()
        model = network()
        gain = modulate(model, "head.*weight")
        optimizer = NGMSGD(model.parameters(), 0.05, gain=gain)
        forward = torch.compile(model, fullgraph=True) if compiled else model
        losses, graphs = [], []
        for x, y in batches(12):
            optimizer.zero_grad()
            loss = cross_entropy(forward(x), y)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            graphs.append(torch._dynamo.utils.counters["stats"]["unique_graphs"])
        results.append((losses, gain.value))
        assert graphs[0] == graphs[-1]
    assert close(*(losses for losses, _ in results)) and close(*(np.array([g]) for _, g in results))


# The average


@pytest.mark.parametrize("warm_up", [True, False])
@pytest.mark.parametrize("average_buffers", [True, False])
def test_the_average_is_that_of_a_naive_loop(warm_up, average_buffers):
    model = network()
    gain = modulate(model, "head.*weight")
    optimizer = NGMSGD(model.parameters(), 0.1, gain=gain)
    ema = Ema(model, 0.8, warm_up=warm_up, average_buffers=average_buffers)
    expected = {name: value.clone() for name, value in model.state_dict().items()}
    for t, batch in enumerate(batches(12)):
        train(model, gain, optimizer, [batch], ema)
        d = min(1 - 1 / (t + 1), 0.8) if warm_up else 0.8
        for name, value in model.state_dict().items():
            copied = name.endswith("gain.g") or not value.is_floating_point()
            copied = copied or ("running" in name and not average_buffers)
            expected[name] = value.clone() if copied else d * expected[name] + (1 - d) * value
    averaged = ema.module.state_dict()
    assert list(averaged) == list(expected) and gain.value > 1.5
    assert all(torch.allclose(averaged[name], value, atol=1e-6) for name, value in expected.items())
    assert averaged["norm.num_batches_tracked"] == 12
    assert not ema.module.training and not any(p.requires_grad for p in ema.module.parameters())
    # One gain for both, also when the average is loaded.
    assert gains_of(ema.module) == gains_of(model)


def test_applied_swaps_the_average_in_and_the_weights_back():
    model = network()
    gain = modulate(model, "head.*weight")
    ema = Ema(model, 0.9)
    train(model, gain, NGMSGD(model.parameters(), 0.1, gain=gain), batches(10), ema)
    model.eval()
    x = torch.randn(5, 6)
    before = model(x)
    with pytest.raises(KeyError), ema.applied() as applied:
        assert applied is model
        assert torch.equal(model(x), ema.module(x)) and not torch.equal(model(x), before)
        raise KeyError
    assert torch.equal(model(x), before)


# Evaluation


class Log:
    """A recorder that keeps what it is given."""

    def __init__(self):
        self.rows = []

    def log(self, iteration, task, accuracies, loss=None, *, train_loss=None, gain=None, entropy=None, seen=None):
        self.rows.append((iteration, task, accuracies, loss, train_loss, gain, entropy, seen))


def test_evaluation_does_not_change_training():
    class Noisy(Network):
        def forward(self, x):
            return nn.functional.dropout(super().forward(x), 0.2, self.training)

    results = []
    for evaluated in [False, True]:
        torch.manual_seed(0)
        random.seed(0)
        np.random.seed(0)
        model = Noisy()
        model.backbone.eval()
        gain = modulate(model, "head.*weight")
        optimizer, ema = EvenKeel(model.parameters(), gain=gain), Ema(model, 0.9)
        tests = [torch.utils.data.TensorDataset(*next(batches(1, seed=s, size=20))) for s in (2, 3)]
        loaders = [torch.utils.data.DataLoader(test, batch_size=8, shuffle=True) for test in tests]
        evaluations = [continual_evaluation(model, loaders), continual_evaluation(model, loaders, 3, ema=ema)]
        losses = []
        for step, batch in enumerate(batches(12)):
            losses += train(model, gain, optimizer, [batch], ema)
            losses += [random.random(), np.random.rand(), torch.rand(1).item()]
            for evaluation in evaluations if evaluated else []:
                evaluation.after_step(1 + step // 6, losses[-1])
            assert model.training and model.norm.training and not model.backbone.training
        results.append((losses, gain.value, model.norm.running_mean.tolist()))
        if evaluated:
            assert [row.iteration for row in evaluations[0].rows] == list(range(1, 13))
            assert [row.iteration for row in evaluations[1].rows] == [3, 6, 9, 12]
    assert results[0] == results[1]


def test_rows_have_what_was_measured():
    model = network()
    gain = modulate(model, "head.*weight")
    optimizer, log = NGMSGD(model.parameters(), gain=gain), Log()
    tests = [next(batches(1, seed=s, size=1200)) for s in (2, 3, 4)]
    evaluation = continual_evaluation(model, tests, every=2, recorder=log)
    for step, batch in enumerate(batches(4)):
        train(model, gain, optimizer, [batch], after=lambda loss: evaluation.after_step(1 + step // 2, loss))
    first, second = evaluation.rows
    assert log.rows == [tuple(first), tuple(second)]
    assert (first.iteration, first.task, second.iteration, second.task) == (2, 1, 4, 2)
    assert first.accuracies[1:] == [None, None] and second.accuracies[2] is None
    model.eval()
    with torch.no_grad():
        logits = [model(x) for x, _ in tests]
    right = [100 * (z.argmax(dim=1) == y).double().mean().item() for z, (_, y) in zip(logits, tests)]
    assert second.accuracies[:2] == pytest.approx(right[:2])
    assert second.seen == pytest.approx(sum(right[:2]) / 2)
    assert second.loss == pytest.approx(cross_entropy(logits[0], tests[0][1]).item(), rel=1e-5)
    assert (second.gain, second.entropy) == (gain.value, gain.entropy)


def test_the_average_is_what_is_evaluated():
    model = network()
    ema = Ema(model)
    with torch.no_grad():
        ema.module.head2.bias.copy_(torch.tensor([100.0, 0, 0, 0]))
        model.head2.bias.copy_(torch.tensor([0, 100.0, 0, 0]))
    test = (torch.randn(5, 6), torch.zeros(5, dtype=torch.long))
    assert continual_evaluation(model, [test], ema=ema).after_step(1).accuracies == [100.0]
    assert continual_evaluation(model, [test]).after_step(1).accuracies == [0.0]


def test_examples_of_the_documentation_run():
    names = [info.name for info in pkgutil.iter_modules(evenkeel.torch.__path__, "evenkeel.torch.")]
    for name in ["evenkeel.torch", *names]:
        result = doctest.testmod(importlib.import_module(name))
        assert result.failed == 0, name
