//! Checks properties on generated inputs and shrinks an input that fails before showing it.
//!
//! The inputs are the same in every run. `PROPTEST_RNG_SEED` selects others, and `LUDEX_CASES`
//! multiplies their number.

use std::cell::RefCell;
use std::fmt;

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};

/// Maximal number of smaller inputs tried after a failure.
const MAX_SHRINK_STEPS: u32 = 20_000;

/// Checks a property, which panics if it does not hold, on `n_cases` inputs.
///
/// # Panics
/// Panics with the smallest failing input found.
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

/// Inputs built from a sequence of at most `max_choices` choices; all further choices are 0.
///
/// An input shrinks as its choices do, so a builder should put the simplest alternative first.
pub fn built<T: fmt::Debug>(
    max_choices: usize,
    build: impl Fn(&mut Choices) -> T,
) -> impl Strategy<Value = T> {
    vec(any::<u16>(), max_choices)
        .prop_map(move |choices| build(&mut Choices { left: choices.into_iter() }))
}

/// The source of a builder's choices, in place of a random number generator.
#[derive(Clone, Debug)]
pub struct Choices {
    left: std::vec::IntoIter<u16>,
}

impl Choices {
    /// Returns a number below `n`, uniform except for rounding.
    ///
    /// # Panics
    /// Panics if `n` is 0 or above 65,536.
    pub fn below(&mut self, n: usize) -> usize {
        assert!((1..=1 << 16).contains(&n), "a choice of {n}");
        (usize::from(self.left.next().unwrap_or(0)) * n) >> 16
    }

    /// Returns one of the items, or `None` if there are none.
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
    fn a_failing_input_shrinks() {
        let numbers = |choices: &mut Choices| -> Vec<usize> {
            (0..choices.below(9)).map(|_| choices.below(40)).collect()
        };
        holds_for_all(200, built(9, numbers), |it| assert!(it.get(2).is_none_or(|&n| n < 7)));
    }
}
