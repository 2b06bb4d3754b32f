//! What golden tables cannot show: large groups, odd numbers, slices of unequal length.

use super::pairs::{ascending, ranks_in};
use super::*;
use crate::rng::{Purpose, Seed, below, uniform};

/// Columns that arithmetic may stumble over.
fn odd_columns() -> Vec<Vec<f64>> {
    let mut generator = Seed::new(Some(1)).stream(Purpose::EvaluationSubsample);
    let mut columns = vec![
        vec![],
        vec![f64::NAN],
        vec![f64::NAN; 5],
        vec![0.0],
        vec![-0.0, 0.0, 5e-324],
        vec![1e300, -1e300, 1e300, 2e299],
        vec![f64::MAX, f64::MIN, f64::MAX],
        vec![f64::INFINITY, f64::NEG_INFINITY, 1.0],
        vec![f64::INFINITY; 3],
        vec![1e16, 1e16 + 2.0, f64::NAN],
        vec![1.0, 1.0, 1.0 + f64::EPSILON],
    ];
    columns.push((0..200).map(|_| uniform(&mut generator)).collect());
    columns
}

#[test]
fn scores_of_odd_numbers_are_none_or_within_bounds() {
    let columns = odd_columns();
    let check = |what: &str, score: Option<f64>| {
        assert!(
            score.is_none_or(|score| (0.0..=1.0).contains(&score)),
            "{what}: {score:?}"
        );
    };
    for real in &columns {
        for synthetic in &columns {
            let what = format!("{real:?} and {synthetic:?}");
            let statistics = [
                Statistic::Mean,
                Statistic::Median,
                Statistic::StandardDeviation,
                Statistic::Smallest,
                Statistic::Largest,
            ];
            check(&what, ks_complement(real, synthetic));
            check(&what, range_coverage(real, synthetic));
            check(&what, boundary_adherence(real, synthetic));
            check(&what, missing_value_similarity(real, synthetic));
            let keys = [Some(1), None, Some(1), Some(2)];
            for statistic in statistics {
                check(&what, statistic_similarity(real, synthetic, statistic));
                check(
                    &what,
                    statistic_msas((&keys, real), (&keys, synthetic), statistic),
                );
            }
            check(
                &what,
                inter_row_msas((&keys, real), (&keys, synthetic), 1, true),
            );
            for coefficient in [Coefficient::Pearson, Coefficient::Spearman] {
                let both = (real.as_slice(), synthetic.as_slice());
                check(&what, correlation_similarity(both, both, coefficient, 0.0));
                let turned = (synthetic.as_slice(), real.as_slice());
                check(
                    &what,
                    correlation_similarity(both, turned, coefficient, 0.0),
                );
            }
            let (left, right) = discretize(real, synthetic, 10);
            check(
                &what,
                contingency_similarity((&left, &left), (&right, &right), 0.0),
            );
            check(&what, cramers_v(&left, &right));
            let tables = (
                [TableColumn::Numbers(real)],
                [TableColumn::Numbers(synthetic)],
            );
            check(&what, new_row_synthesis(&tables.0, &tables.1, 0.01));
            for distance in distance_to_closest_record(&tables.1, &tables.0).unwrap_or_default() {
                check(&what, Some(distance));
            }
        }
    }
}

#[test]
fn extreme_ranges_are_still_ranges() {
    let real = [f64::MIN, f64::MAX];
    assert_eq!(range_coverage(&real, &[f64::MIN, 0.0]), Some(0.5));
    let half = statistic_similarity(&real, &[f64::MAX, f64::MAX], Statistic::Median);
    assert_eq!(half, Some(0.5));
    let distances = distance_to_closest_record(
        &[TableColumn::Numbers(&[0.0])],
        &[TableColumn::Numbers(&real)],
    );
    assert_eq!(distances, Some(vec![0.5]));
}

#[test]
fn a_line_is_a_line_at_any_scale_and_with_gaps() {
    let line: Vec<f64> = (0..9).map(f64::from).collect();
    for scale in [1e-300, 1e-160, 1.0, 1e160, 1e300] {
        let mut scaled: Vec<f64> = line.iter().map(|cell| (3.0 - cell) * scale).collect();
        scaled[2] = f64::NAN;
        for coefficient in [Coefficient::Pearson, Coefficient::Spearman] {
            let found = correlation(&line, &scaled, coefficient).unwrap();
            assert!((found + 1.0).abs() < 1e-12, "{scale}: {found}"); // 8 products
        }
    }
}

#[test]
fn of_slices_of_unequal_length_the_shortest_says_how_many_rows_there_are() {
    let long = [1.0, 2.0, 4.0, 3.0];
    let found = correlation(&long, &long[..3], Coefficient::Pearson);
    assert!((found.unwrap() - 1.0).abs() < 1e-12); // products of unit vectors
    let labels = [Some("a"), Some("b"), Some("a")];
    assert_eq!(cramers_v(&labels, &labels[..2]), Some(1.0));
    let tables = [
        TableColumn::Numbers(&long),
        TableColumn::Numbers(&long[..2]),
    ];
    assert_eq!(
        distance_to_closest_record(&tables, &tables).unwrap().len(),
        2
    );
    let values = statistic_msas((&labels, &[1.0]), (&labels, &[1.0]), Statistic::Mean);
    assert_eq!(values, Some(1.0));
}

#[test]
fn tables_of_other_columns_cannot_be_compared() {
    let numbers = [TableColumn::Numbers(&[1.0])];
    let categories = [TableColumn::Categories(&[Some(1)])];
    assert_eq!(new_row_synthesis(&numbers, &categories, 0.01), None);
    assert_eq!(new_row_synthesis(&[], &[], 0.01), None);
    assert_eq!(distance_to_closest_record(&numbers, &[]), None);
    assert_eq!(
        dcr_baseline_protection(&numbers, &categories, &numbers),
        None
    );
}

/// Rows of which some cells are missing, the numbers of both signs and several sizes.
fn table(rows: usize, seed: u64) -> (Vec<Vec<f64>>, Vec<Option<u32>>) {
    let mut generator = Seed::new(Some(seed)).stream(Purpose::EvaluationSubsample);
    let mut numbers = |scale: f64, missing: f64| -> Vec<f64> {
        let mut cell = || (uniform(&mut generator) - 0.3) * scale;
        let gaps: Vec<f64> = (0..rows).map(|_| cell()).collect();
        let draw = |gap: &f64| {
            if (gap / scale + 0.3) < missing {
                f64::NAN
            } else {
                cell()
            }
        };
        gaps.iter().map(draw).collect()
    };
    let columns = vec![numbers(1.0, 0.0), numbers(1000.0, 0.1), numbers(1e-6, 0.0)];
    let codes = (0..rows).map(|_| Some(u32::try_from(below(&mut generator, 3)).unwrap()));
    (
        columns,
        codes.map(|code| code.filter(|&code| code > 0)).collect(),
    )
}

#[test]
fn the_tree_finds_what_holding_each_row_against_each_finds() {
    let (real, real_codes) = table(3000, 1);
    let (synthetic, codes) = table(300, 2);
    let columns = |numbers: &'static Vec<Vec<f64>>, codes: &'static Vec<Option<u32>>| {
        let numbers = numbers.iter().map(|numbers| TableColumn::Numbers(numbers));
        numbers
            .chain([TableColumn::Categories(codes)])
            .collect::<Vec<_>>()
    };
    let (real, real_codes) = (Box::leak(Box::new(real)), Box::leak(Box::new(real_codes)));
    let (synthetic, codes) = (Box::leak(Box::new(synthetic)), Box::leak(Box::new(codes)));
    for tolerance in [0.0, 0.02, 0.2, 0.7] {
        let near = |row: usize, other: usize| {
            codes[row] == real_codes[other]
                && synthetic.iter().zip(real.iter()).all(|(numbers, real)| {
                    let (number, real) = (numbers[row], real[other]);
                    (number.is_nan() && real.is_nan())
                        || (real - number).abs() <= (tolerance * number).abs()
                })
        };
        let new = (0..300)
            .filter(|&row| !(0..3000).any(|other| near(row, other)))
            .count();
        let found = new_row_synthesis(
            &columns(real, real_codes),
            &columns(synthetic, codes),
            tolerance,
        );
        assert_eq!(found, Some(new as f64 / 300.0), "{tolerance}");
    }
    let itself = columns(real, real_codes);
    assert_eq!(new_row_synthesis(&itself, &itself, 0.0), Some(0.0));
}

#[test]
fn counting_by_sorting_and_in_a_table_agree() {
    let mut generator = Seed::new(Some(3)).stream(Purpose::EvaluationSubsample);
    let mut codes = |labels: usize| -> Vec<u32> {
        let code = |_| u32::try_from(below(&mut generator, labels + 1)).unwrap();
        (0..500).map(code).collect()
    };
    let (first, second) = (codes(30), codes(20));
    let counts = |first_labels, second_labels| {
        PairCounts::of(&CodePair {
            first: &first,
            second: &second,
            first_labels,
            second_labels,
        })
    };
    // Labels that do not occur change nothing but the way of counting.
    let (table, sorted) = (counts(30, 20), counts(300, 2000));
    let association = table.cramers_v().unwrap();
    assert!((association - sorted.cramers_v().unwrap()).abs() < 1e-12); // the same 400 terms
    assert!(association > 0.0 && association < 1.0);
    assert_eq!(complement_of_variation(&table, &table), Some(1.0));
    assert_eq!(complement_of_variation(&sorted, &sorted), Some(1.0));
}

#[test]
fn a_hundred_thousand_categories_are_no_table_of_ten_billion_cells() {
    let labels: Vec<Option<u32>> = (0..100_000).map(Some).collect();
    let turned: Vec<Option<u32>> = labels.iter().rev().copied().collect();
    let pair = (labels.as_slice(), turned.as_slice());
    assert_eq!(contingency_similarity(pair, pair, 0.3), Some(1.0));
    let shifted: Vec<Option<u32>> = (50_000..150_000).map(Some).collect();
    assert_eq!(category_coverage(&labels, &shifted), Some(0.5));
    assert!((tv_complement(&labels, &shifted).unwrap() - 0.5).abs() < 1e-6); // unseen ones count 1e-6
}

#[test]
fn ranks_share_their_mean_and_skip_what_is_left_out() {
    let values = [3.0, 1.0, f64::NAN, 3.0, -2.0];
    let order = ascending(&values);
    assert_eq!(order, [4, 1, 0, 3]);
    let ranks = ranks_in(&values, &order);
    assert_eq!(ranks[..2], [3.5, 2.0]);
    assert!(ranks[2].is_nan());
    assert_eq!(ranks[3..], [3.5, 1.0]);
}

#[test]
fn lengths_are_not_normalised_by_the_size_of_the_table() {
    let keys = |lengths: &[usize]| -> Vec<Option<usize>> {
        let sequence = |(key, &rows): (usize, &usize)| vec![Some(key); rows];
        lengths.iter().enumerate().flat_map(sequence).collect()
    };
    let score = |real: &[usize], synthetic: &[usize]| {
        sequence_length_similarity(&keys(real), &keys(synthetic)).unwrap()
    };
    assert_eq!(score(&[2, 3, 1], &[2, 1, 3]), 1.0);
    assert!((score(&[4, 6, 2], &[2, 1, 3]) - 1.0 / 3.0).abs() < 1e-12); // 1 - 2/3
}
