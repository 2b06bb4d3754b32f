//! Pictures of histograms, shares, correlations and scores as SVG, beside the lines that `charts` draws.

use maud::{Markup, html};

use crate::charts::{BOTTOM, HEIGHT, LEFT, Label, TOP, WIDTH, path, scale, short};
use crate::evaluation::text::figure;
use crate::evaluation::{CategoryShare, Histogram, HistogramSide};

/// Real as an area, synthetic as a line over it, held out as a dashed line; heights are densities, so that bins of
/// unequal width are fair.
pub(super) fn histogram(title: &str, histogram: &Histogram, label: Label) -> Markup {
    let edges = &histogram.edges;
    let (Some(&low), Some(&high)) = (edges.first(), edges.last()) else {
        return html! {};
    };
    let plot = (LEFT, WIDTH - LEFT);
    let floor = HEIGHT - BOTTOM;
    let x = |edge: f64| scale(edge, (low, high), plot);
    let densities = |side: &HistogramSide| -> Vec<f64> {
        let widths = edges
            .windows(2)
            .map(|pair| (x(pair[1]) - x(pair[0])).max(1e-9));
        side.shares
            .iter()
            .zip(widths)
            .map(|(share, width)| share / width)
            .collect()
    };
    let sides = [
        Some(&histogram.real),
        Some(&histogram.synthetic),
        histogram.holdout.as_ref(),
    ];
    let densities: Vec<Option<Vec<f64>>> = sides.iter().map(|side| side.map(densities)).collect();
    let top = densities
        .iter()
        .flatten()
        .flatten()
        .copied()
        .fold(1e-12, f64::max);
    let steps = |heights: &[f64]| -> Vec<(f64, f64)> {
        let mut steps = vec![(x(low), floor)];
        for (pair, height) in edges.windows(2).zip(heights) {
            let y = scale(*height, (0.0, top), (floor, TOP));
            steps.extend([(x(pair[0]), y), (x(pair[1]), y)]);
        }
        steps.push((x(high), floor));
        steps
    };
    let class = ["real-area", "synthetic-line", "held-line"];
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(title) {
            title { (title) }
            line.axis x1=(LEFT) x2=(WIDTH - LEFT) y1=(floor) y2=(floor) {}
            @for (heights, class) in densities.iter().zip(class) {
                @if let Some(heights) = heights { path class=(class) d=(path(&steps(heights))) {} }
            }
            text x=(LEFT) y=(HEIGHT - 5.0) { (tail(histogram, true)) (label(low)) }
            text x=(WIDTH - LEFT) y=(HEIGHT - 5.0) text-anchor="end" { (label(high)) (tail(histogram, false)) }
        }
    }
}

/// A mark where values lie outside the picture.
fn tail(histogram: &Histogram, below: bool) -> &'static str {
    let outside = [&histogram.real, &histogram.synthetic].iter().any(|side| {
        if below {
            side.below > 0.0
        } else {
            side.above > 0.0
        }
    });
    match (outside, below) {
        (false, _) => "",
        (true, true) => "… ",
        (true, false) => " …",
    }
}

/// Two bars for each category, with its name over them.
pub(super) fn categories(title: &str, shares: &[CategoryShare]) -> Markup {
    let line = 27.0;
    let height = shares.len() as f64 * line + 4.0;
    let top = shares
        .iter()
        .flat_map(|share| [share.real, share.synthetic])
        .fold(1e-9, f64::max);
    let room = WIDTH - 2.0 * LEFT - 88.0;
    html! {
        svg viewBox=(format!("0 0 {WIDTH} {height}")) role="img" aria-label=(title) {
            title { (title) }
            @for (at, share) in shares.iter().enumerate() {
                @let y = at as f64 * line;
                text x=(LEFT) y=(y + 11.0) { (short(&share.label, 46)) }
                rect.real-bar x=(LEFT) y=(y + 14.0) width=(format!("{:.1}", room * share.real / top)) height="4.5" {}
                rect.synthetic-bar x=(LEFT) y=(y + 19.0) width=(format!("{:.1}", room * share.synthetic / top)) height="4.5" {}
                text x=(WIDTH - LEFT) y=(y + 22.0) text-anchor="end" {
                    (format!("{:.1} / {:.1}%", 100.0 * share.real, 100.0 * share.synthetic))
                }
            }
        }
    }
}

/// A table of shades: the darker, the larger; each cell says its value when pointed at.
pub(super) fn heat(
    title: &str,
    class: &str,
    rows: &[String],
    columns: &[String],
    values: &[Vec<f64>],
    top: f64,
) -> Markup {
    let side = (220.0 / columns.len().max(1) as f64).min(26.0);
    let left = 88.0;
    // Never narrower than the other pictures, or the few cells of a small table would be drawn huge.
    let width = (left + side * columns.len() as f64 + 4.0).max(WIDTH);
    let height = side * rows.len() as f64 + 74.0;
    html! {
        svg viewBox=(format!("0 0 {width:.1} {height:.1}")) role="img" aria-label=(title) {
            title { (title) }
            @for (row, name) in rows.iter().enumerate() {
                text x=(left - 4.0) y=(format!("{:.1}", (row as f64 + 0.5) * side + 4.0)) text-anchor="end" { (short(name, 12)) }
                @for (column, other) in columns.iter().enumerate() {
                    @let value = values.get(row).and_then(|values| values.get(column)).copied().unwrap_or(0.0);
                    rect class=(class) x=(format!("{:.1}", left + column as f64 * side)) y=(format!("{:.1}", row as f64 * side))
                        width=(format!("{:.1}", side - 1.0)) height=(format!("{:.1}", side - 1.0))
                        fill-opacity=(format!("{:.3}", (value.abs() / top).clamp(0.0, 1.0).sqrt().max(0.03))) {
                        title { (name) ", " (other) ": " (figure(value, false)) }
                    }
                }
            }
            @for (column, name) in columns.iter().enumerate() {
                @let x = left + (column as f64 + 0.5) * side;
                @let y = side * rows.len() as f64 + 8.0;
                text x=(format!("{x:.1}")) y=(format!("{y:.1}")) text-anchor="end"
                    transform=(format!("rotate(-55 {x:.1} {y:.1})")) { (short(name, 11)) }
            }
        }
    }
}

/// A bar from 0 to 1 with a mark where real halves stand.
pub(super) fn score_bar(score: Option<f64>, mark: Option<f64>) -> Markup {
    html! {
        svg viewBox="0 0 200 14" preserveAspectRatio="none" aria-hidden="true" height="14" {
            rect.rule x="0" y="5" width="200" height="4" fill="var(--grid)" {}
            @if let Some(score) = score {
                rect.synthetic-bar x="0" y="4" width=(format!("{:.1}", 200.0 * score.clamp(0.0, 1.0))) height="6" {}
            }
            @if let Some(mark) = mark {
                rect.real-dot x=(format!("{:.1}", 200.0 * mark.clamp(0.0, 1.0) - 1.5)) y="0" width="3" height="14" {}
            }
        }
    }
}
