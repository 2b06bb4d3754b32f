//! Pages of small pictures as SVG, for the reports that the crate writes: no network, no scripts.
//! In: points. Out: markup; everything that comes from a table goes through maud, which escapes it. Colours are
//! classes, so that light and dark are the style sheet's affair.

mod losses;

use std::fmt::Write;

use maud::{DOCTYPE, Markup, PreEscaped, html};

pub(crate) use losses::{loss_cards, loss_page};

const STYLE: &str = include_str!("charts/style.css");

pub(crate) const WIDTH: f64 = 320.0;
pub(crate) const HEIGHT: f64 = 150.0;
pub(crate) const LEFT: f64 = 6.0;
pub(crate) const TOP: f64 = 6.0;
pub(crate) const BOTTOM: f64 = 20.0;

/// A whole page around its body.
pub(crate) fn page(title: &str, body: &Markup) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    };
    page.into_string()
}

/// A picture with its name, a figure beside that and a note below.
pub(crate) fn card(name: &str, value: &str, picture: &Markup, note: &str) -> Markup {
    html! {
        figure {
            figcaption { span { (short(name, 80)) } span.figure { (value) } }
            (picture)
            @if !note.is_empty() { p.note { (note) } }
        }
    }
}

/// A number in four digits that say something.
pub(crate) fn figure(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    if size != 0.0 && !(1e-4..1e7).contains(&size) {
        return format!("{value:.2e}");
    }
    let decimals = match size {
        size if size >= 1000.0 => 0,
        size if size >= 100.0 => 1,
        size if size >= 1.0 => 2,
        _ => 4,
    };
    let text = format!("{value:.decimals$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// The first letters of a name, so that pictures stay in their frame.
pub(crate) fn short(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    let mut short: String = name.chars().take(letters.saturating_sub(1)).collect();
    short.push('…');
    short
}

/// A curve with its class, points in data units.
pub(crate) struct Curve {
    pub(crate) class: &'static str,
    pub(crate) points: Vec<(f64, f64)>,
}

/// How a place on an axis is written.
pub(crate) type Label<'a> = &'a dyn Fn(f64) -> String;

/// Lines over one pair of axes.
pub(crate) struct Lines<'a> {
    pub(crate) title: String,
    pub(crate) curves: Vec<Curve>,
    /// What must be seen of each axis, beside the points.
    pub(crate) x: Option<(f64, f64)>,
    pub(crate) y: Option<(f64, f64)>,
    pub(crate) x_label: Label<'a>,
    pub(crate) y_label: Label<'a>,
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
pub(crate) fn scale(value: f64, from: (f64, f64), to: (f64, f64)) -> f64 {
    let share = (value / 2.0 - from.0 / 2.0) / (from.1 / 2.0 - from.0 / 2.0);
    to.0 + share.clamp(0.0, 1.0) * (to.1 - to.0)
}

impl Lines<'_> {
    pub(crate) fn svg(&self) -> Markup {
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

pub(crate) fn path(places: &[(f64, f64)]) -> String {
    let mut path = String::new();
    for (at, (x, y)) in places.iter().enumerate() {
        let command = if at == 0 { 'M' } else { 'L' };
        let _ = write!(path, "{command}{x:.1} {y:.1}"); // a String takes everything
    }
    path
}
