//! Habits: moves that did well after similar observations, for playouts and for first tries in the
//! tree.
//!
//! The value of a move is learned after several pasts: any past, the last percepts, and these with
//! the last one, two and three own moves. A longer past counts in proportion to the games seen with
//! it; the next shorter one acts as a prior worth a fixed number of games. Only what a role has
//! seen itself is used, so that habits never use knowledge that the role does not have.
//!
//! For roles that meet the same situation again and again: a cleaner that feels dirt, a hunter that
//! smells something. After Tak, Winands and Björnsson, *N-Grams and the Last-Good-Reply Policy
//! Applied in General Game Playing*, 2012, with a role's own percepts in place of joint moves,
//! which it does not know.

use ludex_base::{MoveId, PerceptId, Rng, RoleId};
use rustc_hash::FxHashMap;

use crate::roles::mix;

/// Mean rewards of moves, by role and past.
#[derive(Clone, Debug, Default)]
pub(super) struct Habits {
    known: FxHashMap<u64, Habit>,
    /// The maximum number of entries; 0 before the first turn.
    max_known: usize,
    turn: u32,
}

#[derive(Clone, Copy, Debug)]
struct Habit {
    mean: f32,
    n_games: u32,
    turn: u32,
}

/// What a role saw and played last.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Recent {
    seen: u64,
    own: [u64; N_OWN_MOVES],
}

/// A choice: the pasts it was made after, the shortest first, and the move.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chosen {
    pub role: RoleId,
    pasts: [u64; N_PASTS],
    id: MoveId,
}

/// Own moves in the longest past.
const N_OWN_MOVES: usize = 3;
/// No past, the last percepts, and these with each number of own moves.
const N_PASTS: usize = N_OWN_MOVES + 2;
/// Games of a longer past that count as much as the value of a shorter one.
const SHORTER_PAST_GAMES: f32 = 4.0;
/// The value of an unknown move.
const UNKNOWN_VALUE: f32 = 0.5;
/// The number of games over which means are taken; older games fade.
const MAX_GAMES: u32 = 200;
/// Games of earlier turns that still count, since the possible states have changed.
const MAX_OLD_GAMES: u32 = 8;
/// The probability of playing any move.
const EPSILON: f64 = 0.1;
/// If there are more moves than this, compare a sample of this size.
const MAX_COMPARED: usize = 24;
/// The maximum number of remembered moves, and the bytes of each.
const MAX_KNOWN: usize = 1 << 20;
const KNOWN_BYTES: usize = 32;

impl Recent {
    /// Returns the recent past after a step with this own move and these percepts.
    pub fn after(self, own: MoveId, seen: Option<&[PerceptId]>) -> Self {
        let mut moves = [own.index() as u64 + 1; N_OWN_MOVES];
        moves[1..].copy_from_slice(&self.own[..N_OWN_MOVES - 1]);
        // A sum does not depend on the order.
        let seen = seen.unwrap_or(&[]).iter().map(|id| mix(id.index() as u64 + 1));
        Self { seen: seen.fold(0, u64::wrapping_add), own: moves }
    }

    fn pasts(&self, role: RoleId, moves: &[MoveId]) -> [u64; N_PASTS] {
        // The legal moves are part of what a role sees.
        let legal = moves.iter().take(MAX_COMPARED).map(|id| mix(id.index() as u64 + 1));
        let legal = legal.fold(moves.len() as u64, u64::wrapping_add);
        let mut pasts = [mix(role.index() as u64 + 1); N_PASTS];
        pasts[1] = mix(pasts[0] ^ mix(self.seen).wrapping_add(legal));
        for n_own in 0..N_OWN_MOVES {
            pasts[n_own + 2] = mix(pasts[n_own + 1] ^ mix(self.own[n_own]));
        }
        pasts
    }
}

impl Habits {
    /// Starts a new turn, in which the table may take about `max_bytes`.
    pub fn begin_turn(&mut self, max_bytes: usize) {
        self.turn += 1;
        self.max_known = (max_bytes / KNOWN_BYTES).min(MAX_KNOWN);
    }

    pub fn n_bytes(&self) -> usize {
        self.known.len() * KNOWN_BYTES
    }

    /// Chooses by habit: mostly the best known move, sometimes any.
    pub fn choose(&self, role: RoleId, recent: &Recent, moves: &[MoveId], rng: &mut Rng) -> Chosen {
        let pasts = recent.pasts(role, moves);
        let start = rng.below(moves.len());
        let mut best = (moves[start], f32::NEG_INFINITY);
        if rng.unit() >= EPSILON {
            for turned in 0..moves.len().min(MAX_COMPARED) {
                let id = if moves.len() <= MAX_COMPARED {
                    moves[(start + turned) % moves.len()]
                } else {
                    moves[rng.below(moves.len())]
                };
                let value = self.value(&pasts, id);
                if value > best.1 {
                    best = (id, value);
                }
            }
        }
        Chosen { role, pasts, id: best.0 }
    }

    /// Records a choice that was made by other means.
    pub fn chosen(&self, role: RoleId, recent: &Recent, moves: &[MoveId], id: MoveId) -> Chosen {
        Chosen { role, pasts: recent.pasts(role, moves), id }
    }

    /// Computes the value of each move.
    pub fn values(&self, role: RoleId, recent: &Recent, moves: &[MoveId], values: &mut Vec<f32>) {
        let pasts = recent.pasts(role, moves);
        values.clear();
        values.extend(moves.iter().map(|&id| self.value(&pasts, id)));
    }

    /// Learns from the reward of the role that chose.
    pub fn learn(&mut self, chosen: &Chosen, reward: f64) {
        for past in chosen.pasts {
            let key = key(past, chosen.id);
            if self.known.len() >= self.max_known && !self.known.contains_key(&key) {
                return;
            }
            let new = Habit { mean: 0.0, n_games: 0, turn: self.turn };
            let habit = self.known.entry(key).or_insert(new);
            habit.n_games = habit.n_counting(self.turn).min(MAX_GAMES - 1) + 1;
            habit.turn = self.turn;
            habit.mean += (reward as f32 - habit.mean) / habit.n_games as f32;
        }
    }

    fn value(&self, pasts: &[u64; N_PASTS], id: MoveId) -> f32 {
        let mut value = UNKNOWN_VALUE;
        for &past in pasts {
            let Some(habit) = self.known.get(&key(past, id)) else { break };
            let n_games = habit.n_counting(self.turn) as f32;
            value = (habit.mean * n_games + value * SHORTER_PAST_GAMES)
                / (n_games + SHORTER_PAST_GAMES);
        }
        value
    }
}

impl Chosen {
    pub fn id(&self) -> MoveId {
        self.id
    }
}

impl Habit {
    fn n_counting(&self, turn: u32) -> u32 {
        if self.turn == turn { self.n_games } else { self.n_games.min(MAX_OLD_GAMES) }
    }
}

fn key(past: u64, id: MoveId) -> u64 {
    mix(past ^ (id.index() as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;

    fn me() -> RoleId {
        RoleId::new(0)
    }

    #[test]
    fn the_right_move_after_each_percept_is_learned() {
        let [suck, go] = [0, 1].map(MoveId::new);
        let [dirt, wall] = [0, 1].map(PerceptId::new);
        let mut habits = Habits::default();
        habits.begin_turn(100_000);
        let mut rng = Seed(1).rng();
        let mut n_right = 0;
        for round in 0..2_000 {
            let (seen, right) = if rng.below(2) == 0 { (dirt, suck) } else { (wall, go) };
            let recent = Recent::default().after(go, Some(&[seen]));
            let chosen = habits.choose(me(), &recent, &[suck, go], &mut rng);
            let is_right = chosen.id() == right;
            habits.learn(&chosen, if is_right { 0.6 } else { 0.4 });
            n_right += usize::from(is_right && round >= 1_000);
        }
        assert!(n_right > 900, "{n_right}");
    }

    #[test]
    fn the_order_of_percepts_does_not_matter() {
        let [a, b] = [3, 4].map(PerceptId::new);
        let recent = |seen: &[PerceptId]| Recent::default().after(MoveId::new(1), Some(seen));
        let pasts = |seen: &[PerceptId]| recent(seen).pasts(me(), &[MoveId::new(0)]);
        assert_eq!(pasts(&[a, b]), pasts(&[b, a]));
        assert_ne!(pasts(&[a, b]), pasts(&[a]));
    }

    #[test]
    fn games_of_an_earlier_turn_soon_count_less() {
        let id = MoveId::new(0);
        let mut habits = Habits::default();
        habits.begin_turn(1_000);
        let recent = Recent::default();
        let chosen = habits.chosen(me(), &recent, &[id], id);
        (0..100).for_each(|_| habits.learn(&chosen, 1.0));
        habits.begin_turn(1_000);
        (0..20).for_each(|_| habits.learn(&chosen, 0.0));
        let mut values = Vec::new();
        habits.values(me(), &recent, &[id], &mut values);
        assert!(values[0] < 0.4, "{values:?}");
    }
}
