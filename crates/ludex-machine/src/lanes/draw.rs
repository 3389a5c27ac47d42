//! Draws of one uniformly random legal move in every lane at once.
//!
//! Numbers are *bit-sliced*: one word holds the lowest bit of a number for every lane, the next
//! word the second bit, and so on. So one addition adds in every lane.
//!
//! The options of a role are divided into *blocks* of fifteen, and the blocks are the leaves of a
//! tree.
//!
//! 1. Add up the options of each block. A block is itself a small tree with an option at every
//!    node: an adder takes two numbers and a carry, and the carry is the node's own option, so a
//!    block costs eleven full adders. Then add up the blocks in pairs, the sums in pairs, and so
//!    on; the root holds the number of options of each lane.
//! 2. Draw a number below that count: draw as many bits as the count has and reject numbers that
//!    are too large. The result is exactly uniform, and each round settles more than half of the
//!    lanes on average.
//! 3. Go down the tree: if the number is below the count of the left child, go left; otherwise
//!    subtract that count and go right. All lanes go down at once, each at its own node, so a level
//!    costs one subtraction.
//! 4. In each block that some lane has reached, count again and go down to an option. Keeping the
//!    counts of step 1 would push everything else out of the cache.
//!
//! No branch depends on the numbers drawn, except that blocks which no lane has reached are
//! skipped.

use ludex_base::Rng;

use crate::lanes::options::{BLOCK_BITS, BLOCK_OPTIONS, Block, DrawOption, MAX_BITS, OptionTree};
use crate::lanes::word::Word;

/// A generator of random words: one xoshiro256++ (Blackman and Vigna, 2019) for every 64 lanes.
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

/// Draws one of several options in every lane; holds the working memory for that.
pub(crate) struct Draw<const N: usize> {
    /// The blocks of which some lane drew an option last time.
    drawn: Vec<u32>,
    /// The lanes at each node of a level, and of the level below.
    at: Vec<Word<N>>,
    below: Vec<Word<N>>,
}

impl<const N: usize> Draw<N> {
    pub fn new() -> Self {
        Self { drawn: Vec::new(), at: Vec::new(), below: Vec::new() }
    }

    /// Lists the options of the blocks that were reached by the last draw.
    pub fn drawn<'a>(&'a self, tree: &'a OptionTree) -> impl Iterator<Item = &'a DrawOption> {
        self.drawn.iter().flat_map(|&idx| &tree.blocks[idx as usize])
    }

    /// Resets the targets to false.
    #[inline(always)]
    pub fn clear(&mut self, tree: &OptionTree, values: &mut [Word<N>]) {
        for idx in self.drawn.drain(..) {
            for option in &tree.blocks[idx as usize] {
                values[option.target as usize] = Word::ZERO;
            }
        }
    }

    /// Draws an option in each of the given lanes that has one, and writes to each option's target
    /// the lanes that drew it. Returns the lanes that drew. The options must be counted and the
    /// targets false.
    #[inline(always)]
    pub fn draw(
        &mut self,
        tree: &OptionTree,
        lanes: Word<N>,
        rng: &mut WordRng<N>,
        values: &mut [Word<N>],
    ) -> Word<N> {
        if let Some(option) = tree.only_option() {
            let able = values[option.source as usize] & lanes;
            values[option.target as usize] = able;
            self.drawn.push(0);
            return able;
        }
        let root = tree.levels.last().expect("the root is a level").clone();
        let n_bits = root.len();
        let mut total = [Word::ZERO; MAX_BITS];
        let mut able = Word::ZERO;
        for (bit, &count) in total.iter_mut().zip(&values[root]) {
            *bit = count & lanes;
            able |= *bit;
        }
        let mut number = draw_below(&total[..n_bits], rng);
        self.go_down(tree, &mut number, able, values);
        self.choose_options(tree, &number, values);
        able
    }

    /// Moves every lane from the root to a block.
    #[inline(always)]
    fn go_down(
        &mut self,
        tree: &OptionTree,
        number: &mut Number<N>,
        able: Word<N>,
        values: &[Word<N>],
    ) {
        self.at.clear();
        self.at.push(able);
        for level in (0..tree.levels.len() - 1).rev() {
            let n_bits = BLOCK_BITS + level;
            // The count of the left child of each lane's current node.
            let mut left = [Word::ZERO; MAX_BITS];
            let counts = &values[tree.levels[level].clone()];
            for (pair, &lanes) in counts.chunks_exact(2 * n_bits).zip(&self.at) {
                for bit in 0..n_bits {
                    left[bit] |= pair[bit] & lanes;
                }
            }
            let goes_left = subtract_unless_less(&mut number[..=n_bits], &left[..=n_bits]);
            self.below.resize(2 * self.at.len(), Word::ZERO);
            for (children, &lanes) in self.below.chunks_exact_mut(2).zip(&self.at) {
                children[0] = lanes & goes_left;
                children[1] = lanes & !goes_left;
            }
            std::mem::swap(&mut self.at, &mut self.below);
        }
    }

    /// Moves every lane from its block to an option.
    #[inline(always)]
    fn choose_options(&mut self, tree: &OptionTree, number: &Number<N>, values: &mut [Word<N>]) {
        let mut block_counts = BlockCounts::ZERO;
        for (idx, (block, &lanes)) in tree.blocks.iter().zip(&self.at).enumerate() {
            if !lanes.is_zero() {
                self.drawn.push(idx as u32);
                block_counts.count(block, values);
                block_counts.choose(block, number, lanes, values);
            }
        }
    }
}

/// Counts the options of left children and of the root. Slow; the machine code does the same.
#[inline(always)]
pub(crate) fn count_options<const N: usize>(tree: &OptionTree, values: &mut [Word<N>]) {
    if tree.only_option().is_some() {
        return;
    }
    let (slots, counts) = values.split_at_mut(tree.levels[0].start);
    let counts = &mut counts[..tree.end() - tree.levels[0].start];
    let mut block_counts = BlockCounts::ZERO;
    for (count, block) in counts.chunks_exact_mut(BLOCK_BITS).zip(&tree.blocks) {
        block_counts.count(block, slots);
        count.copy_from_slice(&block_counts.total);
    }
    let mut rest = counts;
    for (level, range) in tree.levels[..tree.levels.len() - 1].iter().enumerate() {
        let (lower, upper) = rest.split_at_mut(range.len());
        add_pairs(BLOCK_BITS + level, lower, upper);
        rest = upper;
    }
}

/// A bit-sliced number.
type Number<const N: usize> = [Word<N>; MAX_BITS];

/// The options of a block and the counts of its nodes.
struct BlockCounts<const N: usize> {
    options: [Word<N>; BLOCK_OPTIONS],
    threes: [[Word<N>; 2]; 4],
    sevens: [[Word<N>; 3]; 2],
    total: [Word<N>; BLOCK_BITS],
}

impl<const N: usize> BlockCounts<N> {
    const ZERO: Self = Self {
        options: [Word::ZERO; BLOCK_OPTIONS],
        threes: [[Word::ZERO; 2]; 4],
        sevens: [[Word::ZERO; 3]; 2],
        total: [Word::ZERO; BLOCK_BITS],
    };

    #[inline(always)]
    fn count(&mut self, block: &Block, values: &[Word<N>]) {
        let Self { options, threes, sevens, total } = self;
        for idx in 0..BLOCK_OPTIONS {
            options[idx] = values[block[idx].source as usize];
        }
        for idx in 0..4 {
            add(&[options[2 * idx]], &[options[2 * idx + 1]], options[8 + idx], &mut threes[idx]);
        }
        for idx in 0..2 {
            add(&threes[2 * idx], &threes[2 * idx + 1], options[12 + idx], &mut sevens[idx]);
        }
        add(&sevens[0], &sevens[1], options[14], total);
    }

    /// Writes to each option's target the lanes that choose it: those among `lanes` whose number is
    /// the index of the option.
    #[inline(always)]
    fn choose(&self, block: &Block, number: &[Word<N>], lanes: Word<N>, values: &mut [Word<N>]) {
        let Self { options, threes, sevens, .. } = self;
        let mut tell = |idx: usize, lanes: Word<N>| values[block[idx].target as usize] = lanes;

        // The root, then the two nodes below, then the four. The number becomes the index among the
        // options below the lane's current node.
        let mut number = [number[0], number[1], number[2], number[3]];
        let [left, stays, right] = part(&mut number, &sevens[0], options[14], lanes);
        tell(14, stays);

        let at = [left, right];
        let own = at[0] & options[12] | at[1] & options[13];
        let count = [
            at[0] & threes[0][0] | at[1] & threes[2][0],
            at[0] & threes[0][1] | at[1] & threes[2][1],
        ];
        let mut number = [number[0], number[1], number[2]];
        let [left, stays, right] = part(&mut number, &count, own, at[0] | at[1]);
        tell(12, stays & at[0]);
        tell(13, stays & at[1]);

        let at = [left & at[0], right & at[0], left & at[1], right & at[1]];
        let (mut own, mut count) = (Word::ZERO, Word::ZERO);
        for (idx, &lanes) in at.iter().enumerate() {
            own |= lanes & options[8 + idx];
            count |= lanes & options[2 * idx];
        }
        let mut number = [number[0], number[1]];
        let [left, stays, right] = part(&mut number, &[count], own, left | right);
        for (idx, lanes) in at.into_iter().enumerate() {
            tell(8 + idx, stays & lanes);
            tell(2 * idx, left & lanes);
            tell(2 * idx + 1, right & lanes);
        }
    }
}

/// Splits some lanes in three: those whose number is below the count on the left, those that choose
/// the node's own option, which comes next, and the others. Subtracts both counts from the numbers
/// of the others.
#[inline(always)]
fn part<const N: usize, const B: usize, const L: usize>(
    number: &mut [Word<N>; B],
    left: &[Word<N>; L],
    own: Word<N>,
    lanes: Word<N>,
) -> [Word<N>; 3] {
    // The number minus both counts. It is -1 where there is an own option and the number equals the
    // left count.
    let mut difference = [Word::ZERO; B];
    let (mut borrow, mut is_minus_one) = (own, own);
    for bit in 0..B {
        let a = number[bit];
        let b = if bit < L { left[bit] } else { Word::ZERO };
        difference[bit] = a ^ b ^ borrow;
        borrow = !a & (b | borrow) | b & borrow;
        is_minus_one &= difference[bit];
    }
    for bit in 0..B {
        number[bit] = difference[bit].merged(number[bit], borrow);
    }
    let stays = lanes & borrow & is_minus_one;
    [lanes & borrow & !stays, stays, lanes & !borrow]
}

/// Adds two numbers and a carry.
#[inline(always)]
fn add<const N: usize, const B: usize, const S: usize>(
    a: &[Word<N>; B],
    b: &[Word<N>; B],
    mut carry: Word<N>,
    sum: &mut [Word<N>; S],
) {
    for bit in 0..B {
        let either = a[bit] ^ b[bit];
        sum[bit] = either ^ carry;
        carry = a[bit] & b[bit] | carry & either;
    }
    sum[B] = carry;
}

/// Computes the sums of neighbours, each one bit longer than its summands.
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

/// Subtracts in the lanes where the result is not negative; returns the other lanes.
#[inline(always)]
fn subtract_unless_less<const N: usize>(number: &mut [Word<N>], by: &[Word<N>]) -> Word<N> {
    let mut difference = [Word::ZERO; MAX_BITS];
    let mut borrow = Word::ZERO;
    for bit in 0..number.len() {
        let (a, b) = (number[bit], by[bit]);
        difference[bit] = a ^ b ^ borrow;
        borrow = !a & (b | borrow) | b & borrow;
    }
    for (bit, number) in number.iter_mut().enumerate() {
        *number = difference[bit].merged(*number, borrow);
    }
    borrow
}

/// Draws a number below the bound of each lane, each equally likely; 0 where the bound is 0.
#[inline(always)]
fn draw_below<const N: usize>(bound: &[Word<N>], rng: &mut WordRng<N>) -> [Word<N>; MAX_BITS] {
    // The largest number allowed.
    let n_bits = bound.len();
    let mut largest = [Word::ZERO; MAX_BITS];
    let mut borrow = bound.iter().fold(Word::ZERO, |all, &bit| all | bit);
    let mut pending = Word::ZERO;
    for (bit, &word) in bound.iter().enumerate() {
        largest[bit] = word ^ borrow;
        borrow &= !word;
        pending |= largest[bit];
    }
    let mut number = [Word::ZERO; MAX_BITS];
    let mut drawn = [Word::ZERO; MAX_BITS];
    while !pending.is_zero() {
        // Bits above the highest bit of the largest number stay zero.
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
    use ludex_testkit::statistics::ChiSquare;

    use super::*;

    type Lanes = Word<4>;
    const N_LANES: usize = Lanes::N_LANES;

    /// Makes a tree with options in the slots from 1 and targets after them; slot 0 is false.
    fn tree(n_options: usize) -> (OptionTree, Vec<Lanes>) {
        let option = |idx: usize| DrawOption {
            source: (1 + idx) as u32,
            target: (1 + n_options + idx) as u32,
        };
        let options: Vec<DrawOption> = (0..n_options).map(option).collect();
        let tree = OptionTree::new(&options, 1 + 2 * n_options);
        let n_values = tree.end();
        (tree, vec![Lanes::ZERO; n_values])
    }

    /// Draws in all lanes and returns the option that each drew.
    fn draw(
        (tree, values): &mut (OptionTree, Vec<Lanes>),
        options: &[Lanes],
        rng: &mut WordRng<4>,
    ) -> Vec<Option<usize>> {
        values[1..=options.len()].copy_from_slice(options);
        let mut drawn = vec![None; N_LANES];
        let mut draw = Draw::new();
        count_options(tree, values);
        let able = draw.draw(tree, Lanes::ONES, rng, values);
        for option in 0..options.len() {
            for lane in values[1 + options.len() + option].lanes() {
                assert_eq!(drawn[lane], None, "a lane draws once");
                drawn[lane] = Some(option);
            }
        }
        draw.clear(tree, values);
        let n_able = drawn.iter().flatten().count();
        assert_eq!(able.count() as usize, n_able, "every lane with an option draws");
        drawn
    }

    /// Least likely outcome that passes: the tests look at hundreds of samples.
    const MIN_PROBABILITY: f64 = 1e-5;

    #[test]
    fn every_number_of_options_is_drawn_from_evenly() {
        let mut rng = WordRng::new(&mut Seed(1).rng());
        for n_options in 1..=200 {
            let mut tree = tree(n_options);
            let options = vec![Lanes::ONES; n_options];
            let mut counts = vec![0_u32; n_options];
            let n_rounds = 4 * n_options.max(10);
            for _ in 0..n_rounds {
                for option in draw(&mut tree, &options, &mut rng) {
                    counts[option.expect("every lane has options")] += 1;
                }
            }
            if n_options > 1 {
                let found = ChiSquare::of_even(&counts);
                assert!(found.p > MIN_PROBABILITY, "{n_options} options: {found:?}");
            }
        }
    }

    #[test]
    fn every_lane_draws_evenly_from_its_own_options() {
        let mut rng = WordRng::new(&mut Seed(2).rng());
        let mut seeds = Seed(3).rng();
        let n_options = 23;
        let mut tree = tree(n_options);
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
            assert_eq!(
                n_own,
                counts.iter().sum::<u32>(),
                "lane {lane} drew an option that it does not have"
            );
            assert_eq!(n_own, if lane == 0 { 0 } else { n_rounds }, "lane {lane}");
            if own.len() > 1 {
                let found = ChiSquare::of_even(&own);
                assert!(found.p > MIN_PROBABILITY, "lane {lane}: {found:?}");
            }
        }
    }
}
