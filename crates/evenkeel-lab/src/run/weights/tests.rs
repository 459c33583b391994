use burn::tensor::{Device, Tensor, TensorData};
use evenkeel::gain::Gain;
use evenkeel::nn::Modulated;
use evenkeel::optim::NgmSgdConfig;
use evenkeel_models::{InputShape, Mlp, SlimResNet, SlimResNetConfig};
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use safetensors::SafeTensors;

use super::*;
use crate::spec::Experiment;

fn gain() -> Gain {
    let gain = NgmSgdConfig::new(0.01).init().unwrap().gain().clone();
    gain.set(1.7);
    gain
}

fn spec() -> RunSpec {
    Experiment::named("split-mnist").unwrap().check().unwrap().expand(None).remove(0)
}

/// Writes the weights, some inputs and their logits to the folder in `EVENKEEL_PROBES`, for `.ci/check_exports.py`.
fn probe<N: Architecture>(name: &str, network: &N, x: &Tensor<2>, logits: &Tensor<2>) {
    let Ok(folder) = std::env::var("EVENKEEL_PROBES") else { return };
    write(&Path::new(&folder).join(format!("{name}.safetensors")), network, Some(1.7), &spec()).unwrap();
    let mut tensors = evenkeel_models::state_dict::StateDict::new();
    tensors.float("x", x.clone());
    tensors.float("logits", logits.clone());
    let bytes: Vec<Vec<u8>> = tensors.tensors.iter().map(|tensor| tensor.values.to_le_bytes()).collect();
    let views = tensors.tensors.iter().zip(&bytes).map(|(tensor, bytes)| {
        (tensor.name.as_str(), TensorView::new(Dtype::F32, tensor.shape.clone(), bytes).unwrap())
    });
    let file = safetensors::serialize(views, None).unwrap();
    std::fs::write(Path::new(&folder).join(format!("{name}-probe.safetensors")), file).unwrap();
}

fn random(rng: &mut ChaCha8Rng, rows: usize, columns: usize) -> Tensor<2> {
    let values: Vec<f32> = (0..rows * columns).map(|_| rng.random_range(-1.0..1.0)).collect();
    Tensor::from_data(TensorData::new(values, [rows, columns]), &Device::flex())
}

#[test]
fn a_perceptron_without_a_gain_gives_the_same_logits_from_the_file() {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let config = serde_json::from_str(r#"{"hidden":[6,5]}"#).unwrap();
    let shape = InputShape { channels: 1, height: 1, width: 7 };
    let mut network = Mlp::init(&config, shape, 4, &mut rng, &Device::flex());
    // Larger weights than the initial ones, so that the logits say something.
    for layer in network.hidden.iter_mut().chain([&mut network.output]) {
        let larger = layer.weight.val().mul_scalar(30.0).into_data();
        layer.weight = burn::module::Param::from_data(larger, &Device::flex());
    }
    let network = network.with_gain(&gain());
    let x = random(&mut rng, 3, 7);
    let logits = Architecture::forward(&network, x.clone(), shape);
    probe("mlp", &network, &x, &logits);

    let bytes = to_bytes(&network, Some(1.7), &spec()).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    let mut names = file.names();
    names.sort_unstable();
    assert_eq!(names, ["hidden.0.weight", "hidden.1.weight", "output.weight"]);
    let mut rows: Vec<Vec<f32>> =
        x.into_data().try_to_vec::<f32>().unwrap().chunks(7).map(<[f32]>::to_vec).collect();
    for name in names {
        let view = file.tensor(name).unwrap();
        let (outputs, inputs) = (view.shape()[0], view.shape()[1]);
        let w: Vec<f32> =
            view.data().chunks_exact(4).map(|b| f32::from_le_bytes(b.try_into().unwrap())).collect();
        for row in &mut rows {
            // torch.nn.Linear: y = x Wᵀ.
            let y = (0..outputs).map(|o| (0..inputs).map(|i| row[i] * w[o * inputs + i]).sum::<f32>());
            *row = y.map(|y| if name == "output.weight" { y } else { y.max(0.0) }).collect();
        }
    }
    let ours: Vec<f32> = logits.into_data().try_to_vec().unwrap();
    assert!(ours.iter().any(|z| z.abs() > 0.01), "logits that say something");
    for (a, b) in ours.iter().zip(rows.iter().flatten()) {
        assert!((a - b).abs() < 1e-4 * (1.0 + a.abs()), "{a} {b}");
    }
}

#[test]
fn a_resnet_has_the_names_of_a_state_dict() {
    let mut rng = ChaCha8Rng::seed_from_u64(2);
    let shape = InputShape { channels: 3, height: 32, width: 32 };
    let model = SlimResNet::init(&SlimResNetConfig::default(), shape, 10, &mut rng, &Device::flex());
    // Statistics of a batch, so that the running ones are not what they begin with.
    let batch = random(&mut rng, 4, 3 * 32 * 32);
    drop(model.forward_on_burn(batch.reshape([4, 3, 32, 32]), true));
    let network = model.with_gain(&gain());
    let x = random(&mut rng, 2, 3 * 32 * 32);
    let logits = Architecture::forward(&network, x.clone(), shape);
    probe("resnet", &network, &x, &logits);

    let bytes = to_bytes(&network, Some(1.7), &spec()).unwrap();
    let file = SafeTensors::deserialize(&bytes).unwrap();
    // Stem, eight blocks of two, three shortcuts: six tensors each; and the head.
    assert_eq!(file.len(), (1 + 16 + 3) * 6 + 1);
    assert_eq!(file.tensor("backbone.blocks.2.shortcut.conv.weight").unwrap().shape(), [40, 20, 1, 1]);
    assert_eq!(file.tensor("head.weight").unwrap().shape(), [10, 160]);
    let mean = file.tensor("backbone.stem.bn.running_mean").unwrap().data();
    assert!(mean.iter().any(|byte| *byte != 0));
}
