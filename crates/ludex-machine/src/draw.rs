//! One uniformly random legal move per lane, without looking at the lanes one by one.
//!
//! Numbers are *bit-sliced*: one word holds the lowest bit of a number of every lane, the next word
//! the second bit, and so on, so that one addition adds in every lane.
//!
//! The options of a role are dealt into *blocks* of fifteen, and the blocks are the leaves of a tree.
//!
//! 1. Add up the options of each block. A block is a small tree itself, in which every node has an
//!    option: an adder takes two numbers and a carry, and the carry is the node's own option, so that
//!    a block costs eleven full adders. Then add up the blocks in pairs, the sums in pairs, and so on;
//!    the root has the number of options of each lane.
//! 2. Draw a number below that, by drawing as many bits as it has and rejecting numbers that are too
//!    large: exactly uniform, and each round settles more than half of the lanes on average.
//! 3. Go down the tree: where the number is below the count of the left child, go left, else subtract
//!    that count and go right. All lanes go down at once, each at its own node, so that a level costs
//!    one subtraction.
//! 4. In each block that some lane has reached, count again and go down to an option. Keeping the
//!    counts of step 1 would push everything else out of the cache.
//!
//! No branch depends on what is drawn, but for blocks that nobody has reached.

use ludex_base::Rng;

use crate::word::Word;

/// Bits of a count: enough for sixteen million moves.
const MAX_BITS: usize = 24;

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

/// Where an option is found and where it is told that it was drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DrawOption {
    /// The slot that says which lanes have the option.
    pub source: u32,
    /// The slot for the lanes that drew it.
    pub target: u32,
}

/// How many options are in a block: those of a tree of four levels with an option at every node.
const BLOCK: usize = 15;

/// The bits of the count of a block.
const BLOCK_BITS: usize = 4;

type Block = [DrawOption; BLOCK];

/// Draws one of several options in every lane.
pub(crate) struct Draw<const N: usize> {
    blocks: Vec<Block>,
    /// The blocks of which some lane drew an option last time.
    drawn: Vec<u32>,
    /// The counts of each level, `BLOCK_BITS + level` words a node, lowest bits first. Level 0 is the
    /// blocks.
    counts: Vec<Vec<Word<N>>>,
    /// The lanes that are at each node of a level, and of the level below.
    at: Vec<Word<N>>,
    below: Vec<Word<N>>,
}

/// Fills up a block. Slot 0 is false, and stays so: no lane draws what it does not have.
const NO_OPTION: DrawOption = DrawOption { source: 0, target: 0 };

impl<const N: usize> Draw<N> {
    /// Draws from these options. Slot 0 of the values has to be false.
    pub fn new(options: &[DrawOption]) -> Self {
        let block = |chunk: &[DrawOption]| {
            std::array::from_fn(|idx| chunk.get(idx).copied().unwrap_or(NO_OPTION))
        };
        let mut blocks: Vec<Block> = options.chunks(BLOCK).map(block).collect();
        if blocks.is_empty() {
            blocks.push([NO_OPTION; BLOCK]);
        }
        let mut counts = Vec::new();
        let mut n_nodes = blocks.len();
        loop {
            // Every node but the root has a sibling, if need be one without options.
            let n_padded = if n_nodes == 1 { 1 } else { n_nodes.next_multiple_of(2) };
            counts.push(vec![Word::ZERO; n_padded * (BLOCK_BITS + counts.len())]);
            if n_nodes == 1 {
                break;
            }
            n_nodes = n_padded / 2;
        }
        assert!(BLOCK_BITS + counts.len() <= MAX_BITS, "there are more moves than can be listed");
        Self { blocks, drawn: Vec::new(), counts, at: Vec::new(), below: Vec::new() }
    }

    /// The options of the blocks of which one was drawn last.
    pub fn drawn(&self) -> impl Iterator<Item = &DrawOption> {
        self.drawn.iter().flat_map(|&idx| &self.blocks[idx as usize])
    }

    /// Makes the targets false again.
    #[inline(always)]
    pub fn clear(&mut self, values: &mut [Word<N>]) {
        for idx in self.drawn.drain(..) {
            for option in &self.blocks[idx as usize] {
                values[option.target as usize] = Word::ZERO;
            }
        }
    }

    /// Draws one of the options in each of some lanes that has one, and tells each option which lanes
    /// drew it. Returns the lanes that drew. Targets have to be false before.
    #[inline(always)]
    pub fn draw(
        &mut self,
        lanes: Word<N>,
        rng: &mut WordRng<N>,
        values: &mut [Word<N>],
    ) -> Word<N> {
        if let (1, [option, NO_OPTION, ..]) = (self.blocks.len(), self.blocks[0]) {
            let able = values[option.source as usize] & lanes;
            values[option.target as usize] = able;
            self.drawn.push(0);
            return able;
        }
        self.add_up(values);
        let root = self.counts.last().expect("the root is a level");
        let mut total = [Word::ZERO; MAX_BITS];
        let mut able = Word::ZERO;
        for (bit, &count) in total.iter_mut().zip(root) {
            *bit = count & lanes;
            able |= *bit;
        }
        let mut number = draw_below(&total[..root.len()], rng);
        self.go_down(&mut number, able);
        self.choose_options(&number, values);
        able
    }

    /// Makes the counts.
    #[inline(always)]
    fn add_up(&mut self, values: &[Word<N>]) {
        let counts = self.counts[0].chunks_exact_mut(BLOCK_BITS);
        let mut block_counts = BlockCounts::ZERO;
        for (count, block) in counts.zip(&self.blocks) {
            block_counts.count(block, values);
            count.copy_from_slice(&block_counts.total);
        }
        for level in 1..self.counts.len() {
            let (lower, upper) = self.counts.split_at_mut(level);
            add_pairs(BLOCK_BITS + level - 1, &lower[level - 1], &mut upper[0]);
        }
    }

    /// Takes every lane from the root to a block.
    #[inline(always)]
    fn go_down(&mut self, number: &mut Number<N>, able: Word<N>) {
        self.at.clear();
        self.at.push(able);
        for level in (0..self.counts.len() - 1).rev() {
            let n_bits = BLOCK_BITS + level;
            // The count of the left child of the node at which each lane is.
            let mut left = [Word::ZERO; MAX_BITS];
            for (pair, &lanes) in self.counts[level].chunks_exact(2 * n_bits).zip(&self.at) {
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

    /// Takes every lane from its block to an option.
    #[inline(always)]
    fn choose_options(&mut self, number: &Number<N>, values: &mut [Word<N>]) {
        let mut block_counts = BlockCounts::ZERO;
        for (idx, (block, &lanes)) in self.blocks.iter().zip(&self.at).enumerate() {
            if !lanes.is_zero() {
                self.drawn.push(idx as u32);
                block_counts.count(block, values);
                block_counts.choose(block, number, lanes, values);
            }
        }
    }
}

/// A bit-sliced number.
type Number<const N: usize> = [Word<N>; MAX_BITS];

/// The options of a block and the counts of its nodes.
///
/// Options 0 to 7 are the leaves, 8 to 11 the nodes above, 12 and 13 those above, 14 is the root.
struct BlockCounts<const N: usize> {
    options: [Word<N>; BLOCK],
    threes: [[Word<N>; 2]; 4],
    sevens: [[Word<N>; 3]; 2],
    total: [Word<N>; BLOCK_BITS],
}

impl<const N: usize> BlockCounts<N> {
    const ZERO: Self = Self {
        options: [Word::ZERO; BLOCK],
        threes: [[Word::ZERO; 2]; 4],
        sevens: [[Word::ZERO; 3]; 2],
        total: [Word::ZERO; BLOCK_BITS],
    };

    #[inline(always)]
    fn count(&mut self, block: &Block, values: &[Word<N>]) {
        let Self { options, threes, sevens, total } = self;
        for idx in 0..BLOCK {
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

    /// Tells each option which of some lanes choose it: those for which it is the one with that
    /// number.
    #[inline(always)]
    fn choose(&self, block: &Block, number: &[Word<N>], lanes: Word<N>, values: &mut [Word<N>]) {
        let Self { options, threes, sevens, .. } = self;
        let mut tell = |idx: usize, lanes: Word<N>| values[block[idx].target as usize] = lanes;

        // The root, then the two nodes below, then the four. The number becomes the one among the
        // options below the node where the lane has gone.
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

/// Of some lanes, those whose number is below the count on the left, those that choose the own
/// option, which comes next, and the others, whose number is less by both then.
#[inline(always)]
fn part<const N: usize, const B: usize, const L: usize>(
    number: &mut [Word<N>; B],
    left: &[Word<N>; L],
    own: Word<N>,
    lanes: Word<N>,
) -> [Word<N>; 3] {
    // The number less both. With an own option it is -1 where the number was the count on the left.
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

/// Subtracts in the lanes where the result is not below zero; the other lanes.
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

/// A number below the bound of each lane, each equally likely; 0 where the bound is 0.
#[inline(always)]
fn draw_below<const N: usize>(bound: &[Word<N>], rng: &mut WordRng<N>) -> [Word<N>; MAX_BITS] {
    // The largest number that is allowed.
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

    /// Options in the slots from 1, targets after them; slot 0 is false.
    fn tree(n_options: usize) -> (Draw<4>, Vec<Lanes>) {
        let option = |idx: usize| DrawOption {
            source: (1 + idx) as u32,
            target: (1 + n_options + idx) as u32,
        };
        (
            Draw::new(&(0..n_options).map(option).collect::<Vec<_>>()),
            vec![Lanes::ZERO; 1 + 2 * n_options],
        )
    }

    /// Draws in all lanes and returns what each drew.
    fn draw(
        (draw, values): &mut (Draw<4>, Vec<Lanes>),
        options: &[Lanes],
        rng: &mut WordRng<4>,
    ) -> Vec<Option<usize>> {
        values[1..=options.len()].copy_from_slice(options);
        let mut drawn = vec![None; N_LANES];
        draw.clear(values);
        let able = draw.draw(Lanes::ONES, rng, values);
        for option in 0..options.len() {
            for lane in values[1 + options.len() + option].lanes() {
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
            assert_eq!(n_own, counts.iter().sum::<u32>(), "lane {lane} drew what it does not have");
            assert_eq!(n_own, if lane == 0 { 0 } else { n_rounds }, "lane {lane}");
            if own.len() > 1 {
                let deviation = deviation(&own, f64::from(n_rounds) / own.len() as f64);
                assert!(deviation < 6.0, "lane {lane}: {deviation:.1} sigma");
            }
        }
    }
}
