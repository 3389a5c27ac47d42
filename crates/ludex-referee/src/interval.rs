//! Confidence intervals for mean goals.

/// A mean with its 95 % confidence interval.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Estimate {
    /// The sample mean.
    pub mean: f64,
    /// The lower end of the interval.
    pub low: f64,
    /// The upper end of the interval.
    pub high: f64,
}

/// The quantile of the normal distribution that leaves 2.5 % above it.
const Z: f64 = 1.959_963_984_540_054;

/// Weight of the prior: this many imaginary matches, all won or lost, enter the dispersion.
const N_PRIOR: f64 = 2.0;

/// Estimates the mean of values from 0 to 1; returns `None` without values.
///
/// This is Wilson's score interval with the variance of a coin scaled by the measured dispersion.
/// If every match is won or lost, the dispersion is 1 and the interval is Wilson's own. Draws make
/// it narrower. It never shrinks to a point, not even when all values are equal, because the prior
/// pulls the dispersion towards that of a coin; and it never leaves 0 to 1.
///
/// After Wilson, *Probable Inference, the Law of Succession, and Statistical Inference*, 1927.
pub fn estimate(values: &[f64]) -> Option<Estimate> {
    if values.is_empty() {
        return None;
    }
    let n = values.len() as f64;
    let mean = values.iter().sum::<f64>() / n;
    let variance = values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / n;
    let coin = mean * (1.0 - mean);
    let measured = if coin > 1e-12 { (variance / coin).min(1.0) } else { 1.0 };
    let dispersion = (n * measured + N_PRIOR) / (n + N_PRIOR);
    // Dividing the number of matches by the dispersion is the same as scaling the variance.
    let n = n / dispersion;
    let center = (mean + Z * Z / (2.0 * n)) / (1.0 + Z * Z / n);
    let half = Z / (1.0 + Z * Z / n) * (coin / n + Z * Z / (4.0 * n * n)).sqrt();
    Some(Estimate { mean, low: (center - half).max(0.0), high: (center + half).min(1.0) })
}

impl Estimate {
    /// Multiplies the mean and both ends by a factor.
    pub fn scaled(self, factor: f64) -> Self {
        Self { mean: self.mean * factor, low: self.low * factor, high: self.high * factor }
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;
    use statrs::distribution::{ContinuousCDF, Normal};

    use super::*;

    #[test]
    fn the_quantile_is_that_of_the_normal_distribution() {
        assert!((Z - Normal::standard().inverse_cdf(0.975)).abs() < 1e-9);
    }

    #[test]
    fn wins_and_losses_give_the_interval_of_wilson() {
        // 8 of 10: 0.490 to 0.943 in every table.
        let values: Vec<f64> = (0..10).map(|idx| f64::from(u8::from(idx < 8))).collect();
        let found = estimate(&values).expect("there are values");
        assert!((found.mean - 0.8).abs() < 1e-12);
        assert!((found.low - 0.490).abs() < 1e-3 && (found.high - 0.943).abs() < 1e-3, "{found:?}");
    }

    #[test]
    fn draws_narrow_the_interval_but_never_to_a_point() {
        let width = |values: &[f64]| estimate(values).map(|found| found.high - found.low);
        let drawn = width(&[0.5; 20]).expect("there are values");
        let mixed: Vec<f64> = (0..20).map(|idx| f64::from(idx % 2)).collect();
        let decided = width(&mixed).expect("there are values");
        assert!(drawn > 0.02 && drawn < 0.6 * decided, "{drawn} {decided}");
        let won = estimate(&[1.0; 20]).expect("there are values");
        assert!(won.high == 1.0 && won.low < 0.9, "{won:?}");
        assert_eq!(estimate(&[]), None);
    }

    #[test]
    fn the_interval_holds_the_true_mean_in_95_of_100_series() {
        // Wins, draws and losses with mean 0.6; 20 matches a series.
        let mut rng = Seed(5).rng();
        let mut n_held = 0;
        for _ in 0..4_000 {
            let draw = |rng: &mut ludex_base::Rng| [1.0, 1.0, 0.5, 0.5, 0.0][rng.below(5)];
            let values: Vec<f64> = (0..20).map(|_| draw(&mut rng)).collect();
            let found = estimate(&values).expect("there are values");
            n_held += u32::from(found.low <= 0.6 && 0.6 <= found.high);
        }
        assert!((3_720..=3_900).contains(&n_held), "{n_held} of 4000");
    }
}
