//! One uniformly random legal move per lane, without looking at the lanes one by one.
//!
//! Numbers are *bit-sliced*: one word holds the lowest bit of a number of every lane, the next word
//! the second bit, and so on, so that one addition adds in every lane.
//!
//! 1. Count the legal moves of each lane.
//! 2. Draw a number below the count, by drawing as many bits as the count has and rejecting those
//!    that are too large: exactly uniform, and each round settles at least half of the lanes on
//!    average.
//! 3. Go through the moves again, counting down; the move at which a lane's number is zero is its
//!    choice.

use ludex_base::Rng;

use crate::word::Word;

/// Bits of a count: more legal moves than a machine can have moves.
const MAX_BITS: usize = 32;

/// A generator of random words: xoshiro256++ in every 64 lanes.
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

/// Chooses in every lane of `lanes` one of the options that are set there. `options` is replaced by
/// the choices. The lanes of `lanes` without an option are returned.
#[inline(always)]
pub(crate) fn choose<const N: usize>(
    options: &mut [Word<N>],
    lanes: Word<N>,
    rng: &mut WordRng<N>,
) -> Word<N> {
    // Step 1. Count.
    let mut count = [Word::<N>::ZERO; MAX_BITS];
    let mut n_bits = 0;
    for &option in options.iter() {
        let mut carry = option & lanes;
        let mut bit = 0;
        while !carry.is_zero() {
            let both = count[bit] & carry;
            count[bit] ^= carry;
            carry = both;
            bit += 1;
        }
        n_bits = n_bits.max(bit);
    }
    let count = &mut count[..n_bits];
    let some = count.iter().fold(Word::ZERO, |all, &bit| all | bit);
    let none = lanes & !some;

    // Where no lane has a choice, the options are the choices.
    if n_bits <= 1 {
        options.iter_mut().for_each(|option| *option &= lanes);
        return none;
    }

    // Step 2. Draw below the count: at most the count less one, of which `allowed` are the bits.
    let mut borrow = some;
    for bit in count.iter_mut() {
        let old = *bit;
        *bit ^= borrow;
        borrow &= !old;
    }
    let largest = &*count;
    let mut number = [Word::<N>::ZERO; MAX_BITS];
    let mut pending = largest.iter().fold(Word::ZERO, |all, &bit| all | bit);
    while !pending.is_zero() {
        let mut drawn = [Word::<N>::ZERO; MAX_BITS];
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

    // Step 3. Count down.
    let number = &mut number[..n_bits];
    let mut waiting = some;
    for option in options.iter_mut() {
        let legal = *option & waiting;
        if legal.is_zero() {
            *option = Word::ZERO;
            continue;
        }
        let not_zero = number.iter().fold(Word::ZERO, |all, &bit| all | bit);
        let chosen = legal & !not_zero;
        *option = chosen;
        waiting &= !chosen;
        let mut borrow = legal & not_zero;
        for bit in number.iter_mut() {
            let old = *bit;
            *bit ^= borrow;
            borrow &= !old;
            if borrow.is_zero() {
                break;
            }
        }
    }
    none
}
