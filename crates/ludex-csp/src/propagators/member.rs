//! Truth of the membership of a variable in a set.

use crate::domains::{Conflict, Domains, Events, VarId};
use crate::propagator::{Cost, Propagator, Pruning, Setup};
use crate::{Value, ValueSet, duplicate_by_clone};

/// `truth` is 1 exactly when the variable has a value of the set.
#[derive(Clone)]
pub struct ReifiedMember {
    /// The truth, then the variable.
    scope: [VarId; 2],
    set: ValueSet,
    /// Bit masks of the indexes inside the set and outside.
    masks: [Box<[u64]>; 2],
    /// An index inside and one outside the set that were in the domain at the last check; only
    /// hints, so they are not reversible.
    supports: [u32; 2],
}

impl ReifiedMember {
    /// Creates the constraint that `truth`, with values 0 and 1, is 1 exactly when `x` has a
    /// value of the set.
    pub fn new(truth: VarId, x: VarId, set: ValueSet) -> Self {
        Self { scope: [truth, x], set, masks: Default::default(), supports: [0, 0] }
    }

    /// Whether a value of one side is left in the domain.
    fn is_open(&mut self, side: usize, domains: &Domains) -> bool {
        let x = self.scope[1];
        let support = self.supports[side];
        let word = self.masks[side][support as usize / 64];
        if word >> (support % 64) & 1 != 0 && domains.contains_index(x, support) {
            return true;
        }
        let bits = domains.bits(x).expect("the domain is listed");
        for (at, (bits, mask)) in bits.iter().zip(&self.masks[side]).enumerate() {
            if bits & mask != 0 {
                self.supports[side] = at as u32 * 64 + (bits & mask).trailing_zeros();
                return true;
            }
        }
        false
    }
}

impl Propagator for ReifiedMember {
    fn name(&self) -> &'static str {
        "reified member"
    }

    fn scope(&self) -> &[VarId] {
        &self.scope
    }

    fn holds(&self, tuple: &[Value]) -> bool {
        tuple[0] == Value::from(self.set.contains(tuple[1]))
    }

    fn post(&mut self, setup: &mut Setup<'_>) {
        let [truth, x] = self.scope;
        let domains = setup.domains();
        let n_words = domains.bits(x).expect("the domain is listed").len();
        self.masks = [vec![0; n_words].into(), vec![0; n_words].into()];
        for index in domains.indexes(x) {
            let side = usize::from(!self.set.contains(domains.value_at(x, index)));
            self.masks[side][index as usize / 64] |= 1 << (index % 64);
        }
        setup.subscribe(truth, Events::FIXED);
        setup.subscribe(x, Events::ANY);
    }

    fn propagate(&mut self, domains: &mut Domains) -> Result<Pruning, Conflict> {
        let [truth, x] = self.scope;
        match domains.fixed_value(truth) {
            Some(1) => domains.restrict_bits(x, &self.masks[0])?,
            Some(0) => domains.restrict_bits(x, &self.masks[1])?,
            Some(_) => return Err(Conflict),
            None => match (self.is_open(0, domains), self.is_open(1, domains)) {
                (true, true) => return Ok(Pruning::Fixpoint),
                (inside, _) => domains.fix(truth, Value::from(inside))?,
            },
        };
        Ok(Pruning::Entailed)
    }

    fn cost(&self) -> Cost {
        Cost::Constant
    }

    fn n_bytes(&self) -> usize {
        size_of_val(self) + 16 * self.masks[0].len() + 8 * self.set.ranges().len()
    }

    duplicate_by_clone!();
}
