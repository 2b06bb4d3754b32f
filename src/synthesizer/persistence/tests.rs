use crate::artifact::ArtifactError;
use crate::model::parameters::Parameters;
use crate::{Error, Metadata, ParSynthesizer, SdType};
use polars::prelude::*;
use tch::{Device, Kind};

/// Two layers, so that the order of the LSTM's weights shows.
fn fitted() -> ParSynthesizer {
    let metadata = Metadata::builder()
        .column("key", SdType::Id { regex_format: None })
        .column("colour", SdType::Categorical)
        .column("size", SdType::Numerical)
        .sequence_key("key")
        .build()
        .expect("valid");
    let frame = df!(
        "key" => ["a", "a", "b", "b", "c"],
        "colour" => ["red", "blue", "red", "red", "blue"],
        "size" => [1.5, 2.5, 2.0, 3.5, 1.0],
    )
    .expect("a frame");
    ParSynthesizer::builder(metadata)
        .hidden_size(2)
        .layers(2)
        .epochs(1)
        .threads(1)
        .seed(3)
        .fit(&frame)
        .expect("a fit")
}

/// Byte offsets of the views from the buffer's start, by their addresses.
fn offsets(parameters: &Parameters) -> Vec<(String, usize)> {
    let start = parameters.flat().data_ptr() as usize;
    let views = parameters.views().expect("views");
    parameters
        .plan()
        .entries
        .iter()
        .zip(views)
        .filter(|(entry, _)| entry.numel() > 0)
        .map(|(entry, view)| {
            assert!(view.is_contiguous());
            (entry.name.clone(), view.data_ptr() as usize - start)
        })
        .collect()
}

fn check_buffer(parameters: &Parameters, bytes: usize) {
    let mut offset = 0;
    let filled = parameters
        .plan()
        .entries
        .iter()
        .filter(|entry| entry.numel() > 0);
    for (entry, (name, found)) in filled.zip(offsets(parameters)) {
        assert_eq!((found, &name), (offset, &entry.name));
        offset += usize::try_from(entry.numel()).expect("a count") * bytes;
    }
    assert!(parameters.is_contiguous().expect("views"));
}

#[test]
fn loaded_moved_and_cast_weights_lie_in_one_buffer_in_the_order_of_cudnn() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.parsynth");
    fitted().save(&path).expect("saved");
    let model = ParSynthesizer::load(&path).expect("loaded");
    for moved in [false, true] {
        if moved {
            model.to_device(Device::Cpu).expect("moved");
        }
        let weights = model.locked();
        check_buffer(&weights.context, 4);
        check_buffer(&weights.sequence, 4);
        let cast = weights
            .sequence
            .to(Device::Cpu, Kind::Double)
            .expect("a cast");
        check_buffer(&cast, 8);
        // All matrices layer by layer, then all biases: [8, input], [8, 2], [8, 2], [8, 2], then four of [8].
        let input = usize::try_from(weights.sequence.plan().entries[0].shape[1]).expect("a size");
        let lstm: Vec<(String, usize)> = offsets(&weights.sequence).into_iter().take(8).collect();
        let first = 8 * input;
        let wanted = [
            ("lstm_input_weight_0", 0),
            ("lstm_hidden_weight_0", first),
            ("lstm_input_weight_1", first + 16),
            ("lstm_hidden_weight_1", first + 32),
            ("lstm_input_bias_0", first + 48),
            ("lstm_hidden_bias_0", first + 56),
            ("lstm_input_bias_1", first + 64),
            ("lstm_hidden_bias_1", first + 72),
        ];
        assert_eq!(
            lstm,
            wanted.map(|(name, offset)| (name.to_owned(), 4 * offset))
        );
    }
}

#[test]
fn a_model_with_a_weight_that_is_no_number_is_not_saved_and_the_old_file_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("m.parsynth");
    let model = fitted();
    model.save(&path).expect("saved");
    let old = std::fs::read(&path).expect("the file");
    assert!(model.health().expect("health").is_finite);
    {
        let weights = model.locked();
        let mut last = weights.sequence.flat().narrow(0, 5, 1);
        let _ = tch::no_grad(|| last.fill_(f64::NAN));
    }
    assert!(!model.health().expect("health").is_finite);
    let error = model.save(&path).expect_err("not finite");
    assert!(
        matches!(&error, Error::Artifact(ArtifactError::Invalid { place, .. })
            if place == "sequence network, weight `lstm_input_weight_0`"),
        "{error}"
    );
    assert_eq!(std::fs::read(&path).expect("the file"), old);
    assert_eq!(
        std::fs::read_dir(folder.path()).expect("a folder").count(),
        1,
        "a temporary file is left"
    );
}
