//! What every optimizer must do: descend, go on from a saved state, forget on reset, refuse bad parameters.

use burn::module::{Module, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Tensor};
use evenkeel::gain::GainConfig;
use evenkeel::optim::{
    AdamConfig, Baseline, EntropyLr, EntropyLrConfig, NgmSgd, NgmSgdConfig, OptimError, SgdConfig,
};

/// `L = Σ aᵢ wᵢ²` with curvatures that differ by a factor of ten.
#[derive(Module, Debug)]
struct Quadratic {
    w: Param<Tensor<1>>,
    backbone: Param<Tensor<1>>,
}

impl Quadratic {
    fn new() -> Self {
        let device = Device::flex().autodiff();
        let start = || Param::from_data([1.0, -2.0, 3.0], &device);
        Self { w: start(), backbone: start() }
    }

    fn loss(&self) -> Tensor<1> {
        let a = Tensor::<1>::from_data([1.0, 0.3, 0.1], &self.w.device());
        (a.clone() * self.w.val().square()).sum() + (a * self.backbone.val().square()).sum()
    }

    fn values(&self) -> Vec<f32> {
        [self.w.val(), self.backbone.val()]
            .into_iter()
            .flat_map(|t| t.into_data().try_to_vec::<f32>().unwrap())
            .collect()
    }
}

/// One of any kind, so that one suite serves all.
#[derive(Clone)]
enum Any {
    Baseline(Baseline),
    Ngm(NgmSgd),
    EntropyLr(EntropyLr),
}

impl Any {
    fn step(&mut self, model: Quadratic) -> Quadratic {
        let gradients = GradientsParams::from_grads(model.loss().backward(), &model);
        match self {
            Any::Baseline(optimizer) => optimizer.step(model, gradients),
            Any::Ngm(optimizer) => optimizer.step(model, gradients, 0.5),
            Any::EntropyLr(optimizer) => optimizer.step(model, gradients, 0.5),
        }
    }

    fn reset(&mut self) {
        match self {
            Any::Baseline(optimizer) => optimizer.reset(),
            Any::Ngm(optimizer) => optimizer.reset(),
            Any::EntropyLr(optimizer) => optimizer.reset(),
        }
    }

    fn to_bytes(&self) -> Vec<u8> {
        match self {
            Any::Baseline(optimizer) => optimizer.to_bytes(),
            Any::Ngm(optimizer) => optimizer.to_bytes(),
            Any::EntropyLr(optimizer) => optimizer.to_bytes(),
        }
        .unwrap()
    }

    fn load_bytes(&mut self, bytes: &[u8]) -> Result<(), OptimError> {
        match self {
            Any::Baseline(optimizer) => optimizer.load_bytes(bytes.to_vec()),
            Any::Ngm(optimizer) => optimizer.load_bytes(bytes),
            Any::EntropyLr(optimizer) => optimizer.load_bytes(bytes),
        }
    }

    fn gain(&self) -> f64 {
        match self {
            Any::Baseline(_) => 1.0,
            Any::Ngm(optimizer) => optimizer.gain().value(),
            Any::EntropyLr(optimizer) => optimizer.q(),
        }
    }
}

type Make = fn() -> Any;

fn all() -> Vec<(&'static str, Make)> {
    let ngm = || Any::Ngm(NgmSgdConfig::new(0.05).with_momentum_group("^backbone", 0.9).init().unwrap());
    vec![
        ("sgd", || Any::Baseline(SgdConfig::new(0.1).init().unwrap())),
        ("msgd", || Any::Baseline(SgdConfig::new(0.05).with_momentum(0.9).init().unwrap())),
        ("nesterov", || {
            Any::Baseline(SgdConfig::new(0.05).with_momentum(0.9).with_nesterov(true).init().unwrap())
        }),
        ("adam", || Any::Baseline(AdamConfig::new(0.05).init().unwrap())),
        ("ngm-sgd", ngm),
        ("entropy-lr", || Any::EntropyLr(EntropyLrConfig::new(0.05).init().unwrap())),
    ]
}

#[test]
fn descends_a_quadratic() {
    for (name, make) in all() {
        let (mut optimizer, mut model) = (make(), Quadratic::new());
        let start = model.loss().into_scalar::<f32>();
        for _ in 0..300 {
            model = optimizer.step(model);
        }
        assert!(model.loss().into_scalar::<f32>() < 0.01 * start, "{name}");
    }
}

#[test]
fn saved_and_loaded_it_takes_the_same_next_steps() {
    for (name, make) in all() {
        let (mut optimizer, mut model) = (make(), Quadratic::new());
        for _ in 0..3 {
            model = optimizer.step(model);
        }
        // As after a restart: nothing but the bytes survives.
        let weights = model.clone().into_record().into_bytes().unwrap();
        let record = burn::store::ModuleRecord::from_bytes(weights).unwrap();
        let (mut resumed, mut copy) = (make(), Quadratic::new().load_record(record));
        resumed.load_bytes(&optimizer.to_bytes()).unwrap();
        assert_eq!(resumed.gain(), optimizer.gain(), "{name}");
        for _ in 0..3 {
            model = optimizer.step(model);
            copy = resumed.step(copy);
        }
        assert_eq!(model.values(), copy.values(), "{name}");
        assert_eq!(resumed.gain(), optimizer.gain(), "{name}");
    }
}

#[test]
fn after_a_reset_it_steps_like_a_new_one() {
    for (name, make) in all() {
        let (mut optimizer, mut model) = (make(), Quadratic::new());
        for _ in 0..3 {
            model = optimizer.step(model);
        }
        optimizer.reset();
        let expected = make().step(model.clone()).values();
        assert_eq!(optimizer.step(model).values(), expected, "{name}");
    }
}

#[test]
fn entropy_lr_steps_at_the_current_q_and_then_updates_it() {
    let gain = GainConfig::new().with_g0(1.5);
    let mut entropy_lr = EntropyLrConfig::new(0.1).with_gain(gain).init().unwrap();
    let (mut a, mut b) = (Quadratic::new(), Quadratic::new());
    for _ in 0..3 {
        // At first q is q₀ = 1.5: one step of SGD at lr·q₀².
        let q = entropy_lr.q();
        let mut sgd = Any::Baseline(SgdConfig::new(0.1 * q * q).init().unwrap());
        let gradients = GradientsParams::from_grads(a.loss().backward(), &a);
        a = entropy_lr.step(a, gradients, 0.3);
        b = sgd.step(b);
        assert_eq!(a.values(), b.values());
        assert_eq!(entropy_lr.q(), gain.check().unwrap().next(q, 0.3));
    }
    assert_eq!(entropy_lr.lr(), 0.1);
}

#[test]
fn a_damaged_state_is_an_error() {
    for (name, make) in all() {
        for bytes in [&b""[..], b"short", &[0xFF; 64]] {
            assert!(make().load_bytes(bytes).is_err(), "{name}: {bytes:?}");
        }
    }
}

#[test]
fn bad_parameters_are_refused() {
    let sgd = SgdConfig::new(0.1);
    let adam = AdamConfig::new(0.1);
    let cases = [
        (SgdConfig::new(f64::NAN).init().err(), "lr must be a finite number >= 0, got NaN"),
        (SgdConfig::new(-1.0).init().err(), "lr must be a finite number >= 0, got -1"),
        (sgd.with_momentum(1.0).init().err(), "momentum must be in [0, 1), got 1"),
        (sgd.with_momentum(0.9).with_dampening(2.0).init().err(), "dampening must be in [0, 1], got 2"),
        (sgd.with_weight_decay(-0.1).init().err(), "weight_decay must be a finite number >= 0, got -0.1"),
        (sgd.with_nesterov(true).init().err(), "nesterov needs momentum > 0 and dampening = 0"),
        (adam.with_beta1(-0.1).init().err(), "beta1 must be in [0, 1), got -0.1"),
        (adam.with_beta2(1.0).init().err(), "beta2 must be in [0, 1), got 1"),
        (adam.with_eps(f64::INFINITY).init().err(), "eps must be a finite number >= 0, got inf"),
    ];
    for (error, message) in cases {
        assert_eq!(error.map(|e| e.to_string()).as_deref(), Some(message));
    }
    let ngm = NgmSgdConfig::new(0.1);
    let gain = ngm.clone().with_gain(GainConfig::new().with_gamma(1.0)).init().err().unwrap();
    assert_eq!(gain.to_string(), "gamma must be in [0, 1), got 1");
    let q = EntropyLrConfig::new(0.1).with_gain(GainConfig::new().with_eta(-1.0)).init().err().unwrap();
    assert_eq!(q.to_string(), "eta must be a finite number >= 0, got -1");
    let lr = EntropyLrConfig::new(-0.1).init().err().unwrap();
    assert_eq!(lr.to_string(), "lr must be a finite number >= 0, got -0.1");
    let group = ngm.with_momentum_group("(", 0.9).init().err().unwrap();
    assert_eq!(group.to_string(), "'(' is not a regular expression for parameter paths");
}
