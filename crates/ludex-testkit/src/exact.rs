//! Exhaustive values by the plainest algorithm, as a reference for searches.
//!
//! Every role maximizes its own goal. Among its equally good moves it plays the one that is worst
//! for the role whose values are computed, and then the first. Moves of `random` are averaged. For
//! two roles whose goals sum to a constant, this is minimax.

use std::collections::HashMap;

use ludex_base::{MoveId, RoleId};
use ludex_game::{Cursor, Game, StateOf};

/// Computes the values of the states of one game from the point of view of one role.
pub struct Exact<'g, G: Game> {
    game: &'g G,
    me: RoleId,
    max_states: usize,
    known: HashMap<StateOf<G>, Option<Vec<f64>>>,
}

impl<'g, G: Game> Exact<'g, G> {
    /// Creates an evaluator that gives up beyond `max_states` states.
    pub fn new(game: &'g G, me: RoleId, max_states: usize) -> Self {
        Self { game, me, max_states, known: HashMap::new() }
    }

    /// Returns the goal of each role from a state, or `None` if there are too many states, if play
    /// can go on forever, or if several players choose at once.
    pub fn values(&mut self, state: &StateOf<G>) -> Option<Vec<f64>> {
        if let Some(known) = self.known.get(state) {
            return known.clone();
        }
        if self.known.len() >= self.max_states {
            return None;
        }
        // Until the value is known, `None` marks the state as being on the current path: reaching
        // it again is a cycle.
        self.known.insert(state.clone(), None);
        let values = self.work_out(state);
        self.known.insert(state.clone(), values.clone());
        values
    }

    /// Returns the values after each move of a role that chooses alone, or alone with `random`.
    pub fn values_after(
        &mut self,
        state: &StateOf<G>,
        role: RoleId,
    ) -> Option<Vec<(MoveId, Vec<f64>)>> {
        let mut cursor = self.game.cursor();
        cursor.set_state(state);
        let legal: Vec<Vec<MoveId>> =
            self.game.role_ids().map(|role| cursor.legal_moves(role).to_vec()).collect();
        let random = self.game.roles().iter().position(|role| role.is_random);
        let mut after = Vec::new();
        for &id in &legal[role.index()] {
            let outcomes = random.map_or(1, |random| legal[random].len());
            let mut sums = vec![0.0; legal.len()];
            for outcome in 0..outcomes {
                let joint: Vec<MoveId> = (0..legal.len())
                    .map(|idx| match idx {
                        idx if idx == role.index() => id,
                        idx if Some(idx) == random => legal[idx][outcome],
                        idx => legal[idx][0],
                    })
                    .collect();
                cursor.set_state(state);
                cursor.play(&joint);
                let next = cursor.state().clone();
                for (sum, value) in sums.iter_mut().zip(self.values(&next)?) {
                    *sum += value / outcomes as f64;
                }
            }
            after.push((id, sums));
        }
        Some(after)
    }

    fn work_out(&mut self, state: &StateOf<G>) -> Option<Vec<f64>> {
        let mut cursor = self.game.cursor();
        cursor.set_state(state);
        if cursor.is_terminal() {
            let goals = self.game.role_ids().map(|role| f64::from(cursor.goal(role).value()));
            return Some(goals.collect());
        }
        let chooses: Vec<RoleId> = self
            .game
            .role_ids()
            .filter(|&role| !self.game.roles()[role.index()].is_random)
            .filter(|&role| cursor.legal_moves(role).len() > 1)
            .collect();
        let role = match chooses[..] {
            [] => self.me,
            [role] => role,
            _ => return None,
        };
        let after = self.values_after(state, role)?;
        let me = self.me.index();
        let mut best = after[0].1.clone();
        for (_, values) in &after[1..] {
            let (ours, best_ours) = (values[role.index()], best[role.index()]);
            if ours > best_ours || ours == best_ours && values[me] < best[me] {
                best.clone_from(values);
            }
        }
        Some(best)
    }
}
