//! Claims about training in bfloat16: what is multiplied in it, and that nothing else is.

use super::*;
use crate::model::decoder::to_host;
use crate::{Metadata, ParSynthesizer};
use polars::df;

/// Loss of the first part of a batch, and the gradient of all weights.
fn loss_and_gradient(fixture: &Fixture, kind: Kind) -> (f64, Vec<f32>) {
    let store = VarStore::new(Device::Cpu);
    let flat = store.root().var_copy("weights", fixture.parameters.flat());
    let parameters = Parameters::from_flat(fixture.shape.plan(), flat).expect("weights");
    let encoder = fixture.encoder();
    let task = SequenceTask {
        kind,
        ..fixture.task(&encoder)
    };
    let mut generator = Seed::new(Some(1)).stream(Purpose::SequenceTraining);
    let mut carry = None;
    let mut sum = 0.0;
    let batch = [1, 0, 2];
    for step in 0..task.steps(&batch) {
        let mode = Mode::Train {
            dropout: 0.2,
            generator: &mut generator,
        };
        let loss = task.loss(&parameters, &batch, step, &mut carry, mode);
        let loss = loss.expect("a loss").sums.sum(Kind::Float);
        loss.backward();
        sum += loss.double_value(&[]);
    }
    let gradient = parameters.flat().grad();
    assert_eq!(gradient.kind(), Kind::Float);
    (sum, to_host(&gradient).expect("host"))
}

#[test]
fn gradients_of_bfloat16_products_reach_the_f32_weights_and_point_the_same_way() {
    let fixture = fixture(&[20, 150, 7]);
    let (loss, gradient) = loss_and_gradient(&fixture, Kind::Float);
    let (mixed_loss, mixed) = loss_and_gradient(&fixture, Kind::BFloat16);
    assert!(mixed.iter().all(|value| value.is_finite()));
    // Three significant digits in each product; sums over 177 rows hold a little more.
    assert!(
        (mixed_loss - loss).abs() < 0.01 * loss.abs(),
        "{mixed_loss} {loss}"
    );
    assert_ne!(mixed_loss, loss, "products are in f32");
    let dot = |left: &[f32], right: &[f32]| -> f64 {
        let pairs = left.iter().zip(right);
        pairs.map(|(&l, &r)| f64::from(l) * f64::from(r)).sum()
    };
    let cosine = dot(&gradient, &mixed) / (dot(&gradient, &gradient) * dot(&mixed, &mixed)).sqrt();
    assert!(cosine > 0.99, "{cosine}");
}

#[test]
fn validation_is_in_f32_whatever_training_multiplies_in() {
    let fixture = fixture(&[20, 7]);
    let encoder = fixture.encoder();
    let sums = |kind: Kind| {
        let task = SequenceTask {
            kind,
            ..fixture.task(&encoder)
        };
        let loss = task.loss(&fixture.parameters, &[0, 1], 0, &mut None, Mode::Use);
        to_doubles(&loss.expect("a loss").sums).expect("host")
    };
    assert_eq!(sums(Kind::BFloat16), sums(Kind::Float));
}

#[test]
fn weights_after_a_mixed_fit_are_one_buffer_of_f32() {
    let metadata = Metadata::builder()
        .column("key", SdType::Id { regex_format: None })
        .column("value", SdType::Numerical)
        .column("kind", SdType::Categorical)
        .sequence_key("key")
        .build()
        .expect("metadata");
    let data = df!(
        "key" => (0..60_i64).map(|row| row / 6).collect::<Vec<_>>(),
        "value" => (0..60).map(|row| f64::from(row * row % 17)).collect::<Vec<_>>(),
        "kind" => (0..60).map(|row| ["a", "b"][row % 2]).collect::<Vec<_>>(),
    );
    let builder = ParSynthesizer::builder(metadata).hidden_size(6).epochs(3);
    let fitted = builder
        .mixed_precision(true)
        .seed(1)
        .fit(&data.expect("a frame"));
    let fitted = fitted.expect("a model");
    let model = fitted.model.lock().expect("a model");
    for parameters in [&model.context, &model.sequence] {
        assert_eq!(parameters.flat().kind(), Kind::Float);
        assert!(parameters.is_contiguous().expect("views"));
        assert!(parameters.is_finite().expect("weights"));
        let rounded = parameters.cast(Kind::BFloat16).expect("cast");
        // Had the optimizer stepped in bfloat16, nothing would be lost by casting.
        assert_ne!(
            rounded.values().expect("weights"),
            parameters.values().expect("weights")
        );
    }
}
