//! How the losses of a fit went, as pictures.

use super::{Curve, Lines, card, figure, page};
use crate::report::{EpochLoss, Stage};
use maud::{Markup, html};

const LEGEND: &str = "Mean negative log-likelihood in nats by epoch, on the sequences learned from (the real colour) and held out for validation (the synthetic colour).";

/// A picture for each network; nothing where there is no loss.
pub(crate) fn loss_cards(losses: &[EpochLoss]) -> Markup {
    if losses.is_empty() {
        return html! {};
    }
    html! {
        p { (LEGEND) }
        div class="cards wide" { @for stage in [Stage::Context, Stage::Sequence] { (loss_card(stage, losses)) } }
    }
}

fn loss_card(stage: Stage, losses: &[EpochLoss]) -> Markup {
    let curve = |class, value: fn(&EpochLoss) -> Option<f64>| Curve {
        class,
        points: losses
            .iter()
            .filter(|loss| loss.stage == stage)
            .filter_map(|loss| Some((loss.epoch as f64, value(loss)?)))
            .filter(|point| point.1.is_finite())
            .collect(),
    };
    let lines = Lines {
        title: format!("Losses of the {stage} network"),
        curves: vec![
            curve("real-line", |loss| Some(loss.training_nats)),
            curve("synthetic-line", |loss| loss.validation_nats),
        ],
        x: None,
        y: None,
        x_label: &figure,
        y_label: &figure,
    };
    card(&format!("{stage} network"), "", &lines.svg(), "")
}

/// The losses of a fit as a page of their own.
pub(crate) fn loss_page(losses: &[EpochLoss]) -> String {
    let body = html! {
        header { h1 { "How training went" } }
        main {
            @if losses.is_empty() { p { "No epoch was run." } }
            (loss_cards(losses))
        }
        footer { "Made by parsynth " (env!("CARGO_PKG_VERSION")) "." }
    };
    page("Losses of the fit, parsynth", &body)
}
