//! Small pictures as SVG. Colours are classes, so that light and dark are the style sheet's affair.

use std::fmt::Write;

use maud::{Markup, html};

use crate::evaluation::text::figure;
use crate::evaluation::{CategoryShare, Histogram, HistogramSide};

const WIDTH: f64 = 320.0;
const HEIGHT: f64 = 150.0;
const LEFT: f64 = 6.0;
const TOP: f64 = 6.0;
const BOTTOM: f64 = 20.0;

/// A curve with its class, points in data units.
pub(super) struct Curve {
    pub(super) class: &'static str,
    pub(super) points: Vec<(f64, f64)>,
}

/// How a place on an axis is written.
pub(super) type Label<'a> = &'a dyn Fn(f64) -> String;

/// Lines over one pair of axes.
pub(super) struct Lines<'a> {
    pub(super) title: String,
    pub(super) curves: Vec<Curve>,
    /// What must be seen of each axis, beside the points.
    pub(super) x: Option<(f64, f64)>,
    pub(super) y: Option<(f64, f64)>,
    pub(super) x_label: Label<'a>,
    pub(super) y_label: Label<'a>,
}

/// Smallest and largest, with room where they are one.
fn span(values: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = values
        .filter(|value| value.is_finite())
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), value| {
            (low.min(value), high.max(value))
        });
    if low > high {
        return (0.0, 1.0);
    }
    if low == high {
        let room = (low.abs() / 2.0).max(0.5);
        return (low - room, high + room);
    }
    (low, high)
}

/// From a range of data to a range of the picture; halves, since a range may be wider than floats are.
fn scale(value: f64, from: (f64, f64), to: (f64, f64)) -> f64 {
    let share = (value / 2.0 - from.0 / 2.0) / (from.1 / 2.0 - from.0 / 2.0);
    to.0 + share.clamp(0.0, 1.0) * (to.1 - to.0)
}

impl Lines<'_> {
    pub(super) fn svg(&self) -> Markup {
        let points = || {
            self.curves
                .iter()
                .flat_map(|curve| curve.points.iter().copied())
        };
        let ends =
            |range: Option<(f64, f64)>| range.into_iter().flat_map(|(low, high)| [low, high]);
        let x = span(points().map(|point| point.0).chain(ends(self.x)));
        let y = span(points().map(|point| point.1).chain(ends(self.y)));
        let plot = (LEFT, WIDTH - LEFT);
        let floor = HEIGHT - BOTTOM;
        let place = |point: &(f64, f64)| {
            (
                scale(point.0, x, plot),
                scale(point.1, y, (floor, TOP + 8.0)),
            )
        };
        html! {
            svg viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) role="img" aria-label=(self.title) {
                title { (self.title) }
                line.axis x1=(LEFT) x2=(WIDTH - LEFT) y1=(floor) y2=(floor) {}
                @if y.0 < 0.0 && y.1 > 0.0 {
                    line.rule x1=(LEFT) x2=(WIDTH - LEFT) y1=(scale(0.0, y, (floor, TOP + 8.0))) y2=(scale(0.0, y, (floor, TOP + 8.0))) {}
                }
                @for curve in &self.curves {
                    @let places: Vec<(f64, f64)> = curve.points.iter().map(place).collect();
                    @if places.len() == 1 {
                        circle cx=(places[0].0) cy=(places[0].1) r="2.2" class=(curve.class.replace("line", "dot")) {}
                    } @else {
                        path class=(curve.class) d=(path(&places)) {}
                    }
                }
                text x=(LEFT) y=(TOP + 5.0) { ((self.y_label)(y.1)) }
                text x=(LEFT) y=(floor - 3.0) { ((self.y_label)(y.0)) }
                text x=(LEFT) y=(HEIGHT - 5.0) { ((self.x_label)(x.0)) }
                text x=(WIDTH - LEFT) y=(HEIGHT - 5.0) text-anchor="end" { ((self.x_label)(x.1)) }
            }
        }
    }
}

fn path(places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (at, (x, y)) in places.iter().enumerate() {
        let command = if at == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{command}{x:.1} {y:.1}"); // a String takes everything
    }
    path
}

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

/// The first letters of a name, so that pictures stay in their frame.
pub(super) fn short(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    let mut short: String = name.chars().take(letters.saturating_sub(1)).collect();
    short.push('…');
    short
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
