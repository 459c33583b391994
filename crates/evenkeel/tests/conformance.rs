//! What every optimizer of the list must do: descend, go on from a saved state, forget on reset, refuse bad parameters.

mod device;

use burn::module::{Module, Param};
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor};
use device::device;
use evenkeel::gain::{Gain, GainConfig};
use evenkeel::nn::Modulated;
use evenkeel::optim::{
    AdamConfig, EntropyLrConfig, Feedback, Gradients, LayerInputs, Method, MethodConfig, MkdConfig,
    NgmSgdConfig, NotFinite, Objective, Outputs, Rule, SgdConfig, optimizer, optimizers,
};

/// `L = Σ aᵢ wᵢ²` with curvatures that differ by a factor of ten.
#[derive(Module, Debug)]
struct Quadratic {
    w: Param<Tensor<1>>,
    backbone: Param<Tensor<1>>,
}

impl Modulated for Quadratic {
    fn with_gain(self, _: &Gain) -> Self {
        self
    }

    fn backbone() -> Option<&'static str> {
        Some("^backbone")
    }
}

impl Quadratic {
    fn new() -> Self {
        let device = device();
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

/// Gradients of the quadratic, with an entropy that never changes.
#[derive(Default)]
struct Exact {
    asked: usize,
}

impl Feedback<Quadratic> for Exact {
    /// Losses that look at logits see two rows of them, in which the right class is hardly preferred; the quadratic is added.
    fn gradients_of(
        &mut self,
        model: &Quadratic,
        objective: &mut dyn FnMut(Outputs) -> Objective,
    ) -> Result<Gradients, NotFinite> {
        self.asked += 1;
        let device = model.w.device();
        let logits = Tensor::<2>::from_data([[0.1, 0.0], [0.0, 0.1]], &device);
        let labels = Tensor::<1, Int>::from_data([0, 1], &device);
        drop(objective(Outputs { logits, labels, replayed: 1 }));
        let loss = model.loss();
        let value = f64::from(loss.clone().into_scalar::<f32>());
        let of = GradientsParams::from_grads(loss.backward(), model);
        if value.is_finite() {
            Ok(Gradients { loss: value, entropy: 0.5, of })
        } else {
            Err(NotFinite(value))
        }
    }

    fn labels(&self) -> Tensor<1, Int> {
        Tensor::from_data([0, 1], &Device::flex())
    }

    fn logits(&mut self, model: &Quadratic) -> Tensor<2> {
        Tensor::<2>::from_data([[0.2, 0.0], [0.0, 0.2]], &model.w.device().inner())
    }

    fn draw_again(&mut self) {}

    fn gradients_on_old_tasks(&mut self, _: &Quadratic) -> Result<Option<Gradients>, NotFinite> {
        self.asked += 1;
        Ok(None)
    }

    fn layer_inputs_on_old_tasks(&mut self, _: &Quadratic, _: usize) -> Option<Vec<LayerInputs>> {
        None
    }

    /// Long ago.
    fn since_switch(&self) -> u64 {
        1000
    }
}

fn step(method: &mut Box<dyn Method<Quadratic>>, model: Quadratic) -> Quadratic {
    method.step(model, &mut Exact::default()).unwrap()
}

/// Every optimizer of the list with a learning rate that suits the quadratic.
fn all() -> impl Iterator<Item = (&'static str, Rule)> {
    optimizers().map(|known| {
        let mut json = serde_json::to_value(known.rule()).unwrap();
        let slow =
            ["lion", "adam", "adamw", "rmsprop", "cautious-adam", "spam", "trac"].contains(&known.name);
        // EvenKeel divides its rate by a gain that the gradient of this quadratic does not carry.
        let suits = match known.name {
            _ if slow => 0.02,
            "even-keel" => 0.15,
            _ => 0.05,
        };
        json["lr"] = suits.into();
        if let Some(decay) = json.get_mut("decay") {
            // What is evaluated may be an average, which has to follow within some hundred steps.
            *decay = 0.9.into();
        }
        (known.name, serde_json::from_value(json).unwrap())
    })
}

/// The method as it is before its first step.
fn method(rule: &Rule) -> Box<dyn Method<Quadratic>> {
    let mut method = rule.method().unwrap();
    method.prepare(Quadratic::new());
    method
}

#[test]
fn names_are_unique_and_their_rules_are_valid_and_survive_a_file() {
    let names: Vec<&str> = optimizers().map(|known| known.name).collect();
    assert_eq!(&names[..4], ["ngm-sgd", "msgd", "adam", "sgd"], "the paper's four come first");
    for known in optimizers() {
        assert_eq!(names.iter().filter(|name| **name == known.name).count(), 1, "{}", known.name);
        let rule = known.rule();
        rule.check().unwrap();
        let json = serde_json::to_value(&rule).unwrap();
        assert!(Rule::KINDS.contains(&json["kind"].as_str().unwrap()), "{}", known.name);
        assert_eq!(serde_json::from_value::<Rule>(json).unwrap(), rule, "{}", known.name);
        assert!(known.base.is_none_or(|base| optimizer(base).is_some()), "{}", known.name);
    }
}

#[test]
fn descends_a_quadratic() {
    // A software device takes minutes for what the CPU does in a second: there it only has to go down, from the first steps on. (The bets
    // of TRAC begin too small for that.)
    let quick = device() == Device::flex().autodiff();
    let (steps, share) = if quick { (400, 0.01) } else { (20, 0.999) };
    for (name, rule) in all().filter(|(name, _)| quick || *name != "trac") {
        let (mut method, mut model) = (method(&rule), Quadratic::new());
        let start = model.loss().into_scalar::<f32>();
        for _ in 0..steps {
            model = step(&mut method, model);
        }
        let end = method.evaluated(&model).loss().into_scalar::<f32>();
        assert!(end < share * start, "{name}: {end}");
    }
}

#[test]
fn saved_and_loaded_it_takes_the_same_next_steps() {
    for (name, rule) in all() {
        let (mut original, mut model) = (method(&rule), Quadratic::new());
        for _ in 0..3 {
            model = step(&mut original, model);
        }
        // As after a restart: nothing but the bytes survives.
        let weights = model.clone().into_record().into_bytes().unwrap();
        let record = burn::store::ModuleRecord::from_bytes(weights).unwrap();
        let (mut resumed, mut copy) = (method(&rule), Quadratic::new().load_record(record));
        resumed.load(&original.save().unwrap()).unwrap();
        assert_eq!(resumed.gain(), original.gain(), "{name}");
        for _ in 0..3 {
            model = step(&mut original, model);
            copy = step(&mut resumed, copy);
        }
        assert_eq!(model.values(), copy.values(), "{name}");
        assert_eq!(original.evaluated(&model).values(), resumed.evaluated(&copy).values(), "{name}");
        assert_eq!(resumed.gain(), original.gain(), "{name}");
    }
}

#[test]
fn after_a_reset_it_steps_like_a_new_one() {
    for (name, rule) in all() {
        let (mut original, mut model) = (method(&rule), Quadratic::new());
        for _ in 0..3 {
            model = step(&mut original, model);
        }
        original.reset();
        let expected = step(&mut method(&rule), model.clone()).values();
        assert_eq!(step(&mut original, model).values(), expected, "{name}");
    }
}

#[test]
fn a_damaged_state_is_an_error() {
    for (name, rule) in all() {
        for bytes in [&b""[..], b"short", &[0xFF; 64]] {
            assert!(method(&rule).load(bytes).is_err(), "{name}: {bytes:?}");
        }
    }
}

#[test]
fn the_state_of_another_optimizer_is_an_error() {
    let saved: Vec<_> = all()
        .map(|(name, rule)| {
            let mut method = method(&rule);
            step(&mut method, Quadratic::new());
            (name, rule, method.save().unwrap())
        })
        .collect();
    for (name, rule, _) in &saved {
        for (other, other_rule, state) in &saved {
            // Variants of one rule differ in parameters that leave the form of the state alone.
            let kin = serde_json::to_value(rule).unwrap()["kind"]
                == serde_json::to_value(other_rule).unwrap()["kind"];
            if name == other || !kin {
                let loaded = method(rule).load(state);
                let nesterov = ["nesterov", "msgd"].contains(name) && ["nesterov", "msgd"].contains(other);
                assert_eq!(loaded.is_ok(), name == other || nesterov, "the state of {other} in {name}");
            }
        }
    }
    // Momentum or none is another form of state within one rule.
    let plain = method(&Rule::Sgd(SgdConfig::new(0.1))).save().unwrap();
    let error = method(&Rule::Sgd(SgdConfig::new(0.1).with_momentum(0.9))).load(&plain).unwrap_err();
    assert_eq!(
        error.to_string(),
        "not a saved state of this optimizer: it is of 'sgd', and this is 'sgd with momentum'"
    );
}

#[test]
fn every_number_among_the_parameters_is_checked() {
    for known in optimizers() {
        let json = serde_json::to_value(known.rule()).unwrap();
        for (key, value) in json.as_object().unwrap().iter().filter(|(_, value)| value.is_number()) {
            let mut bad = json.clone();
            bad[key] = (-1.0).into();
            let rule: Rule = serde_json::from_value(bad).unwrap();
            let error = rule.check().expect_err(&format!("{}.{key} = -1 after {value}", known.name));
            assert!(error.to_string().contains(key.as_str()), "{}: {error}", known.name);
            assert!(rule.method::<Quadratic>().is_err(), "{}.{key}", known.name);
        }
    }
}

#[test]
fn it_asks_for_as_many_gradients_as_its_price_says() {
    for (name, rule) in all() {
        let mut feedback = Exact::default();
        method(&rule).step(Quadratic::new(), &mut feedback).unwrap();
        assert_eq!(feedback.asked, usize::from(optimizer(name).unwrap().cost), "{name}");
    }
}

#[test]
fn entropy_lr_steps_at_the_current_q_and_then_updates_it() {
    let mut entropy_lr = EntropyLrConfig::new(0.1).with_g0(1.5).init().unwrap();
    let dynamics = GainConfig::new().with_g0(1.5).check().unwrap();
    let (mut a, mut b) = (Quadratic::new(), Quadratic::new());
    for _ in 0..3 {
        // At first q is q₀ = 1.5: one step of SGD at lr·q₀².
        let q = entropy_lr.q();
        let mut sgd = SgdConfig::new(0.1).init().unwrap();
        let gradients = |model: &Quadratic| GradientsParams::from_grads(model.loss().backward(), model);
        let of_a = gradients(&a);
        a = entropy_lr.step(a, of_a, 0.3);
        let of_b = gradients(&b);
        b = sgd.step(0.1 * q * q, b, of_b);
        assert_eq!(a.values(), b.values());
        assert_eq!(entropy_lr.q(), dynamics.next(q, 0.3));
    }
    assert_eq!(entropy_lr.lr(), 0.1);
}

#[test]
fn bad_parameters_are_refused_with_their_range() {
    let (sgd, adam) = (|| SgdConfig::new(0.1), || AdamConfig::new(0.1));
    let cases = [
        (SgdConfig::new(f64::NAN).init().err(), "lr must be a finite number >= 0, got NaN"),
        (sgd().with_momentum(1.0).init().err(), "momentum must be in [0, 1), got 1"),
        (sgd().with_momentum(0.9).with_dampening(2.0).init().err(), "dampening must be in [0, 1], got 2"),
        (sgd().with_nesterov(true).init().err(), "nesterov needs momentum > 0 and dampening = 0"),
        (adam().with_beta2(1.0).init().err(), "beta2 must be in [0, 1), got 1"),
        (adam().with_eps(f64::INFINITY).init().err(), "eps must be a finite number >= 0, got inf"),
    ];
    for (error, message) in cases {
        assert_eq!(error.map(|e| e.to_string()).as_deref(), Some(message));
    }
    let ngm = NgmSgdConfig::new(0.1);
    let gain = ngm.clone().with_gamma(1.0).init().err().unwrap();
    assert_eq!(gain.to_string(), "gamma must be in [0, 1), got 1");
    let group = |pattern| ngm.init_with_momentum(&Quadratic::new(), pattern, 0.9).err().unwrap().to_string();
    assert_eq!(group("("), "'(' is not a regular expression for parameter paths");
    assert_eq!(group("^head"), "no parameter has a path that matches '^head'");
}

#[test]
fn mkd_asks_the_trained_weights_beside_their_average() {
    let mut method = MkdConfig::new(0.05).method::<Quadratic>().unwrap();
    let model = Quadratic::new();
    assert!(method.second_opinion(&model).is_none(), "before the first step there is one network");
    let mut feedback = Exact::default();
    let mut model = method.step(model, &mut feedback).unwrap();
    model = method.step(model, &mut feedback).unwrap();
    assert_eq!(method.second_opinion(&model).unwrap().values(), model.values());
    assert_ne!(method.evaluated(&model).values(), model.values());
}
