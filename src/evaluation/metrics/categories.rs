//! Metrics of one column of categories.

use std::collections::HashMap;
use std::hash::Hash;

use crate::table::MISSING_CODE;

/// What SDMetrics counts a category that only the synthetic side has as in the real one.
const UNSEEN_COUNT: f64 = 1e-6;

/// SDMetrics' `TVComplement`: 1 less half the summed differences of the shares of each category (the total variation
/// distance), missing cells left out. As there, a category that only the synthetic side has counts as a millionth of
/// a real row. `None` where one side has no value.
pub fn tv_complement<T: Eq + Hash>(real: &[Option<T>], synthetic: &[Option<T>]) -> Option<f64> {
    tv_of(&Tally::of_both(real, synthetic))
}

/// SDMetrics' `CategoryCoverage`: the share of the real categories that occur on the synthetic side. `None` where the
/// real side has none.
pub fn category_coverage<T: Eq + Hash>(real: &[Option<T>], synthetic: &[Option<T>]) -> Option<f64> {
    coverage_of(&Tally::of_both(real, synthetic))
}

/// SDMetrics' `CategoryAdherence`: the share of synthetic cells whose category occurs on the real side; a missing cell
/// fits where the real side has missing cells. `None` where there is no synthetic cell.
pub fn category_adherence<T: Eq + Hash>(
    real: &[Option<T>],
    synthetic: &[Option<T>],
) -> Option<f64> {
    adherence_of(&Tally::of_both(real, synthetic))
}

/// How often each category of a column occurs on two sides.
#[derive(Debug, Clone)]
pub(crate) struct Tally {
    /// Real and synthetic rows of each category.
    pub(crate) counts: Vec<[usize; 2]>,
    /// Real and synthetic rows in which it is missing.
    pub(crate) missing: [usize; 2],
}

impl Tally {
    /// Counts codes below `labels`; all others are missing cells.
    pub(crate) fn of_codes(real: &[u32], synthetic: &[u32], labels: usize) -> Tally {
        let mut tally = Tally {
            counts: vec![[0, 0]; labels],
            missing: [0, 0],
        };
        for (side, codes) in [real, synthetic].into_iter().enumerate() {
            for &code in codes {
                match tally.counts.get_mut(code as usize) {
                    Some(counts) => counts[side] += 1,
                    None => tally.missing[side] += 1,
                }
            }
        }
        tally
    }

    fn of_both<T: Eq + Hash>(real: &[Option<T>], synthetic: &[Option<T>]) -> Tally {
        let mut codes = Codes::default();
        let (real, synthetic) = (codes.of(real), codes.of(synthetic));
        Tally::of_codes(&real, &synthetic, codes.places.len())
    }

    /// Rows of one side, missing ones left out.
    pub(crate) fn present(&self, side: usize) -> usize {
        self.counts.iter().map(|counts| counts[side]).sum()
    }
}

/// Numbers categories in the order in which they are first met.
#[derive(Debug)]
pub(super) struct Codes<'a, T> {
    pub(super) places: HashMap<&'a T, u32>,
}

impl<T> Default for Codes<'_, T> {
    fn default() -> Self {
        Codes {
            places: HashMap::new(),
        }
    }
}

impl<'a, T: Eq + Hash> Codes<'a, T> {
    /// `MISSING_CODE` where a cell is missing, and for categories beyond the four billionth.
    pub(super) fn of(&mut self, cells: &'a [Option<T>]) -> Vec<u32> {
        cells
            .iter()
            .map(|cell| {
                cell.as_ref().map_or(MISSING_CODE, |category| {
                    let next = u32::try_from(self.places.len()).unwrap_or(MISSING_CODE);
                    *self.places.entry(category).or_insert(next)
                })
            })
            .collect()
    }
}

pub(crate) fn tv_of(tally: &Tally) -> Option<f64> {
    let (real, synthetic) = (tally.present(0), tally.present(1));
    if real == 0 || synthetic == 0 {
        return None;
    }
    let unseen = |counts: &[usize; 2]| counts[0] == 0 && counts[1] > 0;
    let invented = tally.counts.iter().filter(|counts| unseen(counts)).count();
    let real = real as f64 + UNSEEN_COUNT * invented as f64;
    let differences = tally.counts.iter().map(|counts| {
        let real_count = if unseen(counts) {
            UNSEEN_COUNT
        } else {
            counts[0] as f64
        };
        (counts[1] as f64 / synthetic as f64 - real_count / real).abs()
    });
    Some((1.0 - 0.5 * differences.sum::<f64>()).max(0.0))
}

pub(crate) fn coverage_of(tally: &Tally) -> Option<f64> {
    let real = tally.counts.iter().filter(|counts| counts[0] > 0);
    let (all, covered) = real.fold((0_usize, 0_usize), |(all, covered), counts| {
        (all + 1, covered + usize::from(counts[1] > 0))
    });
    (all > 0).then(|| covered as f64 / all as f64)
}

pub(crate) fn adherence_of(tally: &Tally) -> Option<f64> {
    let rows = tally.present(1) + tally.missing[1];
    let known = tally.counts.iter().filter(|counts| counts[0] > 0);
    let fitting: usize = known.map(|counts| counts[1]).sum();
    let missing = if tally.missing[0] > 0 {
        tally.missing[1]
    } else {
        0
    };
    (rows > 0).then(|| (fitting + missing) as f64 / rows as f64)
}
