//! Points in a tree of boxes (a k-d tree, Bentley 1975), to ask whether one lies within reach of a center.

/// Points of a box that is not split further.
const FEW: usize = 16;

/// Points in boxes within boxes.
#[derive(Debug)]
pub(super) struct Boxes {
    /// Point after point, those of a box side by side.
    points: Vec<f64>,
    dimensions: usize,
    nodes: Vec<Node>,
}

#[derive(Debug)]
struct Node {
    /// Points, from and to.
    start: usize,
    end: usize,
    low: Vec<f64>,
    high: Vec<f64>,
    /// Positions of the two halves.
    halves: Option<(usize, usize)>,
}

impl Boxes {
    /// `points` holds `dimensions` numbers a point, none NaN.
    pub(super) fn of(points: Vec<f64>, dimensions: usize) -> Boxes {
        let count = points.len() / dimensions;
        let mut order: Vec<usize> = (0..count).collect();
        let mut boxes = Boxes {
            points,
            dimensions,
            nodes: Vec::new(),
        };
        boxes.split(&mut order, 0);
        boxes.points = order
            .iter()
            .flat_map(|&point| boxes.point(point).iter().copied())
            .collect();
        boxes
    }

    fn point(&self, point: usize) -> &[f64] {
        &self.points[point * self.dimensions..(point + 1) * self.dimensions]
    }

    /// Makes the box of the points in `order`, the first of which is to be at `start`; gives its position.
    fn split(&mut self, order: &mut [usize], start: usize) -> usize {
        let mut low = vec![f64::INFINITY; self.dimensions];
        let mut high = vec![f64::NEG_INFINITY; self.dimensions];
        for &point in order.iter() {
            for (dimension, &number) in self.point(point).iter().enumerate() {
                low[dimension] = low[dimension].min(number);
                high[dimension] = high[dimension].max(number);
            }
        }
        let widest = widest(&low, &high);
        let position = self.nodes.len();
        self.nodes.push(Node {
            start,
            end: start + order.len(),
            low,
            high,
            halves: None,
        });
        if let (Some(widest), true) = (widest, order.len() > FEW) {
            let middle = order.len() / 2;
            order.select_nth_unstable_by(middle, |&left, &right| {
                self.point(left)[widest].total_cmp(&self.point(right)[widest])
            });
            let (left, right) = order.split_at_mut(middle);
            let left = self.split(left, start);
            let right = self.split(right, start + middle);
            self.nodes[position].halves = Some((left, right));
        }
        position
    }

    /// Whether a point lies within reach of the center in every dimension.
    pub(super) fn holds_near(&self, center: &[f64], reach: &[f64]) -> bool {
        let near = |point: &[f64]| {
            let numbers = point.iter().zip(center).zip(reach);
            numbers
                .into_iter()
                .all(|((number, center), reach)| (number - center).abs() <= *reach)
        };
        let beyond = |node: &Node| {
            (0..self.dimensions).any(|at| {
                node.low[at] - center[at] > reach[at] || center[at] - node.high[at] > reach[at]
            })
        };
        let mut waiting = vec![0];
        while let Some(position) = waiting.pop() {
            let node = &self.nodes[position];
            if beyond(node) {
                continue;
            }
            if near(&node.low) && near(&node.high) {
                return true;
            }
            match node.halves {
                Some((left, right)) => waiting.extend([left, right]),
                None => {
                    if (node.start..node.end).any(|point| near(self.point(point))) {
                        return true;
                    }
                }
            }
        }
        false
    }
}

/// The dimension in which numbers differ most for their size, as reach grows with size; `None` where all are equal.
fn widest(low: &[f64], high: &[f64]) -> Option<usize> {
    let width = |at: usize| {
        let width = (high[at] - low[at]) / low[at].abs().max(high[at].abs());
        if width.is_nan() { 0.0 } else { width }
    };
    (0..low.len())
        .filter(|&at| low[at] < high[at])
        .max_by(|&left, &right| width(left).total_cmp(&width(right)))
}
