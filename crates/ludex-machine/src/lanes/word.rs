//! Words with a bit for each of many playouts, which the processor handles as one.

use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

/// `64 * N` bits, one per lane. The operations are plain loops over `N` words, which the compiler
/// turns into vector instructions where the processor has them. The alignment keeps every 256 bits
/// within one cache line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(C, align(32))]
pub(crate) struct Word<const N: usize>(pub [u64; N]);

/// Returns how many words of 64 bits this processor handles as one.
pub(crate) fn n_words() -> usize {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("avx512f") {
        return 8;
    }
    4
}

impl<const N: usize> Word<N> {
    pub const N_LANES: usize = 64 * N;
    pub const ZERO: Self = Self([0; N]);
    pub const ONES: Self = Self([u64::MAX; N]);

    /// Returns a word with all lanes set or none.
    #[inline(always)]
    pub fn splat(value: bool) -> Self {
        if value { Self::ONES } else { Self::ZERO }
    }

    #[inline(always)]
    pub fn is_zero(self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// Returns a word with one lane set.
    #[inline(always)]
    pub fn of_lane(lane: usize) -> Self {
        let mut word = Self::ZERO;
        word.set(lane, true);
        word
    }

    #[inline(always)]
    pub fn set(&mut self, lane: usize, value: bool) {
        let bit = 1 << (lane % 64);
        if value {
            self.0[lane / 64] |= bit;
        } else {
            self.0[lane / 64] &= !bit;
        }
    }

    pub fn count(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Takes the lanes in `mask` from `other` and the rest from `self`.
    #[inline(always)]
    pub fn merged(self, other: Self, mask: Self) -> Self {
        self & !mask | other & mask
    }

    /// Iterates over the lanes that are set, ascending.
    #[inline(always)]
    pub fn lanes(self) -> impl Iterator<Item = usize> {
        self.0.into_iter().enumerate().flat_map(|(idx, mut word)| {
            std::iter::from_fn(move || {
                (word != 0).then(|| {
                    let bit = word.trailing_zeros() as usize;
                    word &= word - 1;
                    idx * 64 + bit
                })
            })
        })
    }
}

macro_rules! lane_wise {
    ($trait:ident $method:ident, $assign:ident $assign_method:ident, $op:tt) => {
        impl<const N: usize> $assign for Word<N> {
            #[inline(always)]
            fn $assign_method(&mut self, other: Self) {
                for idx in 0..N {
                    self.0[idx] $op other.0[idx];
                }
            }
        }
        impl<const N: usize> $trait for Word<N> {
            type Output = Self;
            #[inline(always)]
            fn $method(mut self, other: Self) -> Self {
                self.$assign_method(other);
                self
            }
        }
    };
}

lane_wise!(BitAnd bitand, BitAndAssign bitand_assign, &=);
lane_wise!(BitOr bitor, BitOrAssign bitor_assign, |=);
lane_wise!(BitXor bitxor, BitXorAssign bitxor_assign, ^=);

impl<const N: usize> Not for Word<N> {
    type Output = Self;
    #[inline(always)]
    fn not(mut self) -> Self {
        for idx in 0..N {
            self.0[idx] = !self.0[idx];
        }
        self
    }
}
