//! Keys: the values that determine the verdict from a scope on, packed into one number.

use ludex_csp::{Value, ValueSet, VarId};

use crate::model::Model;

/// The variables that determine the verdict from a scope on.
///
/// Their values are packed side by side if they fit into 128 bits; otherwise they are hashed into
/// 128 bits, and two states with equal hashes count as one.
pub(crate) struct Key {
    pub variables: Vec<VarId>,
    /// For each variable its place in the array, its least value, and the position of its bits.
    parts: Vec<(u32, Value, u32)>,
    n_bits: u32,
    /// The values of each variable, if there are symmetries.
    domains: Vec<ValueSet>,
    symmetries: Vec<Transformation>,
}

/// A symmetry, by part: the variable to read, and the mapping of its values.
struct Transformation {
    sources: Vec<u32>,
    maps: Vec<Vec<(Value, Value)>>,
}

impl Key {
    /// Creates the key of these variables, in ascending order.
    pub fn new(model: &Model, live: &[VarId]) -> Self {
        let mut shift = 0;
        let mut parts = Vec::new();
        for &x in live {
            let (lo, hi) = model.bounds(x);
            let n_bits = 64 - ((hi - lo) as u64).leading_zeros();
            // A variable with one value has no bits, and its position may lie after the last one.
            parts.push((x.index() as u32, lo as Value, shift.min(127)));
            shift += n_bits;
        }
        Self {
            variables: live.to_vec(),
            parts,
            n_bits: shift,
            domains: Vec::new(),
            symmetries: Vec::new(),
        }
    }

    /// Returns the number of bits of the values side by side.
    pub fn n_bits(&self) -> u32 {
        self.n_bits
    }

    /// Merges states that the symmetries of a scope map to each other. A symmetry that involves
    /// variables outside the key says nothing about states with equal keys, so it is ignored.
    pub fn add_symmetries(&mut self, model: &Model, symmetries: &[crate::Symmetry]) {
        if !symmetries.is_empty() {
            self.domains = self.variables.iter().map(|&x| model.domain(x).clone()).collect();
        }
        for symmetry in symmetries {
            let from = |x: VarId| {
                let pair = symmetry.variables.iter().find(|(to, _)| *to == x);
                pair.map_or(x, |&(_, from)| from)
            };
            if !self.variables.iter().all(|&x| self.variables.binary_search(&from(x)).is_ok()) {
                continue;
            }
            let source = |x: VarId| from(x).index() as u32;
            let map = |x: VarId| {
                let of_x = symmetry.values.iter().filter(|(y, _, _)| *y == x);
                of_x.map(|&(_, from, to)| (from, to)).collect()
            };
            self.symmetries.push(Transformation {
                sources: self.variables.iter().map(|&x| source(x)).collect(),
                maps: self.variables.iter().map(|&x| map(x)).collect(),
            });
        }
    }

    /// Returns the number that represents the values.
    #[inline]
    pub fn of(&self, values: &[Value]) -> u128 {
        let own = self.pack(self.parts.iter().map(|part| values[part.0 as usize]));
        let image = |symmetry: &Transformation| {
            let moved = |(&x, map): (&u32, &Vec<(Value, Value)>)| {
                let value = values[x as usize];
                map.iter().find(|(from, _)| *from == value).map_or(value, |&(_, to)| to)
            };
            let images = || symmetry.sources.iter().zip(&symmetry.maps).map(moved);
            // Values outside a domain are not a state.
            let is_state = images().zip(&self.domains).all(|(value, set)| set.contains(value));
            is_state.then(|| self.pack(images()))
        };
        self.symmetries.iter().filter_map(image).fold(own, u128::min)
    }

    #[inline]
    fn pack(&self, values: impl Iterator<Item = Value>) -> u128 {
        let parts = self.parts.iter().zip(values);
        if self.n_bits <= 128 {
            return parts.fold(0, |key, (&(_, least, shift), value)| {
                key | u128::from(value.wrapping_sub(least) as u32) << shift
            });
        }
        let mut key = (0x243f_6a88_85a3_08d3_u64, 0x1319_8a2e_0370_7344_u64);
        for (_, value) in parts {
            let value = value as u32;
            key.0 = mix(key.0 ^ u64::from(value));
            key.1 = mix(key.1.rotate_left(23).wrapping_add(u64::from(value)) ^ key.0);
        }
        u128::from(key.0) << 64 | u128::from(key.1)
    }
}

/// A permutation of the words without visible structure.
#[inline]
pub(crate) fn mix(mut word: u64) -> u64 {
    word ^= word >> 32;
    word = word.wrapping_mul(0xe703_7ed1_a0b4_28db);
    word ^= word >> 29;
    word = word.wrapping_mul(0x8ebc_6af0_9c88_c6e3);
    word ^ word >> 32
}
