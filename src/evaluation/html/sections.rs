//! The sections of the page. One that has nothing to show is empty.

use maud::{Markup, html};

use super::charts::{categories, heat, histogram, score_bar};
use crate::charts::{Curve, Label, Lines, card, loss_cards};
use crate::evaluation::text::{duration, figure, score, share};
use crate::evaluation::{EvaluationReport, Histogram, Track, TrackColumn};

/// Pictures shown at once; the rest is folded.
const SHOWN: usize = 12;
/// Pictures there are at all, the worst of them.
const MOST_PICTURES: usize = 60;
/// Columns of a correlation map.
const MOST_MAPPED: usize = 24;

/// Pictures in a grid: some at once, more behind a line to click.
fn cards(pictures: Vec<Markup>, class: &str, all: usize) -> Markup {
    let mut shown = pictures;
    let folded = if shown.len() > SHOWN {
        shown.split_off(SHOWN)
    } else {
        Vec::new()
    };
    html! {
        div class=(format!("cards {class}")) { @for picture in shown { (picture) } }
        @if !folded.is_empty() {
            details {
                summary { (folded.len()) " more" @if all > MOST_PICTURES { ", of " (all) " in all" } }
                div class=(format!("cards {class}")) { @for picture in folded { (picture) } }
            }
        }
    }
}

/// The lowest first, then in the table's order; what is undefined last.
fn worst_first<T>(items: &mut [T], score: impl Fn(&T) -> Option<f64>) {
    items.sort_by(|left, right| {
        score(left)
            .unwrap_or(2.0)
            .total_cmp(&score(right).unwrap_or(2.0))
    });
}

pub(super) fn scores(report: &EvaluationReport) -> Markup {
    html! {
        p { "Each score lies between 0 and 1, and 1 is best. The mark in a bar is what one random half of the real sequences scores against the other: near it is as good as real; halves are smaller than the table, so a good one may pass it. Overall is the mean of the first eight." }
        div.scroll {
            table.scores {
                thead { tr { th { "score" } th.number { "synthetic" } th { "" } th.number { "real halves" } th.meaning { "what is compared" } } }
                tbody {
                    @for line in &report.fidelity.scores {
                        tr {
                            td.name { (line.name) }
                            td.number { (score(line.score)) }
                            td.bar { (score_bar(line.score, line.of_real_halves)) }
                            td.number { (score(line.of_real_halves)) }
                            td.meaning { (line.meaning) }
                        }
                    }
                    @for (name, value, meaning) in [
                        ("SDMetrics column shapes", report.quality.column_shapes, "its quality report, numbers that can be compared with published ones"),
                        ("SDMetrics pair trends", report.quality.column_pair_trends, "pairs that are related in the real table; no score where none is"),
                        ("SDMetrics validity", report.diagnostic.data_validity, "its diagnostic report: possible values"),
                        ("SDMetrics structure", report.diagnostic.data_structure, "its diagnostic report: columns and dtypes"),
                    ] {
                        tr {
                            td.name { (name) } td.number { (score(value)) } td.bar { (score_bar(value, None)) }
                            td.number { "–" } td.meaning { (meaning) }
                        }
                    }
                }
            }
        }
    }
}

fn missing_note(real: (usize, usize), synthetic: (usize, usize)) -> String {
    let of = |(missing, rows): (usize, usize)| missing as f64 / rows.max(1) as f64;
    if real.0 + synthetic.0 == 0 {
        return String::new();
    }
    format!(
        "missing: {} real, {} synthetic",
        share(of(real)),
        share(of(synthetic))
    )
}

pub(super) fn columns(report: &EvaluationReport) -> Markup {
    let mut pictures: Vec<(Option<f64>, Markup)> = Vec::new();
    for column in &report.columns.numbers {
        let Some(bins) = &column.histogram else {
            continue;
        };
        let title = format!(
            "{}: how real and synthetic values are distributed",
            column.column
        );
        let picture = histogram(&title, bins, &|value| figure(value, column.date));
        let note = missing_note(
            (column.real.missing, column.real.rows),
            (column.synthetic.missing, column.synthetic.rows),
        );
        pictures.push((
            column.ks_complement,
            card(
                &column.column,
                &score(column.ks_complement),
                &picture,
                &note,
            ),
        ));
    }
    for column in &report.columns.categories {
        let shares: Vec<_> = column.shares.iter().take(10).cloned().collect();
        let title = format!("{}: shares of real and synthetic categories", column.column);
        let note = missing_note(
            (column.real.missing, column.real.rows),
            (column.synthetic.missing, column.synthetic.rows),
        );
        let more = column
            .real
            .categories
            .max(column.synthetic.categories)
            .saturating_sub(shares.len());
        let note = if more > 0 {
            format!("{more} more categories; {note}")
        } else {
            note
        };
        let note = note.trim_end_matches("; ").to_owned();
        pictures.push((
            column.tv_complement,
            card(
                &column.column,
                &score(column.tv_complement),
                &categories(&title, &shares),
                &note,
            ),
        ));
    }
    if pictures.is_empty() {
        return html! {};
    }
    worst_first(&mut pictures, |picture| picture.0);
    let all = pictures.len();
    let pictures = pictures
        .into_iter()
        .take(MOST_PICTURES)
        .map(|picture| picture.1)
        .collect();
    html! {
        p { (key()) " The number beside a name is SDMetrics' KSComplement or TVComplement, 1 is best; the worst come first. … marks values outside the picture." }
        (cards(pictures, "", all))
    }
}

fn key() -> Markup {
    html! { span.real-key { "real" } " " span.synthetic-key { "synthetic" } }
}

pub(super) fn pairs(report: &EvaluationReport) -> Markup {
    let names: Vec<String> = report
        .columns
        .numbers
        .iter()
        .take(MOST_MAPPED)
        .map(|column| column.column.clone())
        .collect();
    let map = |synthetic: Option<bool>| -> Vec<Vec<f64>> {
        let mut values = vec![vec![0.0; names.len()]; names.len()];
        for pair in &report.quality.pairs {
            let place = |name: &str| names.iter().position(|other| other == name);
            let (Some(first), Some(second)) = (place(&pair.first), place(&pair.second)) else {
                continue;
            };
            let (real, other) = (
                pair.real_correlation.unwrap_or(0.0),
                pair.synthetic_correlation.unwrap_or(0.0),
            );
            let value = match synthetic {
                Some(false) => real,
                Some(true) => other,
                None => other - real,
            };
            values[first][second] = value;
            values[second][first] = value;
        }
        values
    };
    if report.quality.pairs.is_empty() {
        return html! {};
    }
    let mut worst: Vec<_> = report.quality.pairs.iter().collect();
    worst_first(&mut worst, |pair| pair.plain_score);
    let maps = [
        ("real", "real-cell", Some(false)),
        ("synthetic", "synthetic-cell", Some(true)),
        ("difference", "synthetic-cell", None),
    ];
    html! {
        @if names.len() > 2 {
            h3 { "Correlation of numbers" }
            p { "The stronger the shade, the further from 0, whichever its sign; point at a cell for its value." }
            div.cards {
                @for (name, class, which) in maps {
                    (card(name, "", &heat(&format!("Correlations, {name}"), class, &names, &names, &map(which), 1.0), ""))
                }
            }
        }
        h3 { "The pairs that are off most" }
        div.scroll { table {
            thead { tr { th { "pair" } th.number { "score" } th.number { "real" } th.number { "synthetic" } } }
            tbody { @for pair in worst.iter().take(10) {
                tr {
                    td.name { (pair.first) " × " (pair.second) }
                    td.number { (score(pair.plain_score)) }
                    td.number { (pair.real_correlation.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"))) }
                    td.number { (pair.synthetic_correlation.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"))) }
                }
            } }
        } }
        p.note { "Real and synthetic are Pearson correlations, of pairs of numbers alone; the score is of Spearman's, or of the joint table." }
        div class="cards wide" {
            @for table in report.columns.worst_pairs.iter().take(4) {
                @let top = table.real.iter().chain(&table.synthetic).flatten().copied().fold(1e-9, f64::max);
                @for (name, class, values) in [("real", "real-cell", &table.real), ("synthetic", "synthetic-cell", &table.synthetic)] {
                    (card(
                        &format!("{} by {}, {name}", table.first.column, table.second.column), &score(table.score),
                        &heat(&format!("{} by {}, {name}", table.first.column, table.second.column), class, &table.first.labels, &table.second.labels, values, top), "",
                    ))
                }
            }
        }
    }
}

pub(super) fn sequences(report: &EvaluationReport) -> Markup {
    let lengths = &report.sequences.lengths;
    let bins = |name: &str, value: Option<f64>, bins: &Option<Histogram>, label: Label| {
        bins.as_ref()
            .map(|bins| card(name, &score(value), &histogram(name, bins, label), ""))
    };
    let plain = |value: f64| figure(value, false);
    let mut pictures: Vec<Markup> = bins(
        "rows per sequence",
        lengths.similarity,
        &lengths.histogram,
        &plain,
    )
    .into_iter()
    .collect();
    for column in report.sequences.columns.iter().take(MOST_PICTURES) {
        let label = |value: f64| {
            if column.date {
                duration(value)
            } else {
                figure(value, false)
            }
        };
        let name = format!("step of {}", column.column);
        pictures.extend(bins(
            &name,
            column.steps.score,
            &column.steps.histogram,
            &label,
        ));
    }
    html! {
        p { "Lengths, and changes from a row to the next (the gaps, for the sequence index); " (key()) "." }
        (cards(pictures, "", 0))
        @if !report.tracks.is_empty() {
            h3 { "A few sequences, drawn at random" }
            div class="cards wide" { @for column in &report.tracks { (tracks(column, true)) (tracks(column, false)) } }
        }
    }
}

/// Real and synthetic sequences of a column have the same axes.
fn tracks(column: &TrackColumn, real: bool) -> Markup {
    let of = |tracks: &[Track], class| -> Vec<Curve> {
        let curves = tracks.iter().filter(|track| !track.places.is_empty());
        curves
            .map(|track| Curve {
                class,
                points: track
                    .places
                    .iter()
                    .copied()
                    .zip(track.values.iter().copied())
                    .collect(),
            })
            .collect()
    };
    let all = || column.real.iter().chain(&column.synthetic);
    let range = |values: &mut dyn Iterator<Item = f64>| {
        values.fold(None, |range: Option<(f64, f64)>, value| {
            Some(range.map_or((value, value), |(low, high)| {
                (low.min(value), high.max(value))
            }))
        })
    };
    let name = if real { "real" } else { "synthetic" };
    let curves = if real {
        of(&column.real, "real-line")
    } else {
        of(&column.synthetic, "synthetic-line")
    };
    let from = if column.since_start {
        " from its start"
    } else {
        ""
    };
    let title = format!("{} along {}{from}, {name}", column.column, column.along);
    let lines = Lines {
        title: title.clone(),
        curves,
        x: range(&mut all().flat_map(|track| track.places.iter().copied())),
        y: range(&mut all().flat_map(|track| track.values.iter().copied())),
        x_label: &|value| match (column.along_dates, column.since_start) {
            (true, true) => duration(value),
            (dates, _) => figure(value, dates),
        },
        y_label: &|value| figure(value, column.dates),
    };
    card(&title, "", &lines.svg(), "")
}

pub(super) fn along_time(report: &EvaluationReport) -> Markup {
    let time = &report.along_time;
    let curve = |class, values: &[Option<f64>]| Curve {
        class,
        points: (1_u32..)
            .zip(values)
            .filter_map(|(lag, value)| Some((f64::from(lag), (*value)?)))
            .collect(),
    };
    let plain = |value: f64| figure(value, false);
    let autocorrelations: Vec<Markup> = time
        .autocorrelations
        .iter()
        .filter(|of| of.real.iter().flatten().next().is_some())
        .take(MOST_PICTURES)
        .map(|of| {
            let mut curves = vec![
                curve("real-line", &of.real),
                curve("synthetic-line", &of.synthetic),
            ];
            curves.extend(
                of.holdout
                    .as_ref()
                    .map(|holdout| curve("held-line", holdout)),
            );
            let lines = Lines {
                title: format!("{}: autocorrelation by rows apart", of.column),
                curves,
                x: Some((1.0, of.real.len().max(2) as f64)),
                y: Some((-0.2, 1.0)),
                x_label: &plain,
                y_label: &plain,
            };
            card(&of.column, "", &lines.svg(), "")
        })
        .collect();
    let spectra: Vec<Markup> = time
        .spectra
        .iter()
        .take(MOST_PICTURES)
        .map(|spectrum| {
            let curve = |class, values: &[f64]| Curve {
                class,
                points: spectrum
                    .frequencies
                    .iter()
                    .copied()
                    .zip(values.iter().copied())
                    .collect(),
            };
            let lines = Lines {
                title: format!("{}: share of movement by cycles per row", spectrum.column),
                curves: vec![
                    curve("real-line", &spectrum.real),
                    curve("synthetic-line", &spectrum.synthetic),
                ],
                x: None,
                y: Some((0.0, 0.1)),
                x_label: &|value| format!("{value:.2}"),
                y_label: &share,
            };
            card(
                &spectrum.column,
                &score(Some(spectrum.score)),
                &lines.svg(),
                "",
            )
        })
        .collect();
    let mut tables: Vec<_> = time
        .transitions
        .iter()
        .filter(|table| table.labels.len() > 1)
        .collect();
    worst_first(&mut tables, |table| table.score);
    let transitions: Vec<Markup> = tables
        .iter()
        .take(MOST_PICTURES / 2)
        .flat_map(|table| {
            [
                ("real", "real-cell", &table.real),
                ("synthetic", "synthetic-cell", &table.synthetic),
            ]
            .map(|(name, class, values)| {
                let title = format!(
                    "{}, {name}: share of the rows that go from (side) to (below)",
                    table.column
                );
                let picture = heat(
                    &title,
                    class,
                    &table.labels,
                    &table.labels,
                    &conditional(values),
                    1.0,
                );
                card(
                    &format!("{}, {name}", table.column),
                    &score(table.score),
                    &picture,
                    "",
                )
            })
        })
        .collect();
    if autocorrelations.is_empty() && transitions.is_empty() {
        return html! {};
    }
    html! {
        @if let Some(rise) = &time.index_rise {
            p { (rise.column) " rises in " (share(rise.synthetic)) " of the synthetic steps and " (share(rise.real)) " of the real ones." }
        }
        @if !autocorrelations.is_empty() {
            h3 { "Autocorrelation" }
            p { "How strongly a row follows the one some rows before, from 1 to as many as fit, each sequence's own mean taken off; " (key()) @if report.tables.holdout.is_some() { ", dashed held out" } "." }
            (cards(autocorrelations, "", 0))
        }
        @if !transitions.is_empty() {
            h3 { "Transitions" }
            p { "From the category at the side to the one below: the stronger the shade, the more of its rows go there." }
            (cards(transitions, "wide", 0))
        }
        @if !spectra.is_empty() {
            h3 { "Spectrum" }
            p { "Slow movements at the left, quick ones at the right: share of the movement by cycles per row; " (key()) "." }
            (cards(spectra, "", 0))
        }
    }
}

/// Shares of each line instead of all.
fn conditional(values: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let line = |line: &Vec<f64>| {
        let sum: f64 = line.iter().sum();
        line.iter()
            .map(|value| if sum > 0.0 { value / sum } else { 0.0 })
            .collect()
    };
    values.iter().map(line).collect()
}

pub(super) fn two_sample(report: &EvaluationReport) -> Markup {
    let test = &report.two_sample;
    let median =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| figure(value, false));
    html! {
        @match test.auc {
            Some(auc) => p {
                "Gradient boosting on summary features of " (test.sequences) " sequences a side finds the real one of a real and a synthetic sequence "
                strong { (share(auc)) } " of the time; 50% is guessing."
            },
            None => p { "There are fewer than 40 sequences a side: too few for a classifier to learn anything." },
        }
        div.scroll { table {
            caption { "What tells most by itself" }
            thead { tr { th { "feature" } th.number { "real is larger" } th.number { "real median" } th.number { "synthetic" } } }
            tbody { @for giveaway in &test.giveaways { tr {
                td.name { (giveaway.feature) } td.number { (share(giveaway.auc)) }
                td.number { (median(giveaway.real_median)) } td.number { (median(giveaway.synthetic_median)) }
            } } }
        } }
    }
}

pub(super) fn next_row(report: &EvaluationReport) -> Markup {
    let next = &report.next_row;
    if next.columns.iter().all(|column| column.score.is_none()) {
        return html! {};
    }
    let skill =
        |value: Option<f64>| value.map_or_else(|| "–".to_owned(), |value| format!("{value:.2}"));
    html! {
        p { "Who has learned from synthetic rows alone foretells the next real row: how well, beside who has learned from real ones. Skill 1 is perfect, 0 is the best constant guess. "
            @if next.on_holdout { "Tested on held-out sequences." } @else { "Tested on one half of the real sequences, the other half being the real teacher." } }
        div.scroll { table {
            thead { tr { th { "column" } th.number { "from real" } th.number { "from synthetic" } th.number { "score" } } }
            tbody { @for column in &next.columns { tr {
                td.name { (column.column) } td.number { (skill(column.real_skill)) }
                td.number { (skill(column.synthetic_skill)) } td.number { (score(column.score)) }
            } } }
        } }
    }
}

pub(super) fn privacy(report: &EvaluationReport) -> Markup {
    let privacy = &report.privacy;
    let closeness = &privacy.closeness;
    let curve = |class, distances: &Option<crate::evaluation::DistanceQuantiles>| {
        distances.as_ref().map(|distances| Curve {
            class,
            points: distances
                .quantiles
                .iter()
                .copied()
                .zip((0_u32..).map(|step| f64::from(step) / 20.0))
                .collect(),
        })
    };
    let curves: Vec<Curve> = [
        curve("synthetic-line", &closeness.synthetic_to_real),
        curve("real-line", &closeness.holdout_to_real),
        curve("held-line", &closeness.synthetic_to_holdout),
    ]
    .into_iter()
    .flatten()
    .collect();
    let lines = Lines {
        title: "Share of sequences within a distance to their closest neighbour".to_owned(),
        curves,
        x: Some((0.0, 1.0)),
        y: Some((0.0, 1.0)),
        x_label: &|value| figure(value, false),
        y_label: &share,
    };
    html! {
        p { "All by whole sequences; keys, ids and the order of rows leave no trace. These checks find what they look for and promise nothing." }
        div.scroll { table {
            thead { tr { th { "check" } th { "outcome" } th { "why" } } }
            tbody { @for verdict in &privacy.verdicts { tr {
                td { (verdict.check) } td class=(verdict.outcome.to_string()) { (verdict.outcome) } td.name { (verdict.reason) }
            } } }
        } }
        div class="cards wide" {
            (card("distance to the closest sequence", "", &lines.svg(),
                "Share of sequences within a distance: synthetic to real (the synthetic colour), held-out to real (the real colour), synthetic to held-out (dashed). A synthetic curve left of the held-out one is closer than a fresh sample would be."))
        }
        @if !privacy.copies.named.is_empty() {
            p { "Copies (synthetic sequence, real sequence, counted from 0 in the order of keys): "
                @for copy in &privacy.copies.named { (copy.synthetic_sequence) " of " (copy.real_sequence) " (" (copy.rows) " rows); " } }
        }
    }
}

pub(super) fn losses(report: &EvaluationReport) -> Markup {
    loss_cards(&report.losses)
}
