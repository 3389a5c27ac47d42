//! NST: playouts prefer moves that did well after the previous moves.
//!
//! The value of a move averages its means alone, after the last joint move, and after the last two,
//! as far as these sequences of one, two and three were seen often enough. For any game.
//!
//! After Tak, Winands and Björnsson, *N-Grams and the Last-Good-Reply Policy Applied in General
//! Game Playing*, 2012. They form a sequence for each combination of roles. We use joint moves,
//! which is the same if roles take turns, and needs no choice of combinations otherwise.

use ludex_base::{MoveId, Rng};

use super::means::{MoveMeans, reward};
use super::{Draw, GameRecord, PlayoutPolicy};
use crate::roles::mix;

/// The means of sequences, and how moves are drawn.
#[derive(Clone, Debug)]
pub struct Nst {
    draw: Draw,
    min_seen: u32,
    single: MoveMeans,
    longer: Sequences,
    sums: Vec<f32>,
}

/// The longest sequence.
const MAX_LENGTH: usize = 3;

impl Nst {
    /// Creates a policy without knowledge. Longer sequences count once they were seen `min_seen`
    /// times.
    pub fn new(draw: Draw, min_seen: u32) -> Self {
        let (single, longer) = (MoveMeans::default(), Sequences::default());
        Self { draw, min_seen, single, longer, sums: Vec::new() }
    }
}

/// Returns, for each longer sequence, the hash of its joint moves before step `step_idx`, as far as
/// there are enough steps.
fn contexts(game: &GameRecord, step_idx: usize) -> impl Iterator<Item = u64> + '_ {
    let mut hash = 0_u64;
    (1..MAX_LENGTH.min(step_idx + 1)).map(move |n_before| {
        let joint = game.joint(step_idx - n_before).iter();
        hash = joint.fold(hash, |hash, id| mix(hash.wrapping_add(id.index() as u64 + 1)));
        hash
    })
}

impl PlayoutPolicy for Nst {
    fn choose(&mut self, moves: &[MoveId], game: &GameRecord, rng: &mut Rng) -> MoveId {
        let Self { draw, min_seen, single, longer, sums } = self;
        let mut before = [0; MAX_LENGTH - 1];
        let mut n_before = 0;
        for context in contexts(game, game.n_steps()) {
            before[n_before] = context;
            n_before += 1;
        }
        draw.pick(moves, rng, sums, |id| {
            let (mut sum, mut n) = (single.value(id), 1.0);
            for &context in &before[..n_before] {
                match longer.find(context, id) {
                    Some((n_seen, mean)) if n_seen >= *min_seen => {
                        sum += mean;
                        n += 1.0;
                    }
                    _ => {}
                }
            }
            sum / n
        })
    }

    fn learn(&mut self, game: &GameRecord, goals: &[u8]) {
        for step_idx in 0..game.n_steps() {
            for (role_idx, id) in game.chosen(step_idx) {
                let reward = reward(goals[role_idx]);
                self.single.add(id, reward);
                for context in contexts(game, step_idx) {
                    self.longer.add(context, id, reward);
                }
            }
        }
    }

    fn n_bytes(&self) -> usize {
        self.single.n_bytes() + self.longer.slots.capacity() * size_of::<Slot>()
    }
}

/// Means by context and move, in a table that is at most half full. It doubles up to a limit; then
/// the rarest sequences make room.
#[derive(Clone, Debug, Default)]
struct Sequences {
    slots: Vec<Slot>,
    n_used: usize,
}

#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    key: u64,
    /// 0 if the slot is empty.
    n_seen: u32,
    mean: f32,
}

const MIN_SLOTS: usize = 1 << 10;
/// 2 MB, about the size of a cache.
const MAX_SLOTS: usize = 1 << 17;

impl Sequences {
    fn key(context: u64, id: MoveId) -> u64 {
        (context ^ id.index() as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    /// Returns the slot of a key, or the empty one where it would be.
    #[inline]
    fn slot_idx(&self, key: u64) -> usize {
        let mask = self.slots.len() - 1;
        // The upper bits of a product are the well-mixed ones.
        let mut slot_idx = ((key >> 32) as usize * self.slots.len()) >> 32;
        while self.slots[slot_idx].n_seen > 0 && self.slots[slot_idx].key != key {
            slot_idx = (slot_idx + 1) & mask;
        }
        slot_idx
    }

    #[inline]
    fn find(&self, context: u64, id: MoveId) -> Option<(u32, f32)> {
        if self.slots.is_empty() {
            return None;
        }
        let slot = &self.slots[self.slot_idx(Self::key(context, id))];
        (slot.n_seen > 0).then_some((slot.n_seen, slot.mean))
    }

    fn add(&mut self, context: u64, id: MoveId, reward: f32) {
        if self.n_used * 2 >= self.slots.len() {
            self.make_room();
        }
        let key = Self::key(context, id);
        let slot_idx = self.slot_idx(key);
        let slot = &mut self.slots[slot_idx];
        self.n_used += usize::from(slot.n_seen == 0);
        slot.key = key;
        slot.n_seen = slot.n_seen.saturating_add(1);
        slot.mean += (reward - slot.mean) / slot.n_seen as f32;
    }

    #[cold]
    fn make_room(&mut self) {
        let is_full = self.slots.len() == MAX_SLOTS;
        let n_slots = (self.slots.len() * 2).clamp(MIN_SLOTS, MAX_SLOTS);
        let mut old = std::mem::replace(&mut self.slots, vec![Slot::default(); n_slots]);
        old.retain(|slot| slot.n_seen > 0);
        if is_full {
            // Drop everything as rare as the median: dropping only a part would favor neighboring
            // slots.
            let middle = old.len() / 2;
            let seldom = old.select_nth_unstable_by_key(middle, |slot| slot.n_seen).1.n_seen;
            old.retain(|slot| slot.n_seen > seldom);
        }
        self.n_used = old.len();
        for slot in old {
            let slot_idx = self.slot_idx(slot.key);
            self.slots[slot_idx] = slot;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use super::super::tests::game;
    use super::*;
    use ludex_base::Seed;

    /// Sequences by definition, with the joint moves themselves as keys.
    #[derive(Default)]
    struct Slow(HashMap<(Vec<MoveId>, MoveId), Vec<f32>>);

    impl Slow {
        fn learn(&mut self, game: &GameRecord, goals: &[u8]) {
            for step_idx in 0..game.n_steps() {
                for n_before in 0..=step_idx.min(2) {
                    let before = (step_idx - n_before..step_idx)
                        .flat_map(|step_idx| game.joint(step_idx).to_vec());
                    let before: Vec<MoveId> = before.collect();
                    for (role_idx, id) in game.chosen(step_idx) {
                        let rewards = self.0.entry((before.clone(), id)).or_default();
                        rewards.push(reward(goals[role_idx]));
                    }
                }
            }
        }
    }

    #[test]
    fn sequences_have_the_means_of_their_games() {
        let mut rng = Seed(3).rng();
        let (mut fast, mut slow) = (Nst::new(Draw::Greedy { epsilon: 0.0 }, 1), Slow::default());
        for _ in 0..100 {
            // Two roles with three moves each.
            let moves: Vec<usize> =
                (0..12).map(|slot_idx| slot_idx % 2 * 3 + rng.below(3)).collect();
            let goals = [rng.below(101) as u8, rng.below(101) as u8];
            fast.learn(&game(2, 2, &moves), &goals);
            slow.learn(&game(2, 2, &moves), &goals);
        }
        for ((before, id), rewards) in &slow.0 {
            let mut record = GameRecord::default();
            record.clear(2);
            before.iter().for_each(|&id| record.add_move(id, true));
            let found = match contexts(&record, record.n_steps()).last() {
                None => Some((fast.single.n_played(*id), fast.single.value(*id))),
                Some(context) => fast.longer.find(context, *id),
            };
            let mean = rewards.iter().sum::<f32>() / rewards.len() as f32;
            let (n_seen, found) = found.expect("every sequence was recorded");
            assert_eq!(n_seen as usize, rewards.len(), "{before:?} {id:?}");
            assert!((found - mean).abs() < 1e-4, "{before:?} {id:?}: {found} is {mean}");
        }
        assert!(slow.0.len() > 200, "{}", slow.0.len());
    }

    #[test]
    fn a_good_answer_is_chosen_only_after_the_right_move() {
        let ids = |ids: &[usize]| ids.iter().map(|&it| MoveId::new(it)).collect::<Vec<_>>();
        let mut policy = Nst::new(Draw::Greedy { epsilon: 0.0 }, 2);
        // One role: 3 is good after 0, 4 is good after 1.
        for _ in 0..4 {
            for (line, goal) in [([0, 3], 100), ([0, 4], 0), ([1, 3], 0), ([1, 4], 100)] {
                policy.learn(&game(1, 0, &line), &[goal]);
            }
        }
        let mut rng = Seed(1).rng();
        for (before, good) in [(0, 3), (1, 4)] {
            let chosen = policy.choose(&ids(&[3, 4]), &game(1, 0, &[before]), &mut rng);
            assert_eq!(chosen, MoveId::new(good));
        }
        // (0.5 + 1) / 2 if it was seen often enough, otherwise 0.5.
        let fresh = Nst { min_seen: 5, ..policy.clone() };
        let context = contexts(&game(1, 0, &[0]), 1).next().expect("there is a step before");
        assert_eq!(fresh.longer.find(context, MoveId::new(3)), Some((4, 1.0)));
        assert_eq!(fresh.single.value(MoveId::new(3)), 0.5);
    }

    #[test]
    fn the_table_stays_within_its_memory() {
        let mut policy = Nst::new(Draw::Greedy { epsilon: 0.0 }, 1);
        let mut rng = Seed(1).rng();
        for _ in 0..4_000 {
            let moves: Vec<usize> = (0..100).map(|_| rng.below(1_000)).collect();
            policy.learn(&game(1, 0, &moves), &[50]);
        }
        assert_eq!(policy.longer.slots.len(), MAX_SLOTS);
        assert!(policy.n_bytes() < 3 << 20, "{}", policy.n_bytes());
    }
}
