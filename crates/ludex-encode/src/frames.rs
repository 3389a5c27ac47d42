//! Frame axioms: the variables that a move leaves unchanged.
//!
//! If auxiliary variables stand between a variable and its next value, propagation finds the next
//! value once the state and the moves are known, but does not see that a variable that changes, or
//! must change, needs one of a few moves. A frame states this: a role plays one of the moves that
//! can change the variable, or the variable stays. These are the explanatory frame axioms of
//! Schubert, *Monotonic Solution of the Frame Problem in the Situation Calculus*.
//!
//! Invariant: a frame follows from the constraints of the template, so adding it changes no
//! solution. It is derived from them by propagating the move with each value of the variable and
//! everything else open.

use ludex_base::Deadline;
use ludex_csp::propagators::table::{STAR, Table};
use ludex_csp::{Constraint, Engine, PostConfig, Value, VarId};

use crate::template::{MoveVar, Template};

/// The maximal number of propagator calls, after which no more moves are tried.
const MAX_PROPAGATIONS: u64 = 2_000_000;
/// The maximal number of tuples of the table of a frame.
const MAX_TUPLES: usize = 2_048;

/// Says that a state variable stays unless a role plays one of some moves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Frame {
    /// The role's move, the variable, and its variable in the next state.
    pub scope: [VarId; 3],
    /// The moves that may change it, as values of the move variable.
    pub changing: Vec<Value>,
    /// The number of values of the variable.
    n_values: usize,
}

impl Frame {
    /// Returns the table of the frame: any of these moves with any next value, or the variable
    /// stays.
    pub fn table(&self) -> Table {
        let moves = self.changing.iter().map(|&value| [value, STAR, STAR]);
        let stays = (0..self.n_values as Value).map(|value| [STAR, value, value]);
        Table::from_tuples(3, moves.chain(stays))
    }
}

impl Template {
    /// Returns the frames that no table of the template implies already, as far as they are found
    /// before the deadline and within `max_bytes`.
    pub(crate) fn frames(&self, deadline: &Deadline, max_bytes: u64) -> Vec<Frame> {
        let config = PostConfig { max_bytes, ..PostConfig::default() };
        let Ok(posted) = self.network.post_by(&config, deadline) else { return Vec::new() };
        let mut engine = posted.engine;
        engine.set_deadline(deadline);
        if engine.propagate().is_err() {
            return Vec::new();
        }
        let mut frames = Vec::new();
        for of_role in &self.moves {
            let places = self.places_cut_from(of_role.var);
            // The moves that may change the variable, by place.
            let mut changing: Vec<Vec<Value>> = vec![Vec::new(); places.len()];
            for value in 0..of_role.none() {
                let is_kept = self.kept_by(&mut engine, of_role, value, &places);
                for (list, is_kept) in changing.iter_mut().zip(is_kept) {
                    if !is_kept {
                        list.push(value);
                    }
                }
            }
            for (&place, changing) in places.iter().zip(changing) {
                let n_values = self.state_vars[place].size();
                let is_short = changing.len() + n_values <= MAX_TUPLES;
                if changing.len() < of_role.n_moves && is_short {
                    let scope = [of_role.var, self.now[place], self.next[place]];
                    frames.push(Frame { scope, changing, n_values });
                }
            }
        }
        frames
    }

    /// Returns the places of the state whose next value no single table relates to the moves of a
    /// role.
    fn places_cut_from(&self, moves: VarId) -> Vec<usize> {
        let mut is_cut = vec![true; self.next.len()];
        for constraint in self.network.constraints() {
            let Constraint::Table { scope, .. } = constraint else { continue };
            if scope.contains(&moves) {
                let next = scope.iter().filter_map(|var| self.next.binary_search(var).ok());
                next.for_each(|place| is_cut[place] = false);
            }
        }
        (0..is_cut.len()).filter(|&place| is_cut[place]).collect()
    }

    /// Returns by place whether the variable keeps each of its values if a role plays a move.
    fn kept_by(
        &self,
        engine: &mut Engine,
        of_role: &MoveVar,
        played: Value,
        places: &[usize],
    ) -> Vec<bool> {
        let is_over =
            |engine: &Engine| engine.is_stopped() || engine.n_propagations() > MAX_PROPAGATIONS;
        if is_over(engine) {
            return vec![false; places.len()];
        }
        engine.push_level();
        let is_possible = engine.assign(of_role.var, played).is_ok();
        let mut keeps = |place: &usize| {
            // A move that is never legal keeps everything.
            let mut is_kept = true;
            for value in (0..self.state_vars[*place].size() as Value).filter(|_| is_possible) {
                engine.push_level();
                if engine.assign(self.now[*place], value).is_ok() {
                    let (domains, next) = (engine.domains(), self.next[*place]);
                    is_kept = domains.is_fixed(next) && domains.min(next) == value;
                }
                engine.pop_level();
                if !is_kept {
                    break;
                }
            }
            is_kept && !is_over(engine)
        };
        let kept: Vec<bool> = places.iter().map(&mut keeps).collect();
        engine.pop_level();
        kept
    }
}
