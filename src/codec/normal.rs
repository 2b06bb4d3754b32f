//! The standard normal distribution function and its inverse.

use statrs::function::erf::{erfc, erfc_inv};
use std::f64::consts::SQRT_2;

/// P(Z <= `score`) for a standard normal Z.
pub(crate) fn distribution(score: f64) -> f64 {
    erfc(-score / SQRT_2) / 2.0
}

/// The score below which a standard normal falls with probability `share`, which lies inside (0, 1).
pub(crate) fn quantile(share: f64) -> f64 {
    -SQRT_2 * erfc_inv(2.0 * share)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distribution_and_quantile_match_published_values() {
        assert!((distribution(1.959_963_984_540_054) - 0.975).abs() < 1e-9); // statrs' rational approximation
        assert!((quantile(0.975) - 1.959_963_984_540_054).abs() < 1e-8);
        assert!((quantile(0.5)).abs() < 1e-12);
        assert!((distribution(quantile(1e-4)) - 1e-4).abs() < 1e-9);
    }
}
