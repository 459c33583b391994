//! Twenty steps of the rivals against PyTorch (`fixtures/pytorch_rivals.py` made the numbers).

use std::collections::BTreeMap;

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use evenkeel::ema::EmaConfig;
use evenkeel::entropy::mean_entropy;
use evenkeel::optim::{
    AgemConfig, Averaged, CautiousAdamConfig, CautiousConfig, CflatConfig, ClsErConfig, ErAceConfig,
    EvenKeelConfig, Feedback, Gradients, LayerInputs, LookaheadConfig, LprConfig, Method, MethodConfig,
    MkdConfig, NotFinite, Objective, Outputs, RestartConfig, SamConfig, ScheduleFreeConfig, SgdConfig,
    SpamConfig, TemperatureConfig, TracConfig, WarmupConfig, optimizers,
};
use evenkeel_models::{Architecture, GainLinear, InputShape, Mlp};
use serde::Deserialize;

/// Relative to the largest entry of a layer: one step is exact up to rounding, which twenty steps add up.
const TOLERANCES: [f32; 2] = [2e-6, 1e-4];

#[derive(Deserialize)]
struct Fixture {
    sizes: Vec<usize>,
    replayed: usize,
    x: Vec<Vec<f32>>,
    y: Vec<Vec<i64>>,
    x_old: Vec<Vec<f32>>,
    y_old: Vec<Vec<i64>>,
    initial: Vec<Vec<f32>>,
    /// After the first and the last step.
    cases: BTreeMap<String, [After; 2]>,
}

/// Weights of each layer.
#[derive(Deserialize)]
struct After {
    trained: Vec<Vec<f32>>,
    evaluated: Vec<Vec<f32>>,
}

fn fixture() -> Fixture {
    serde_json::from_str(include_str!("fixtures/pytorch_rivals.json")).unwrap()
}

fn device() -> Device {
    Device::flex().autodiff()
}

impl Fixture {
    fn model(&self) -> Mlp {
        let layer = |i: usize| {
            let shape = [self.sizes[i], self.sizes[i + 1]];
            GainLinear::from_weights(TensorData::new(self.initial[i].clone(), shape), &device())
        };
        let last = self.initial.len() - 1;
        Mlp::from_layers((0..last).map(layer).collect(), layer(last))
    }

    fn batch(&self, x: &[f32], y: &[i64]) -> (Tensor<2>, Tensor<1, Int>) {
        let x = TensorData::new(x.to_vec(), [y.len(), self.sizes[0]]);
        (
            Tensor::from_data(x, &device()),
            Tensor::from_data(TensorData::new(y.to_vec(), [y.len()]), &device()),
        )
    }
}

/// The batches of one step.
struct Step<'a> {
    of: &'a Fixture,
    step: usize,
}

impl Step<'_> {
    fn own(&self) -> (Tensor<2>, Tensor<1, Int>) {
        self.of.batch(&self.of.x[self.step], &self.of.y[self.step])
    }

    fn old(&self) -> (Tensor<2>, Tensor<1, Int>) {
        self.of.batch(&self.of.x_old[self.step], &self.of.y_old[self.step])
    }
}

fn pass(
    model: &Mlp,
    (x, labels): (Tensor<2>, Tensor<1, Int>),
    replayed: usize,
    objective: &mut dyn FnMut(Outputs) -> Objective,
) -> Gradients {
    let Objective { loss, logits } = objective(Outputs { logits: model.forward(x), labels, replayed });
    let (value, entropy) = (f64::from(loss.clone().into_scalar::<f32>()), mean_entropy(&logits));
    Gradients { loss: value, entropy, of: GradientsParams::from_grads(loss.backward(), model) }
}

impl Feedback<Mlp> for Step<'_> {
    fn gradients_of(
        &mut self,
        model: &Mlp,
        objective: &mut dyn FnMut(Outputs) -> Objective,
    ) -> Result<Gradients, NotFinite> {
        Ok(pass(model, self.own(), self.of.replayed, objective))
    }

    fn labels(&self) -> Tensor<1, Int> {
        self.own().1
    }

    fn logits(&mut self, model: &Mlp) -> Tensor<2> {
        model.valid().forward(self.own().0.inner())
    }

    fn draw_again(&mut self) {
        unreachable!("no rival asks for it");
    }

    fn gradients_on_old_tasks(&mut self, model: &Mlp) -> Result<Option<Gradients>, NotFinite> {
        Ok(Some(pass(model, self.old(), 0, &mut Objective::cross_entropy)))
    }

    fn layer_inputs_on_old_tasks(&mut self, model: &Mlp, examples: usize) -> Option<Vec<LayerInputs>> {
        let (x, _) = self.old();
        assert_eq!(x.dims()[0], examples);
        let shape = InputShape { channels: 1, height: 1, width: x.dims()[1] };
        model.valid().layer_inputs(x.inner(), shape)
    }

    fn since_switch(&self) -> u64 {
        self.step as u64
    }
}

/// The largest difference of a layer, relative to its largest entry.
fn deviation(model: &Mlp, theirs: &[Vec<f32>]) -> f32 {
    let layers = model.layers().zip(theirs).map(|(layer, theirs)| {
        let ours: Vec<f32> = layer.weight.val().into_data().try_to_vec().unwrap();
        let scale = theirs.iter().fold(1e-6_f32, |most, value| most.max(value.abs()));
        assert_eq!(ours.len(), theirs.len());
        ours.iter().zip(theirs).map(|(a, b)| (a - b).abs() / scale).max_by(f32::total_cmp).unwrap()
    });
    layers.max_by(f32::total_cmp).unwrap()
}

/// Steps with the state saved and loaded in between, so that a loaded method is what PyTorch is compared with.
#[track_caller]
fn check(case: &str, make: impl Fn() -> Box<dyn Method<Mlp>>) {
    let fixture = fixture();
    let (mut method, mut model) = (make(), fixture.model());
    model = method.prepare(model);
    for step in 0..fixture.x.len() {
        if step == 11 {
            let state = method.save().unwrap();
            method = make();
            model = method.prepare(model);
            method.load(&state).unwrap();
        }
        model = method.step(model, &mut Step { of: &fixture, step }).unwrap();
        let at = match step {
            0 => 0,
            step if step + 1 == fixture.x.len() => 1,
            _ => continue,
        };
        let theirs = &fixture.cases[case][at];
        let deviations =
            [deviation(&model, &theirs.trained), deviation(&method.evaluated(&model), &theirs.evaluated)];
        println!("{case} after {} steps: {deviations:?}", step + 1);
        assert!(
            deviations.iter().all(|d| *d <= TOLERANCES[at]),
            "{case} after {} steps: {deviations:?}",
            step + 1
        );
    }
}

fn rule<C: MethodConfig>(config: &C) -> impl Fn() -> Box<dyn Method<Mlp>> {
    || config.method().unwrap()
}

#[test]
fn averages() {
    let sgd = SgdConfig::new(0.1);
    check("ema", || Box::new(Averaged::new(sgd.method().unwrap(), EmaConfig::new(0.9))));
    check("schedule-free", rule(&ScheduleFreeConfig::new(0.3)));
    check("lookahead", rule(&LookaheadConfig::new(0.1)));
    check("even-keel", rule(&EvenKeelConfig::new().with_lr(0.3).with_trust(0.02)));
}

#[test]
fn momentum_that_looks_at_the_gradient() {
    check("warmup", rule(&WarmupConfig::new(0.1).with_steps(7.0)));
    check("restart", rule(&RestartConfig::new(0.2)));
    check("cautious", rule(&CautiousConfig::new(0.05)));
    check("cautious-adam", rule(&CautiousAdamConfig::new(0.01)));
}

#[test]
fn moments() {
    let spam = SpamConfig::new(0.01).with_threshold(2.0).with_interval(8.0).with_warmup(5.0);
    check("spam", rule(&spam));
    check("trac", rule(&TracConfig::new(0.01).with_stake(0.1)));
}

#[test]
fn several_gradients_per_step() {
    check("sam", rule(&SamConfig::new(0.1)));
    check("cflat", rule(&CflatConfig::new(0.1)));
}

#[test]
fn losses_of_their_own() {
    check("temperature", rule(&TemperatureConfig::new(0.05)));
    check("er-ace", rule(&ErAceConfig::new(0.1)));
    check("mkd", rule(&MkdConfig::new(0.02).with_decay(0.9)));
    check("cls-er", rule(&ClsErConfig::new(0.1).with_plastic(1.0).with_stable(0.0)));
}

#[test]
fn oracles() {
    check("agem", rule(&AgemConfig::new(0.1)));
    check("lpr", rule(&LprConfig::new(0.2).with_every(6.0).with_examples(10.0)));
}

/// Every optimizer of the list has numbers of PyTorch's, here or beside the paper's.
#[test]
fn nobody_is_left_out() {
    let others = include_str!("pytorch_rules.rs").to_string() + include_str!("pytorch_parity.rs");
    let ours = fixture().cases;
    let variants = ["tonic", "instantaneous", "msgd", "ngm-sgd", "entropy-lr"];
    for known in optimizers() {
        let kind = known.name.replace('-', "_");
        let found = ours.contains_key(known.name)
            || others.contains(&format!("fn {kind}"))
            || others.contains(known.name);
        assert!(found || variants.contains(&known.name), "{} has no parity test", known.name);
    }
}
