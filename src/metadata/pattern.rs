//! A `regex_format` as a numbered set of texts.
//! In: a regular expression. Out: how many texts it has and the text of each number, so that distinct
//! numbers can give distinct ids without a list of those already given.

use std::ops::Range;

use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

/// Repeats allowed past the minimum where the pattern sets no upper limit (`+`, `*`, `{3,}`).
const OPEN_REPEATS: usize = 16;
/// Longest id a pattern may give, in characters; keeps a hostile pattern from filling memory.
const MAX_LENGTH: usize = 1000;
/// Patterns with at least this many texts are drawn from, not numbered; a repeat is then out of reach.
pub(crate) const UNCOUNTED: u128 = 1 << 100;
/// What a class is narrowed to when it has such characters at all: `.` should not give control codes.
const PRINTABLE: (char, char) = ('!', '~');

/// A compiled `regex_format`.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    root: Node,
}

#[derive(Debug, Clone)]
struct Node {
    kind: Kind,
    /// Number of texts, counted once per way to match; `UNCOUNTED` stands for that many or more.
    capacity: u128,
    shortest: usize,
    longest: usize,
    /// Whether no text can be matched in two ways.
    unambiguous: bool,
}

#[derive(Debug, Clone)]
enum Kind {
    Literal(String),
    Class(Vec<(char, char)>),
    Concat(Vec<Node>),
    Alternation(Vec<Node>),
    Repeat {
        sub: Box<Node>,
        min: usize,
        max: usize,
    },
}

impl Pattern {
    /// Compiles a pattern; the error says in a few words what is wrong with it.
    pub(crate) fn compile(regex: &str) -> Result<Pattern, String> {
        // Byte mode first: there `\d` is 0-9, as SDV makes it; classes beyond ASCII need the other mode.
        let bytes = parse(regex, false).and_then(|hir| build(&hir));
        let root = bytes.or_else(|_| parse(regex, true).and_then(|hir| build(&hir)))?;
        if root.longest > MAX_LENGTH {
            return Err(format!(
                "it gives texts longer than {MAX_LENGTH} characters"
            ));
        }
        if root.longest == 0 {
            return Err("it gives only the empty text".to_owned());
        }
        Ok(Pattern { root })
    }

    /// How many texts there are; `UNCOUNTED` for that many or more. An ambiguous pattern has fewer.
    pub(crate) fn capacity(&self) -> u128 {
        self.root.capacity
    }

    /// Whether different numbers surely give different texts.
    pub(crate) fn unambiguous(&self) -> bool {
        self.root.unambiguous
    }

    /// The text of a number below `capacity`.
    pub(crate) fn text(&self, number: u128) -> String {
        let mut text = String::new();
        self.root.write(number, &mut text);
        text
    }

    /// A text drawn by `random`, for patterns too large to number.
    pub(crate) fn draw(&self, random: &mut impl FnMut() -> u64) -> String {
        let mut text = String::new();
        self.root.draw(random, &mut text);
        text
    }
}

fn parse(regex: &str, unicode: bool) -> Result<Hir, String> {
    ParserBuilder::new()
        .unicode(unicode)
        .utf8(unicode)
        .nest_limit(100)
        .build()
        .parse(regex)
        .map_err(|error| match error {
            regex_syntax::Error::Parse(error) => error.kind().to_string(),
            regex_syntax::Error::Translate(error) => error.kind().to_string(),
            _ => "it cannot be parsed".to_owned(),
        })
}

fn build(hir: &Hir) -> Result<Node, String> {
    match hir.kind() {
        HirKind::Empty => Ok(Node::literal(String::new())),
        HirKind::Literal(literal) => String::from_utf8(literal.0.to_vec())
            .map(Node::literal)
            .map_err(|_| "it matches bytes that are no text".to_owned()),
        HirKind::Class(class) => Node::class(class),
        // An id is always matched as a whole, so an anchor at its ends says nothing new.
        HirKind::Look(_) => {
            Err("anchors and word boundaries are allowed at its ends only".to_owned())
        }
        HirKind::Repetition(repetition) => build_repeat(repetition),
        HirKind::Capture(capture) => build(&capture.sub),
        HirKind::Concat(parts) => {
            let last = parts.len() - 1;
            let is_anchor = |position: usize, part: &Hir| {
                (position == 0 || position == last) && matches!(part.kind(), HirKind::Look(_))
            };
            let nodes = parts
                .iter()
                .enumerate()
                .filter(|(position, part)| !is_anchor(*position, part))
                .map(|(_, part)| build(part))
                .collect::<Result<Vec<_>, _>>()?;
            Ok(Node::concat(nodes))
        }
        HirKind::Alternation(branches) => Ok(Node::alternation(
            branches.iter().map(build).collect::<Result<Vec<_>, _>>()?,
        )),
    }
}

fn build_repeat(repetition: &Repetition) -> Result<Node, String> {
    let sub = build(&repetition.sub)?;
    if sub.longest == 0 {
        return Ok(Node::literal(String::new()));
    }
    let min = usize::try_from(repetition.min).unwrap_or(usize::MAX);
    let max = match repetition.max {
        Some(max) => usize::try_from(max).unwrap_or(usize::MAX),
        None => min.saturating_add(OPEN_REPEATS),
    };
    let longest = sub.longest.saturating_mul(max);
    if longest > MAX_LENGTH {
        return Err(format!(
            "it gives texts longer than {MAX_LENGTH} characters"
        ));
    }
    let at_most_once = max <= 1 && (min == max || sub.shortest > 0);
    let unambiguous = sub.unambiguous && (at_most_once || sub.shortest == sub.longest);
    let capacity = (min..=max)
        .map(|count| power(sub.capacity, count))
        .fold(0, |sum: u128, part| sum.saturating_add(part).min(UNCOUNTED));
    Ok(Node {
        capacity,
        shortest: sub.shortest * min,
        longest,
        unambiguous,
        kind: Kind::Repeat {
            sub: Box::new(sub),
            min,
            max,
        },
    })
}

fn power(base: u128, exponent: usize) -> u128 {
    (0..exponent).fold(1, |product: u128, _| {
        product.saturating_mul(base).min(UNCOUNTED)
    })
}

impl Node {
    fn literal(text: String) -> Node {
        let length = text.chars().count();
        Node {
            kind: Kind::Literal(text),
            capacity: 1,
            shortest: length,
            longest: length,
            unambiguous: true,
        }
    }

    fn class(class: &Class) -> Result<Node, String> {
        let all: Vec<(char, char)> = match class {
            Class::Unicode(class) => class
                .ranges()
                .iter()
                .map(|range| (range.start(), range.end()))
                .collect(),
            Class::Bytes(class) => class
                .ranges()
                .iter()
                .filter(|range| range.start() < 128)
                .map(|range| (char::from(range.start()), char::from(range.end().min(127))))
                .collect(),
        };
        let printable: Vec<(char, char)> = all
            .iter()
            .map(|&(start, end)| (start.max(PRINTABLE.0), end.min(PRINTABLE.1)))
            .filter(|(start, end)| start <= end)
            .collect();
        let ranges = if printable.is_empty() { all } else { printable };
        let capacity = ranges
            .iter()
            .map(|&(start, end)| characters_between(start, end))
            .sum();
        if capacity == 0 {
            return Err("it has a class without any character".to_owned());
        }
        Ok(Node {
            kind: Kind::Class(ranges),
            capacity,
            shortest: 1,
            longest: 1,
            unambiguous: true,
        })
    }

    fn concat(nodes: Vec<Node>) -> Node {
        let loose = nodes
            .iter()
            .filter(|node| node.shortest != node.longest)
            .count();
        Node {
            capacity: nodes.iter().fold(1, |product: u128, node| {
                product.saturating_mul(node.capacity).min(UNCOUNTED)
            }),
            shortest: nodes.iter().map(|node| node.shortest).sum(),
            longest: nodes
                .iter()
                .fold(0, |sum: usize, node| sum.saturating_add(node.longest)),
            // With one part of free length, the length of the whole says where each part ends.
            unambiguous: loose <= 1 && nodes.iter().all(|node| node.unambiguous),
            kind: Kind::Concat(nodes),
        }
    }

    fn alternation(branches: Vec<Node>) -> Node {
        let disjoint = branches.iter().enumerate().all(|(position, branch)| {
            branches[..position]
                .iter()
                .all(|earlier| earlier.surely_differs(branch))
        });
        Node {
            capacity: branches.iter().fold(0, |sum: u128, node| {
                sum.saturating_add(node.capacity).min(UNCOUNTED)
            }),
            shortest: branches.iter().map(|node| node.shortest).min().unwrap_or(0),
            longest: branches.iter().map(|node| node.longest).max().unwrap_or(0),
            unambiguous: disjoint && branches.iter().all(|node| node.unambiguous),
            kind: Kind::Alternation(branches),
        }
    }

    fn surely_differs(&self, other: &Node) -> bool {
        let (left, right) = (self.beginning(), other.beginning());
        let by_start = !left.starts_with(right) && !right.starts_with(left);
        by_start || self.longest < other.shortest || other.longest < self.shortest
    }

    /// The literal text that every match starts with.
    fn beginning(&self) -> &str {
        match &self.kind {
            Kind::Literal(text) => text,
            Kind::Concat(nodes) => nodes.first().map_or("", Node::beginning),
            Kind::Class(_) | Kind::Alternation(_) | Kind::Repeat { .. } => "",
        }
    }

    fn write(&self, mut number: u128, text: &mut String) {
        match &self.kind {
            Kind::Literal(literal) => text.push_str(literal),
            Kind::Class(ranges) => {
                for &(start, end) in ranges {
                    let size = characters_between(start, end);
                    if number < size {
                        text.extend(nth_character(start, number));
                        return;
                    }
                    number -= size;
                }
            }
            Kind::Concat(nodes) => {
                for node in nodes {
                    node.write(number % node.capacity, text);
                    number /= node.capacity;
                }
            }
            Kind::Alternation(branches) => {
                for branch in branches {
                    if number < branch.capacity {
                        return branch.write(number, text);
                    }
                    number -= branch.capacity;
                }
            }
            Kind::Repeat { sub, min, max } => {
                for count in *min..=*max {
                    let size = power(sub.capacity, count);
                    if number < size {
                        for _ in 0..count {
                            sub.write(number % sub.capacity, text);
                            number /= sub.capacity;
                        }
                        return;
                    }
                    number -= size;
                }
            }
        }
    }

    fn draw(&self, random: &mut impl FnMut() -> u64, text: &mut String) {
        if self.capacity < UNCOUNTED {
            let wide = (u128::from(random()) << 64) | u128::from(random());
            return self.write(wide % self.capacity, text);
        }
        match &self.kind {
            Kind::Literal(literal) => text.push_str(literal),
            Kind::Class(_) => self.write(u128::from(random()) % self.capacity, text),
            Kind::Concat(nodes) => nodes.iter().for_each(|node| node.draw(random, text)),
            Kind::Alternation(branches) => {
                // Small branches are left out: drawing one often would repeat its few texts.
                let large: Vec<&Node> = branches
                    .iter()
                    .filter(|node| node.capacity >= UNCOUNTED)
                    .collect();
                match large.get(bounded(random(), large.len())) {
                    Some(branch) => branch.draw(random, text),
                    // Branches that are uncounted only together: as many draws, weighted by size.
                    None => self.draw_weighted(branches, random, text),
                }
            }
            Kind::Repeat { sub, min, max } => {
                // Counts weigh as many texts as they have: each repeat less is `capacity` times rarer.
                let mut count = *max;
                while count > *min && u128::from(random()) % sub.capacity == 0 {
                    count -= 1;
                }
                for _ in 0..count {
                    sub.draw(random, text);
                }
            }
        }
    }

    fn draw_weighted(
        &self,
        branches: &[Node],
        random: &mut impl FnMut() -> u64,
        text: &mut String,
    ) {
        let total: u128 = branches.iter().map(|branch| branch.capacity).sum();
        let wide = (u128::from(random()) << 64) | u128::from(random());
        let mut rest = wide % total;
        for branch in branches {
            if rest < branch.capacity {
                return branch.draw(random, text);
            }
            rest -= branch.capacity;
        }
    }
}

fn bounded(random: u64, length: usize) -> usize {
    let length = u64::try_from(length).unwrap_or(u64::MAX);
    random
        .checked_rem(length)
        .and_then(|value| usize::try_from(value).ok())
        .unwrap_or(usize::MAX)
}

/// Code points that are no characters, which a range of characters jumps over.
const SURROGATES: Range<u32> = 0xd800..0xe000;

fn characters_between(start: char, end: char) -> u128 {
    let (start, end) = (u32::from(start), u32::from(end));
    let jumps = start < SURROGATES.start && end >= SURROGATES.end;
    let skipped = if jumps {
        SURROGATES.end - SURROGATES.start
    } else {
        0
    };
    u128::from(end - start + 1 - skipped)
}

fn nth_character(start: char, number: u128) -> Option<char> {
    let start = u32::from(start);
    let code = start + u32::try_from(number).ok()?;
    let jumps = start < SURROGATES.start && code >= SURROGATES.start;
    let skipped = if jumps {
        SURROGATES.end - SURROGATES.start
    } else {
        0
    };
    char::from_u32(code + skipped)
}
