#![allow(clippy::unwrap_used, reason = "a test's panic is its report")]

use super::*;
use crate::rng::{Purpose, Seed};

fn generator() -> ChaCha12Rng {
    Seed::new(Some(7)).stream(Purpose::Imputation)
}

#[test]
fn candidates_go_on_as_often_as_they_weigh() {
    let mut generator = generator();
    assert_eq!(thinned(&[1.0; 16], &mut generator), None);
    assert_eq!(thinned(&[1.0], &mut generator), None);
    let mut weights = vec![0.0; 16];
    (weights[3], weights[9]) = (0.75, 0.25);
    let parents = thinned(&weights, &mut generator).unwrap();
    let of = |parent: usize| parents.iter().filter(|&&own| own == parent).count();
    assert_eq!((parents.len(), of(3), of(9)), (16, 12, 4));
}

#[test]
fn what_was_drawn_is_found_through_those_it_was_handed_on_by() {
    let cell = |row: usize, class: u32| FilledCell {
        column: 0,
        row,
        cell: DecidedValue::Class(class),
    };
    let genealogy = || Genealogy {
        events: vec![
            Event::Drawn(vec![vec![cell(0, 10), cell(0, 11)], vec![cell(0, 20)]]),
            Event::Thinned(vec![1, 0]),
            Event::Drawn(vec![vec![cell(1, 30)], vec![cell(1, 40)]]),
        ],
    };
    let drawn = genealogy().drawn_by(0);
    assert_eq!(drawn, [cell(0, 20), cell(1, 30)]);
    let drawn = genealogy().drawn_by(1);
    assert_eq!(drawn, [cell(0, 10), cell(0, 11), cell(1, 40)]);
}
