//! Properties that hold for every input, tried on generated ones; an input for which one fails is made
//! smaller before it is shown.
//!
//! The inputs are the same in every run. `PROPTEST_RNG_SEED` gives others, and `LUDEX_CASES` so many
//! times as many.

use std::cell::RefCell;
use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// How many smaller inputs are tried where a property fails.
const MAX_SHRINK_STEPS: u32 = 20_000;

/// Tries a property, which panics where it does not hold, on so many inputs.
///
/// # Panics
/// With the smallest input found for which the property fails.
#[track_caller]
pub fn holds_for_all<S>(n_cases: u32, inputs: S, property: impl FnMut(S::Value))
where
    S: Strategy,
    S::Value: fmt::Debug,
{
    let given = Config::default();
    let rng_seed =
        if given.rng_seed == RngSeed::Random { RngSeed::Fixed(1) } else { given.rng_seed };
    let times = std::env::var("LUDEX_CASES").ok().and_then(|text| text.parse().ok()).unwrap_or(1);
    let config = Config {
        cases: n_cases.saturating_mul(times),
        rng_seed,
        max_shrink_iters: MAX_SHRINK_STEPS,
        failure_persistence: None,
        ..given
    };
    let property = RefCell::new(property);
    let result = TestRunner::new(config).run(&inputs, |input| {
        (property.borrow_mut())(input);
        Ok(())
    });
    if let Err(failure) = result {
        panic!("{failure}");
    }
}

/// Inputs built by choosing, with at most so many choices; those that a builder makes beyond them are
/// all 0. An input gets smaller as its choices do, so a builder puts the simplest first.
pub fn built<T: fmt::Debug>(
    max_choices: usize,
    build: impl Fn(&mut Choices) -> T,
) -> impl Strategy<Value = T> {
    vec(any::<u16>(), max_choices)
        .prop_map(move |choices| build(&mut Choices { left: choices.into_iter() }))
}

/// What a builder chooses by, in place of a random number generator.
#[derive(Clone, Debug)]
pub struct Choices {
    left: std::vec::IntoIter<u16>,
}

impl Choices {
    /// A number below `n`, each as likely, but for rounding.
    ///
    /// # Panics
    /// If `n` is 0 or above 65,536.
    pub fn below(&mut self, n: usize) -> usize {
        assert!((1..=1 << 16).contains(&n), "a choice of {n}");
        (usize::from(self.left.next().unwrap_or(0)) * n) >> 16
    }

    /// One of these; `None` of none.
    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { items.get(self.below(items.len())) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_are_the_same_in_every_run() {
        let seen = || {
            let mut seen = Vec::new();
            holds_for_all(20, built(3, |choices| choices.below(100)), |it| seen.push(it));
            seen
        };
        assert_eq!(seen(), seen());
        assert!(seen().iter().any(|&it| it > 50));
    }

    #[test]
    #[should_panic(expected = "minimal failing input: [\n    0,\n    0,\n    7,\n]")]
    fn what_fails_is_made_smaller() {
        let numbers = |choices: &mut Choices| -> Vec<usize> {
            (0..choices.below(9)).map(|_| choices.below(40)).collect()
        };
        holds_for_all(200, built(9, numbers), |it| assert!(it.get(2).is_none_or(|&n| n < 7)));
    }
}
