//! A sequential test: it stops as soon as the answer is known.
//!
//! The question is which of two players is stronger. The test compares two hypotheses, that the
//! share of the first player is `0.5 + margin` and that it is `0.5 - margin`, by their likelihood
//! ratio, and stops when that ratio passes `1 / error` either way.
//!
//! After Wald, *Sequential Tests of Statistical Hypotheses*, 1945. Outcomes may lie between a win
//! and a loss: for any outcome between 0 and 1 whose mean is at most `0.5 - margin`, the likelihood
//! ratio of a coin is a supermartingale, because `q^x` is convex in `x`; so by Ville's inequality
//! the ratio passes `1 / error` with probability at most `error`, however often one looks. A first
//! mover's advantage does no harm if only whole rotations are given: by the inequality of the
//! means, unequal matches with the same mean give no larger ratio than equal ones.

/// The two hypotheses and the accepted error.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SequentialTest {
    /// Distance of both hypotheses from one half.
    pub margin: f64,
    /// Accepted probability of a wrong answer when one of the hypotheses is true.
    pub error: f64,
}

impl Default for SequentialTest {
    /// 35 against 65 %, wrong in one case of twenty: about what twenty matches can decide.
    fn default() -> Self {
        Self { margin: 0.15, error: 0.05 }
    }
}

/// The result of the test so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The first player is stronger.
    First,
    /// The second player is stronger.
    Second,
    /// Not known yet.
    Open,
}

impl Decision {
    /// Returns the decision in one word, for reports.
    pub fn name(self) -> &'static str {
        match self {
            Decision::First => "first",
            Decision::Second => "second",
            Decision::Open => "open",
        }
    }
}

impl SequentialTest {
    /// Decides from the outcomes of the first player: pairs of its share, 0 to 1, and the number of
    /// matches with that share on average.
    pub fn decision(&self, outcomes: impl IntoIterator<Item = (f64, usize)>) -> Decision {
        let ratio: f64 = outcomes
            .into_iter()
            .map(|(share, n_matches)| n_matches as f64 * self.log_likelihood_ratio(share))
            .sum();
        let bound = -self.error.ln();
        if ratio >= bound {
            Decision::First
        } else if ratio <= -bound {
            Decision::Second
        } else {
            Decision::Open
        }
    }

    /// Log likelihood ratio of one match. The hypotheses are symmetric about one half, so a loss
    /// has the negative ratio of a win, and in between the ratio is linear.
    fn log_likelihood_ratio(&self, share: f64) -> f64 {
        (2.0 * share - 1.0) * ((0.5 + self.margin) / (0.5 - self.margin)).ln()
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;

    #[test]
    fn five_wins_in_a_row_are_enough_and_draws_never_are() {
        let test = SequentialTest::default();
        assert_eq!(test.decision([(1.0, 4)]), Decision::Open);
        assert_eq!(test.decision([(1.0, 5)]), Decision::First);
        assert_eq!(test.decision([(0.0, 2), (0.0, 3)]), Decision::Second);
        assert_eq!(test.decision([(0.5, 1_000)]), Decision::Open);
        assert_eq!(test.decision([]), Decision::Open);
    }

    #[test]
    fn wrong_answers_are_as_rare_as_promised() {
        // Wins with 35 %, losses with 65 %; the test looks after every match, up to 200 of them.
        let test = SequentialTest::default();
        let mut rng = Seed(11).rng();
        let mut n_wrong = 0;
        for _ in 0..2_000 {
            let mut n_wins = 0;
            for n_matches in 1..=200 {
                n_wins += usize::from(rng.below(100) < 35);
                match test.decision([(1.0, n_wins), (0.0, n_matches - n_wins)]) {
                    Decision::Open => {}
                    decision => {
                        n_wrong += usize::from(decision == Decision::First);
                        break;
                    }
                }
            }
        }
        assert!(n_wrong > 0 && n_wrong <= 100, "{n_wrong} of 2000");
    }
}
