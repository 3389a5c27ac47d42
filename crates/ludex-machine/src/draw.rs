//! One uniformly random legal move per lane, without looking at the lanes one by one.
//!
//! Numbers are *bit-sliced*: one word holds the lowest bit of a number of every lane, the next word
//! the second bit, and so on, so that one addition adds in every lane.
//!
//! 1. Add up the options in pairs, the sums in pairs, and so on: a tree of counts, with the number of
//!    options of each lane at its root.
//! 2. Draw a number below that, by drawing as many bits as it has and rejecting numbers that are too
//!    large: exactly uniform, and each round settles more than half of the lanes on average.
//! 3. Go down the tree: where the number is below the count of the left child, go left, else subtract
//!    that count and go right. All lanes go down at once, each at its own node, so that a level costs
//!    one subtraction.
//!
//! That is about twelve operations an option for all lanes together, and no branch depends on what is
//! drawn.

use ludex_base::Rng;

use crate::word::Word;

/// Calls a function whose first argument is a number of bits so that the compiler knows the number
/// where it is small: most nodes of a tree are near its leaves.
macro_rules! by_bits {
    ($n_bits:expr, $function:ident($($arg:expr),*)) => {
        match $n_bits {
            1 => $function(1, $($arg),*),
            2 => $function(2, $($arg),*),
            3 => $function(3, $($arg),*),
            4 => $function(4, $($arg),*),
            5 => $function(5, $($arg),*),
            n_bits => $function(n_bits, $($arg),*),
        }
    };
}

/// Levels of a tree: enough for every number of moves that fits in 32 bits.
const MAX_LEVELS: usize = 33;

/// A generator of random words: xoshiro256++ (Blackman and Vigna, 2019) in every 64 lanes.
pub(crate) struct WordRng<const N: usize> {
    state: [[u64; N]; 4],
}

impl<const N: usize> WordRng<N> {
    pub fn new(rng: &mut Rng) -> Self {
        Self { state: std::array::from_fn(|_| std::array::from_fn(|_| rng.next_u64())) }
    }

    #[inline(always)]
    fn next(&mut self) -> Word<N> {
        let [s0, s1, s2, s3] = &mut self.state;
        let mut result = [0; N];
        for idx in 0..N {
            result[idx] = (s0[idx].wrapping_add(s3[idx])).rotate_left(23).wrapping_add(s0[idx]);
            let t = s1[idx] << 17;
            s2[idx] ^= s0[idx];
            s3[idx] ^= s1[idx];
            s1[idx] ^= s2[idx];
            s0[idx] ^= s3[idx];
            s2[idx] ^= t;
            s3[idx] = s3[idx].rotate_left(45);
        }
        Word(result)
    }
}

/// Draws one of several options in every lane; keeps its working memory.
#[derive(Default)]
pub(crate) struct Draw<const N: usize> {
    /// The options with a lane, by number.
    options: Vec<u32>,
    /// The counts of a level, `level + 1` words a node, lowest bits first. Level 0 is the options.
    counts: Vec<Vec<Word<N>>>,
    /// The lanes that are at each node of a level, and of the level below.
    at: Vec<Word<N>>,
    below: Vec<Word<N>>,
}

impl<const N: usize> Draw<N> {
    /// Forgets the options.
    #[inline(always)]
    pub fn clear(&mut self) {
        self.options.clear();
        if self.counts.is_empty() {
            self.counts.push(Vec::new());
        }
        self.counts[0].clear();
    }

    /// Adds an option with the lanes that have it.
    #[inline(always)]
    pub fn add(&mut self, option: usize, lanes: Word<N>) {
        if !lanes.is_zero() {
            self.options.push(option as u32);
            self.counts[0].push(lanes);
        }
    }

    /// Draws one of the options in every lane that has one; each option with the lanes that drew it.
    /// The second part is the lanes that had an option.
    #[inline(always)]
    pub fn draw(
        &mut self,
        rng: &mut WordRng<N>,
    ) -> (impl Iterator<Item = (usize, Word<N>)>, Word<N>) {
        let n_levels = self.add_up();
        let (mut total, n_bits) = ([Word::ZERO; MAX_LEVELS], n_levels + 1);
        if let Some(root) = self.counts[n_levels].get(..n_bits) {
            total[..n_bits].copy_from_slice(root);
        }
        let some = total[..n_bits].iter().fold(Word::ZERO, |all, &bit| all | bit);
        let is_choice = !total[1..n_bits].iter().fold(Word::ZERO, |all, &bit| all | bit).is_zero();
        if is_choice {
            let number = draw_below(&total[..n_bits], rng);
            self.go_down(n_levels, number, some);
        } else {
            // Nobody has a choice.
            self.at.clear();
            self.at.extend_from_slice(&self.counts[0]);
        }
        let drawn = self.options.iter().map(|&option| option as usize).zip(self.at.iter().copied());
        (drawn, some)
    }

    /// Makes the tree; the number of levels above the options.
    #[inline(always)]
    fn add_up(&mut self) -> usize {
        let (mut level, mut n_nodes) = (0, self.options.len());
        while n_nodes > 1 {
            let n_bits = level + 1;
            if self.counts.len() == level + 1 {
                self.counts.push(Vec::new());
            }
            // Every node has a sibling, if need be one without options.
            n_nodes = n_nodes.next_multiple_of(2);
            let (lower, upper) = self.counts.split_at_mut(level + 1);
            let (lower, upper) = (&mut lower[level], &mut upper[0]);
            lower.resize(n_nodes * n_bits, Word::ZERO);
            upper.resize(n_nodes / 2 * (n_bits + 1), Word::ZERO);
            by_bits!(n_bits, add_pairs(lower, upper));
            level += 1;
            n_nodes /= 2;
        }
        level
    }

    /// Takes every lane from the root to an option.
    #[inline(always)]
    fn go_down(&mut self, n_levels: usize, mut number: [Word<N>; MAX_LEVELS], some: Word<N>) {
        self.at.clear();
        self.at.push(some);
        for level in (0..n_levels).rev() {
            let n_bits = level + 1;
            // The count of the left child of the node at which each lane is.
            let left = by_bits!(n_bits, count_left(&self.counts[level], &self.at));
            // The number less that count; where that is below zero, the lane goes left.
            let mut difference = [Word::ZERO; MAX_LEVELS];
            let mut borrow = Word::ZERO;
            for bit in 0..=n_bits {
                let (a, b) = (number[bit], left[bit]);
                difference[bit] = a ^ b ^ borrow;
                borrow = !a & (b | borrow) | b & borrow;
            }
            for bit in 0..=n_bits {
                number[bit] = difference[bit].merged(number[bit], borrow);
            }
            self.below.resize(2 * self.at.len(), Word::ZERO);
            for (children, &lanes) in self.below.chunks_exact_mut(2).zip(&self.at) {
                children[0] = lanes & borrow;
                children[1] = lanes & !borrow;
            }
            // A level may be padded; nobody is at the padding.
            self.below.truncate(self.counts[level].len() / n_bits);
            std::mem::swap(&mut self.at, &mut self.below);
        }
    }
}

/// The sums of neighbours, each one bit longer than they are.
#[inline(always)]
fn add_pairs<const N: usize>(n_bits: usize, lower: &[Word<N>], upper: &mut [Word<N>]) {
    for (pair, sum) in lower.chunks_exact(2 * n_bits).zip(upper.chunks_exact_mut(n_bits + 1)) {
        let (left, right) = pair.split_at(n_bits);
        let mut carry = Word::ZERO;
        for bit in 0..n_bits {
            let (a, b) = (left[bit], right[bit]);
            let either = a ^ b;
            sum[bit] = either ^ carry;
            carry = a & b | carry & either;
        }
        sum[n_bits] = carry;
    }
}

/// In each lane, the count of the left child of the node at which the lane is.
#[inline(always)]
fn count_left<const N: usize>(
    n_bits: usize,
    counts: &[Word<N>],
    at: &[Word<N>],
) -> [Word<N>; MAX_LEVELS] {
    let mut left = [Word::ZERO; MAX_LEVELS];
    for (pair, &lanes) in counts.chunks_exact(2 * n_bits).zip(at) {
        for bit in 0..n_bits {
            left[bit] |= pair[bit] & lanes;
        }
    }
    left
}

/// A number below the bound of each lane, each equally likely; 0 where the bound is 0.
#[inline(always)]
fn draw_below<const N: usize>(bound: &[Word<N>], rng: &mut WordRng<N>) -> [Word<N>; MAX_LEVELS] {
    // The largest number that is allowed.
    let mut largest = [Word::ZERO; MAX_LEVELS];
    let mut borrow = bound.iter().fold(Word::ZERO, |all, &bit| all | bit);
    for (bit, &word) in bound.iter().enumerate() {
        largest[bit] = word ^ borrow;
        borrow &= !word;
    }
    let n_bits = bound.len();
    let mut number = [Word::ZERO; MAX_LEVELS];
    let mut pending = largest[..n_bits].iter().fold(Word::ZERO, |all, &bit| all | bit);
    while !pending.is_zero() {
        let mut drawn = [Word::ZERO; MAX_LEVELS];
        // Bits above the highest of the largest number stay zero.
        let (mut allowed, mut less, mut equal) = (Word::ZERO, Word::ZERO, Word::ONES);
        for bit in (0..n_bits).rev() {
            allowed |= largest[bit];
            drawn[bit] = rng.next() & allowed;
            less |= equal & !drawn[bit] & largest[bit];
            equal &= !(drawn[bit] ^ largest[bit]);
        }
        let accepted = pending & (less | equal);
        for bit in 0..n_bits {
            number[bit] |= drawn[bit] & accepted;
        }
        pending &= !accepted;
    }
    number
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;

    type Lanes = Word<4>;
    const N_LANES: usize = Lanes::N_LANES;

    /// Draws in all lanes and returns what each drew.
    fn draw(draw: &mut Draw<4>, options: &[Lanes], rng: &mut WordRng<4>) -> Vec<Option<usize>> {
        draw.clear();
        options.iter().enumerate().for_each(|(option, &lanes)| draw.add(option, lanes));
        let mut drawn = vec![None; N_LANES];
        let (chosen, able) = draw.draw(rng);
        for (option, lanes) in chosen {
            for lane in lanes.lanes() {
                assert_eq!(drawn[lane], None, "a lane draws once");
                drawn[lane] = Some(option);
            }
        }
        let n_able = drawn.iter().flatten().count();
        assert_eq!(able.count() as usize, n_able, "whoever can draws");
        drawn
    }

    /// The chi-square statistic as a number of standard deviations from its mean.
    fn deviation(counts: &[u32], expected: f64) -> f64 {
        let chi2: f64 = counts.iter().map(|&n| (f64::from(n) - expected).powi(2) / expected).sum();
        let n_free = counts.len() as f64 - 1.0;
        (chi2 - n_free) / (2.0 * n_free).sqrt()
    }

    #[test]
    fn every_number_of_options_is_drawn_from_evenly() {
        let mut rng = WordRng::new(&mut Seed(1).rng());
        let mut tree = Draw::default();
        for n_options in 1..=200 {
            let options = vec![Lanes::ONES; n_options];
            let mut counts = vec![0_u32; n_options];
            let n_rounds = 4 * n_options.max(10);
            for _ in 0..n_rounds {
                for option in draw(&mut tree, &options, &mut rng) {
                    counts[option.expect("every lane has options")] += 1;
                }
            }
            if n_options > 1 {
                let expected = (n_rounds * N_LANES) as f64 / n_options as f64;
                let deviation = deviation(&counts, expected);
                assert!(deviation < 5.0, "{n_options} options: {deviation:.1} sigma");
            }
        }
    }

    #[test]
    fn every_lane_draws_evenly_from_its_own_options() {
        let mut rng = WordRng::new(&mut Seed(2).rng());
        let mut seeds = Seed(3).rng();
        let mut tree = Draw::default();
        let n_options = 23;
        let mut options = vec![Lanes::ZERO; n_options];
        for lane in 0..N_LANES {
            // Lane 0 has no option, lane 1 has one, the others a random number of them.
            for _ in 0..lane.min(1 + seeds.below(n_options)) {
                options[seeds.below(n_options)].set(lane, true);
            }
        }
        let n_rounds = 20_000;
        let mut counts = vec![vec![0_u32; n_options]; N_LANES];
        for _ in 0..n_rounds {
            for (lane, option) in draw(&mut tree, &options, &mut rng).into_iter().enumerate() {
                option.into_iter().for_each(|option| counts[lane][option] += 1);
            }
        }
        for (lane, counts) in counts.iter().enumerate() {
            let has = |option: &usize| options[*option].lanes().any(|it| it == lane);
            let own: Vec<u32> = (0..n_options).filter(has).map(|option| counts[option]).collect();
            let n_own: u32 = own.iter().sum();
            assert_eq!(n_own, counts.iter().sum::<u32>(), "lane {lane} drew what it does not have");
            assert_eq!(n_own, if lane == 0 { 0 } else { n_rounds }, "lane {lane}");
            if own.len() > 1 {
                let deviation = deviation(&own, f64::from(n_rounds) / own.len() as f64);
                assert!(deviation < 6.0, "lane {lane}: {deviation:.1} sigma");
            }
        }
    }
}
