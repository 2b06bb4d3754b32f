//! What a fitted model says of itself.

use crate::common::*;
use parsynth::{Error, NumericalDistribution};
use std::sync::{Arc, Mutex};

#[test]
fn a_model_tells_when_by_what_and_from_how_much_it_was_fitted() {
    let model = builder(&numbers())
        .context_columns(["region"])
        .epochs(1)
        .fit(&numbers_frame())
        .unwrap();
    let info = model.info();
    assert_eq!((info.rows, info.columns, info.sequences), (60, 3, 10));
    assert_eq!((info.segments, info.file_bytes), (None, None));
    assert_eq!(info.weights, model.report().weights);
    assert_eq!(info.device, "cpu");
    assert_eq!(info.fitted_by, info.running);
    assert!(
        info.fitted.len() == 20 && info.fitted.ends_with('Z'),
        "{}",
        info.fitted
    );
    assert!(info.created <= info.fitted && info.created.as_str() > "2024");

    let (loaded, bytes) = reloaded(&model);
    let of_loaded = loaded.info();
    assert_eq!(of_loaded.file_bytes, Some(bytes));
    assert_eq!(
        (&of_loaded.created, &of_loaded.fitted, &of_loaded.fitted_by),
        (&info.created, &info.fitted, &info.fitted_by)
    );
    let json: serde_json::Value = serde_json::from_str(&of_loaded.to_json()).unwrap();
    assert_eq!(json["file_bytes"], bytes);
    assert_eq!(json["fitted_by"]["parsynth"], env!("CARGO_PKG_VERSION"));
    assert!(format!("{info}").contains(&format!("fitted     {}", info.fitted)));
}

#[test]
fn parameters_hold_every_option_and_survive_the_file() {
    let model = builder(&numbers())
        .context_columns(["region"])
        .epochs(0)
        .dropout(0.25)
        .enforce_rounding(false)
        .segment_size(4)
        .numerical_distribution("v", NumericalDistribution::Bins(7))
        .mixed_precision(true)
        .fit(&numbers_frame())
        .unwrap();
    let parameters = model.parameters();
    assert_eq!(parameters.context_columns, ["region"]);
    assert_eq!((parameters.hidden_size, parameters.epochs), (8, Some(0)));
    assert_eq!((parameters.dropout, parameters.seed), (0.25, Some(1)));
    assert!(parameters.enforce_min_max_values && !parameters.enforce_rounding);
    assert_eq!(parameters.segment_size, Some(4));
    assert!(parameters.mixed_precision);
    let json: serde_json::Value = serde_json::from_str(&parameters.to_json()).unwrap();
    assert_eq!(json["batch_size"], serde_json::Value::Null);
    assert_eq!(json["numerical_distributions"]["v"]["bins"], 7);
    let setters = json.as_object().unwrap().len();
    assert_eq!(parameters.to_string().lines().count(), setters);
    assert_eq!(reloaded(&model).0.parameters(), parameters);
}

#[test]
fn loss_values_are_the_losses_of_the_report_and_their_columns_add_up() {
    let model = builder(&numbers())
        .context_columns(["region"])
        .epochs(3)
        .fit(&numbers_frame())
        .unwrap();
    let losses = model.loss_values().unwrap();
    let names = [
        "network",
        "epoch",
        "training_loss",
        "validation_loss",
        "learning_rate",
    ];
    assert_eq!(losses.get_column_names(), names);
    assert_eq!(losses.height(), model.report().losses.len());
    let networks = losses.column("network").unwrap().str().unwrap();
    assert_eq!(
        (networks.get(0), networks.get(5)),
        (Some("context"), Some("sequence"))
    );
    let rates = reals(&losses, "learning_rate");
    assert!(
        rates.iter().all(|&rate| rate > 0.0 && rate <= 0.005),
        "{rates:?}"
    );
    let held_out: Vec<Option<f64>> = model
        .report()
        .losses
        .iter()
        .map(|loss| loss.validation_nats)
        .collect();
    let validation = losses.column("validation_loss").unwrap().f64().unwrap();
    assert_eq!(validation.iter().collect::<Vec<_>>(), held_out);

    let by_column = model.loss_values_by_column().unwrap();
    // region and length, then v alone.
    assert_eq!(by_column.height(), 3 * 2 + 3);
    let last = reals(&by_column, "training_loss")[8];
    assert_eq!(last, reals(&losses, "training_loss")[5]);
    let of_context = reals(&by_column, "training_loss");
    let sum = of_context[0] + of_context[1];
    assert!((sum - reals(&losses, "training_loss")[0]).abs() < 1e-9); // two sums in another order
    assert_eq!(reloaded(&model).0.loss_values().unwrap(), losses);
}

#[test]
fn the_plot_of_the_losses_has_a_curve_for_each_network_and_needs_no_network() {
    let frame = numbers_frame();
    let model = builder(&numbers()).epochs(3).fit(&frame).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("losses.html");
    model.write_loss_values_plot(&path).unwrap();
    let page = std::fs::read_to_string(&path).unwrap();
    assert_eq!(page, model.loss_values_plot());
    assert_eq!(page.matches("<svg").count(), 2);
    assert!(page.contains("Losses of the sequence network"));
    assert!(!page.contains("http") && !page.contains("<script"));
    let error = model
        .write_loss_values_plot(folder.path().join("none/x.html"))
        .unwrap_err();
    assert!(matches!(error, Error::WritePlot { .. }), "{error}");
    let untrained = builder(&numbers()).epochs(0).fit(&frame).unwrap();
    assert!(untrained.loss_values_plot().contains("No epoch was run"));
    assert_eq!(untrained.loss_values().unwrap().height(), 0);
}

#[test]
fn progress_is_one_line_to_print() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let written = Arc::clone(&lines);
    builder(&numbers())
        .epochs(1)
        .verbose(true)
        .on_progress(move |progress| written.lock().unwrap().push(progress.to_string()))
        .fit(&numbers_frame())
        .unwrap();
    let lines = lines.lock().unwrap();
    let start = "sequence network, epoch 1 of at most 1: ";
    assert!(
        lines
            .iter()
            .any(|line| line.starts_with(start) && line.contains("held out")),
        "{lines:?}"
    );
    assert!(lines.iter().all(|line| !line.contains('\n')));
}
