//! Which values bound which: every "at most" between two values, followed through to those it implies.
//! In: pairs of nodes. Out: for each node all that lie below and above it.

use super::Constraint;
use super::error::ConstraintError;
use super::rules::Place;
use crate::table::Measure;

/// Something that has a number when a value is drawn.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Node {
    /// A number of the rule's own.
    Constant { number: f64, measure: Measure },
    /// The value of the row at hand, or of the context.
    Now(Place),
    /// The last value of a row before this one that was not missing.
    Before(Place),
    /// The next known value of a given row after this one.
    After(Place),
}

/// That one node is at most another, or below it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Link {
    pub(super) low: usize,
    pub(super) high: usize,
    pub(super) is_strict: bool,
    /// The constraint that says so; of a link that follows from others, the one it begins with.
    pub(super) statement: usize,
    /// Whether a constraint says it in so many words.
    pub(super) is_direct: bool,
}

/// Nodes and links, closed under "at most of at most".
#[derive(Debug, Clone, Default)]
pub(super) struct Order {
    pub(super) nodes: Vec<Node>,
    pub(super) links: Vec<Link>,
}

impl Order {
    pub(super) fn node(&mut self, node: Node) -> usize {
        self.nodes
            .iter()
            .position(|known| *known == node)
            .unwrap_or_else(|| {
                self.nodes.push(node);
                self.nodes.len() - 1
            })
    }

    pub(super) fn at_most(&mut self, low: Node, high: Node, is_strict: bool, statement: usize) {
        let (low, high) = (self.node(low), self.node(high));
        self.links.push(Link {
            low,
            high,
            is_strict,
            statement,
            is_direct: true,
        });
    }

    /// Adds what follows from the links.
    /// # Errors
    /// [`ConstraintError::Contradiction`] when a value would have to be at most itself by way of others.
    pub(super) fn close(&mut self, constraints: &[Constraint]) -> Result<(), ConstraintError> {
        let mut known: Vec<Vec<Option<Link>>> =
            vec![vec![None; self.nodes.len()]; self.nodes.len()];
        for link in &self.links {
            let place = &mut known[link.low][link.high];
            if place.is_none_or(|before| link.is_strict && !before.is_strict) {
                *place = Some(*link);
            }
        }
        for middle in 0..self.nodes.len() {
            let above = known[middle].clone();
            for (low, row) in known.iter_mut().enumerate() {
                let Some(first) = row[middle] else {
                    continue;
                };
                let above = above.iter().enumerate();
                for (high, second) in above.filter_map(|(high, link)| Some((high, (*link)?))) {
                    let is_strict = first.is_strict || second.is_strict;
                    if row[high].is_none_or(|before| is_strict && !before.is_strict) {
                        row[high] = Some(Link {
                            low,
                            high,
                            is_strict,
                            statement: first.statement,
                            is_direct: false,
                        });
                    }
                }
            }
        }
        if let Some(link) = (0..self.nodes.len()).find_map(|node| known[node][node]) {
            return Err(ConstraintError::Contradiction {
                constraint: constraints
                    .get(link.statement)
                    .map_or_else(String::new, ToString::to_string),
                problem: "they put columns in a circle, each at most the next; only equal values could keep them, which a formula says better".to_owned(),
            });
        }
        let direct: Vec<Link> = self.links.clone();
        let implied = known.into_iter().flatten().flatten();
        self.links
            .extend(implied.filter(|link| !direct.contains(link)));
        Ok(())
    }
}
