//! Pseudo-random numbers for instances that a model generates.
//!
//! This is the generator of the published instances of link pricing and scheduling: a 64-bit
//! linear congruential generator whose first state is the seed and whose first step is
//! discarded. A draw takes the upper 31 bits.

const FACTOR: u64 = 6_364_136_223_846_793_005;
const INCREMENT: u64 = 1_442_695_040_888_963_407;

/// Returns a draw between two bounds, by its position, counted from 1, in the sequence of a
/// seed.
pub fn draw(seed: u64, place: u64, low: i64, high: i64) -> i64 {
    Sequence::default().draw(seed, place, low, high)
}

/// A sequence of draws with its current position.
#[derive(Clone, Copy, Default)]
pub struct Sequence {
    seed: u64,
    /// The position of the last draw, 0 before the first.
    place: u64,
    state: u64,
}

impl Sequence {
    /// Returns the draw at a position. The position after the last draw is one step away; any
    /// other is reached directly, by squaring the step.
    pub fn draw(&mut self, seed: u64, place: u64, low: i64, high: i64) -> i64 {
        let is_next = self.place > 0 && self.seed == seed && self.place.wrapping_add(1) == place;
        self.state = if is_next {
            self.state.wrapping_mul(FACTOR).wrapping_add(INCREMENT)
        } else {
            state_after(seed, place.saturating_add(1))
        };
        (self.seed, self.place) = (seed, place);
        let drawn = self.state >> 33;
        match high.checked_sub(low).and_then(|span| span.checked_add(1)) {
            Some(n_values) => low + (drawn % n_values as u64) as i64,
            // The range has more values than the generator.
            None => low.wrapping_add(drawn as i64),
        }
    }
}

fn state_after(seed: u64, mut n_steps: u64) -> u64 {
    let mut state = seed;
    let (mut factor, mut increment) = (FACTOR, INCREMENT);
    while n_steps > 0 {
        if n_steps & 1 == 1 {
            state = state.wrapping_mul(factor).wrapping_add(increment);
        }
        increment = increment.wrapping_mul(factor.wrapping_add(1));
        factor = factor.wrapping_mul(factor);
        n_steps >>= 1;
    }
    state
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jumps_agree_with_steps() {
        let mut state = 7_u64;
        let mut step = || {
            state = state.wrapping_mul(FACTOR).wrapping_add(INCREMENT);
            state
        };
        step();
        let mut sequence = Sequence::default();
        for place in 1..100 {
            let expected = -3 + ((step() >> 33) % 1004) as i64;
            assert_eq!(draw(7, place, -3, 1000), expected);
            assert_eq!(sequence.draw(7, place, -3, 1000), expected);
        }
        // Other positions and other seeds are not the next step.
        assert_eq!(sequence.draw(7, 50, 0, 9), draw(7, 50, 0, 9));
        assert_eq!(sequence.draw(8, 51, 0, 9), draw(8, 51, 0, 9));
        assert!(draw(7, 1, i64::MIN, i64::MAX) < 0);
    }
}
