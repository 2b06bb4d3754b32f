//! The distance of weighted samples.

use super::steps::{Steps, weighted_similarity};
use crate::evaluation::metrics::ks_complement;

#[test]
fn equal_weights_give_the_distance_of_kolmogorov_and_smirnov() {
    let (real, synthetic) = ([1.0, 2.0, 2.0, 5.0], [2.0, 3.0, 7.0]);
    let weighted =
        |sample: &[f64]| -> Vec<(f64, f64)> { sample.iter().map(|&value| (value, 0.25)).collect() };
    let found = weighted_similarity(&weighted(&real), &weighted(&synthetic)).unwrap();
    assert!((found - ks_complement(&real, &synthetic).unwrap()).abs() < 1e-12); // 7 sums
}

#[test]
fn a_long_sequence_weighs_as_much_as_a_short_one() {
    let mut values = vec![0.0, 5.0];
    values.extend((0..101).map(f64::from));
    let real = Steps::of(&values, &[0..2, 2..103]);
    let short = Steps::of(&[0.0, 5.0], std::slice::from_ref(&(0..2)));
    let found = weighted_similarity(&real.weighted, &short.weighted).unwrap();
    assert!((found - 0.5).abs() < 1e-12); // 100 sums of a hundredth
    assert_eq!(weighted_similarity(&[], &short.weighted), None);
}
