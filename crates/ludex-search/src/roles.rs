//! The roles of a game, and hashes and sizes of its states.

use std::hash::{Hash, Hasher};

use ludex_base::RoleId;
use ludex_game::Game;

/// The roles of a game as searches see them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Roles {
    /// The number of roles, including `random`.
    pub(crate) n: usize,
    /// The role `random`.
    pub(crate) random: Option<RoleId>,
}

impl Roles {
    pub(crate) fn of<G: Game>(game: &G) -> Self {
        let random = game.roles().iter().position(|role| role.is_random).map(RoleId::new);
        Self { n: game.roles().len(), random }
    }

    pub(crate) fn is_random(self, role: RoleId) -> bool {
        self.random == Some(role)
    }

    pub(crate) fn ids(self) -> impl Iterator<Item = RoleId> {
        (0..self.n).map(RoleId::new)
    }
}

/// Returns a hash of a state in which every bit is well mixed.
pub(crate) fn hash_of<S: Hash>(state: &S) -> u64 {
    let mut hasher = rustc_hash::FxHasher::default();
    state.hash(&mut hasher);
    mix(hasher.finish())
}

/// Spreads the bits of a number (the finalizer of SplitMix64).
pub(crate) fn mix(mut x: u64) -> u64 {
    x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

/// Estimates the heap bytes of a state: the bytes that it feeds to a hasher, and the overhead of
/// the allocator.
pub fn heap_bytes_of<S: Hash>(state: &S) -> usize {
    struct Count(usize);
    impl Hasher for Count {
        fn finish(&self) -> u64 {
            self.0 as u64
        }
        fn write(&mut self, bytes: &[u8]) {
            self.0 += bytes.len();
        }
    }
    let mut count = Count(0);
    state.hash(&mut count);
    count.0 + 16
}
