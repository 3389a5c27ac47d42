//! A test that stops when the answer is known.
//!
//! The question is which of two players is the stronger. The test weighs two suppositions, that the
//! share of the first is `0.5 + margin` and that it is `0.5 - margin`, by the ratio of their
//! likelihoods, and stops when that ratio passes `1 / error` either way.
//!
//! After Wald, *Sequential Tests of Statistical Hypotheses*, 1945. Outcomes need not be won or lost:
//! for any outcome between 0 and 1 whose mean is at most `0.5 - margin`, the likelihood ratio of a coin
//! is a supermartingale, because `q^x` is convex in `x`; so by Ville's inequality the ratio passes
//! `1 / error` with probability at most `error`, whenever one looks.
//! A first mover's advantage does no harm when whole rotations are given: by the inequality of the
//! means, unlike matches with the same mean give no larger ratio than like ones.

/// The suppositions and how sure the answer has to be.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SequentialTest {
    /// How far from one half the two suppositions are.
    pub margin: f64,
    /// How often a wrong answer is accepted when one of the suppositions is true.
    pub error: f64,
}

impl Default for SequentialTest {
    /// 35 against 65 %, wrong in one of twenty: what twenty matches can tell.
    fn default() -> Self {
        Self { margin: 0.15, error: 0.05 }
    }
}

/// What the test says so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decision {
    /// The first player is the stronger.
    First,
    /// The second player is the stronger.
    Second,
    /// Not known yet.
    Open,
}

impl Decision {
    /// The decision in one word, for reports.
    pub fn name(self) -> &'static str {
        match self {
            Decision::First => "first",
            Decision::Second => "second",
            Decision::Open => "open",
        }
    }
}

impl SequentialTest {
    /// What is known after matches in which the first player had these outcomes: pairs of its share,
    /// 0 to 1, and the number of matches with that share on average.
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

    /// Of one match. With suppositions as far above one half as below it, that of a loss is the
    /// opposite of that of a win, and in between it is linear.
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
        // Won with 35 %, lost with 65 %; looked at after every match, for up to 200 of them.
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
