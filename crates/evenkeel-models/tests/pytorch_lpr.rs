//! Twenty steps of LPR on convolutions against PyTorch (`fixtures/pytorch_lpr.py` made the numbers).

#[path = "support/formula.rs"]
mod support;

use burn::module::Module;
use burn::optim::GradientsParams;
use burn::tensor::{Device, Int, Tensor, TensorData};
use evenkeel::entropy::mean_entropy;
use evenkeel::optim::{
    Feedback, Gradients, LayerInputs, LprConfig, MethodConfig, NotFinite, Objective, Outputs,
};
use evenkeel_models::{Architecture, InputShape, SlimResNet};
use serde::Deserialize;
use support::{formula, formula_model};

/// Relative to the largest entry of a layer, after one step and after twenty: nineteen layers in f32, Winograd among them.
const TOLERANCES: [f32; 2] = [2e-6, 1e-4];

const SHAPE: InputShape = InputShape { channels: 3, height: 32, width: 32 };

#[derive(Deserialize)]
struct Fixture {
    seed: usize,
    channels: usize,
    batch: usize,
    old: usize,
    steps: usize,
    every: f64,
    lr: f64,
    /// Entries that are kept of each layer.
    kept: usize,
    /// After the first and the last step, of each layer: the largest entry, and those that are kept.
    after: [Vec<Vec<f32>>; 2],
}

fn images(n: usize, seed: usize) -> TensorData {
    TensorData::new(formula(n * SHAPE.len(), seed, 1.0), [n, SHAPE.len()])
}

/// The batches of one step.
struct Step<'a> {
    of: &'a Fixture,
    step: usize,
}

impl Feedback<SlimResNet> for Step<'_> {
    fn gradients_of(
        &mut self,
        model: &SlimResNet,
        objective: &mut dyn FnMut(Outputs) -> Objective,
    ) -> Result<Gradients, NotFinite> {
        let x =
            Tensor::from_data(images(self.of.batch, self.of.seed + self.step), &Device::flex().autodiff());
        let outputs =
            Outputs { logits: Architecture::forward(model, x, SHAPE), labels: self.labels(), replayed: 0 };
        let Objective { loss, logits } = objective(outputs);
        let (value, entropy) = (f64::from(loss.clone().into_scalar::<f32>()), mean_entropy(&logits));
        Ok(Gradients { loss: value, entropy, of: GradientsParams::from_grads(loss.backward(), model) })
    }

    fn labels(&self) -> Tensor<1, Int> {
        let labels: Vec<i64> = (0..self.of.batch).map(|i| ((i * 3 + self.step) % 10) as i64).collect();
        Tensor::from_data(TensorData::new(labels, [self.of.batch]), &Device::flex().autodiff())
    }

    fn layer_inputs_on_old_tasks(&mut self, model: &SlimResNet, examples: usize) -> Option<Vec<LayerInputs>> {
        let old = Tensor::from_data(images(examples, self.of.seed + self.of.steps), &Device::flex());
        model.valid().layer_inputs(old, SHAPE)
    }

    fn logits(&mut self, _: &SlimResNet) -> Tensor<2> {
        unreachable!("LPR does not ask for it")
    }

    fn draw_again(&mut self) {
        unreachable!("LPR does not ask for it")
    }

    fn gradients_on_old_tasks(&mut self, _: &SlimResNet) -> Result<Option<Gradients>, NotFinite> {
        unreachable!("LPR does not ask for it")
    }

    fn since_switch(&self) -> u64 {
        unreachable!("LPR does not ask for it")
    }
}

/// The weights of all layers.
fn layers(model: &SlimResNet) -> Vec<Vec<f32>> {
    let values = |data: TensorData| data.try_to_vec::<f32>().unwrap();
    let convolutions = model.backbone.layers().map(|layer| values(layer.weight.val().into_data()));
    convolutions.chain([values(model.head.weight.val().into_data())]).collect()
}

#[test]
fn lpr_on_convolutions() {
    let fixture: Fixture = serde_json::from_str(include_str!("fixtures/pytorch_lpr.json")).unwrap();
    let device = Device::flex().autodiff();
    let config = LprConfig::new(fixture.lr).with_every(fixture.every).with_examples(fixture.old as f64);
    let (mut method, mut model) =
        (config.method::<SlimResNet>().unwrap(), formula_model(fixture.channels, &device));
    for step in 0..fixture.steps {
        if step == 11 {
            let state = method.save().unwrap();
            method = config.method().unwrap();
            method.load(&state).unwrap();
        }
        model = method.step(model, &mut Step { of: &fixture, step }).unwrap();
        let at = match step {
            0 => 0,
            step if step + 1 == fixture.steps => 1,
            _ => continue,
        };
        let ours = layers(&model);
        assert_eq!(ours.len(), fixture.after[at].len());
        for (layer, (ours, theirs)) in ours.iter().zip(&fixture.after[at]).enumerate() {
            let (largest, theirs) = (theirs[0], &theirs[1..]);
            let ours: Vec<f32> = ours.iter().step_by((ours.len() / fixture.kept).max(1)).copied().collect();
            assert!(ours.len() >= theirs.len() && theirs.len() == fixture.kept);
            let deviations = ours.iter().zip(theirs).map(|(a, b)| (a - b).abs() / largest);
            let deviation = deviations.max_by(f32::total_cmp).unwrap();
            println!("layer {layer} after {} steps: {deviation:.1e}", step + 1);
            assert!(deviation <= TOLERANCES[at], "layer {layer} after {} steps: {deviation}", step + 1);
        }
    }
}
