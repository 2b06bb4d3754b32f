//! The scale of counts: the negative binomial distribution function.

use super::quantile::{MOST_KNOTS, QuantileMap, Unit};
use super::{Sorted, mean_and_deviation};

/// Counts that are rarer than this have the outermost score.
const TAIL: f64 = 1e-6;
/// The largest count looked at, in largest counts seen.
const REACH: f64 = 10.0;

/// A map whose distribution function is that of the negative binomial with the mean and variance of these counts, or
/// the Poisson with their mean where the variance is not the larger; each count is the interval of half a count around it.
pub(super) fn map(counts: &[f64]) -> QuantileMap {
    let (mean, deviation) = mean_and_deviation(counts);
    let variance = deviation * deviation;
    let largest = counts.iter().copied().fold(0.0, f64::max);
    // Failures of a negative binomial; the share of successes follows from the mean.
    let failures = (variance > mean && mean > 0.0).then(|| mean * mean / (variance - mean));
    let at_zero = match failures {
        Some(failures) => -failures * (mean / failures).ln_1p(),
        None => -mean,
    };
    let ratio = |count: f64| match failures {
        Some(failures) => (count + failures) * mean / ((failures + mean) * (count + 1.0)),
        None => mean / (count + 1.0),
    };
    let mut cumulated = Vec::new();
    let (mut log_mass, mut sum, mut count) = (at_zero, 0.0, 0.0);
    while count <= REACH * largest + 1.0 {
        sum += f64::exp(log_mass);
        cumulated.push(sum);
        if 1.0 - sum < TAIL && count >= largest {
            break;
        }
        log_mass += f64::ln(ratio(count));
        count += 1.0;
    }
    let last = cumulated.len() - 1;
    let (mut knots, mut shares) = (vec![-0.5], vec![0.0]);
    let mut add = |at: usize| {
        knots.push(at as f64 + 0.5);
        shares.push(if at == last {
            1.0
        } else {
            (cumulated[at] / sum).min(1.0)
        });
    };
    if last + 2 <= MOST_KNOTS {
        (0..=last).for_each(&mut add);
    } else {
        // Small counts are told apart one by one, large ones by the square.
        let places = MOST_KNOTS - 2;
        let mut next = 0;
        for place in 0..=places {
            let at = (last as f64 * (place as f64 / places as f64).powi(2)).round();
            #[allow(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "at most the last"
            )]
            let at = at as usize;
            if at >= next {
                add(at);
                next = at + 1;
            }
        }
    }
    QuantileMap {
        knots: Sorted::new(knots),
        shares: Sorted::new(shares),
        margin: TAIL / 4.0,
        unit: Unit::Count,
    }
}
