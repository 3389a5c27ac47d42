//! Small games for two roles are solved in the start clock; what is proved is then played.
//!
//! A proved win is played at once. In other states the search chooses, because it also knows which
//! moves are hard to answer; the table only replaces a move that gives away what is proved.

use ludex_base::{Goal, Limits, RoleId};
use ludex_game::{Cursor, StateOf};
use ludex_search::{MoveReport, SearchLimits, SearchReport};
use ludex_solve::duel::Table;

use crate::Playable;
use crate::mind::Opinion;

/// The part of the start clock in which all states must be listed.
const TABLE_PART: f64 = 0.2;
/// The part of the memory that the table may take.
const MEMORY_PART: u64 = 4;

/// What is proved about every state of a game.
pub(crate) struct Proved<G: Playable> {
    table: Table<StateOf<G>>,
    cursor: G::Cursor,
}

impl<G: Playable> Proved<G> {
    /// Lists all states; `None` if there are too many, or the game is not of the kind that
    /// [`Table`] knows.
    ///
    /// With an iteration limit there is none, because the choice of moves would depend on the clock.
    pub fn find(game: &G, limits: &SearchLimits) -> Option<Self> {
        let mut cursor = game.cursor();
        let n_choosing = game.role_ids().filter(|&role| cursor.legal_moves(role).len() > 1).count();
        if limits.iterations.is_some() || n_choosing > 1 {
            return None;
        }
        let limits = Limits {
            max_bytes: limits.memory as u64 / MEMORY_PART,
            ..Limits::usual().until(limits.deadline.part(TABLE_PART))
        };
        let table = Table::of(game, cursor.state(), &limits)?;
        Some(Self { table, cursor })
    }

    /// Returns whether a role wins from the initial state, so that it needs no other search.
    pub fn wins(&self, role: RoleId) -> bool {
        self.table.first(role) == Goal::MAX
    }

    /// Returns the move that keeps a proved win; `None` if there is none.
    pub fn win(&mut self, state: &StateOf<G>, role: RoleId) -> Option<SearchReport> {
        let (goal, place) = self.table.best(state, role)?;
        (goal == Goal::MAX).then(|| self.report(state, role, place)).flatten()
    }

    /// Replaces a move after which the role can force less than before it.
    pub fn correct(&mut self, state: &StateOf<G>, role: RoleId, opinion: Opinion) -> Opinion {
        let proved = self.table.best(state, role).zip(self.table.after(state, role));
        let Some(((goal, place), after)) = proved else { return opinion };
        self.cursor.set_state(state);
        let legal = self.cursor.legal_moves(role);
        let chosen = legal.iter().position(|&id| Some(id) == opinion.report.chosen);
        if chosen.is_some_and(|chosen| after[chosen] >= goal) {
            return opinion;
        }
        match self.report(state, role, place) {
            Some(report) => Opinion { report, search: format!("{}+proved", opinion.search) },
            None => opinion,
        }
    }

    fn report(&mut self, state: &StateOf<G>, role: RoleId, place: usize) -> Option<SearchReport> {
        let after = self.table.after(state, role)?;
        self.cursor.set_state(state);
        let legal = self.cursor.legal_moves(role);
        let reward = |goal: Goal| f64::from(goal.value()) / f64::from(Goal::MAX.value());
        let moves = legal.iter().zip(&after);
        let moves = moves.map(|(&id, &goal)| MoveReport {
            proven: Some(reward(goal)),
            ..MoveReport::untried(id)
        });
        Some(SearchReport {
            chosen: Some(legal[place]),
            moves: moves.collect(),
            reward: Some(reward(after[place])),
            is_proven: true,
            n_nodes: self.table.n_states() as u64,
            ..SearchReport::default()
        })
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::{Deadline, Seed};
    use ludex_game::{Game, JointMoves};

    use super::*;
    use crate::tests::loaded;

    /// Whatever the other role does, the result is at least what the table says of the first state.
    #[test]
    fn what_is_proved_is_never_given_away() {
        for name in ["tictactoe", "nim"] {
            let (_, game) = loaded(name);
            let limits = SearchLimits::until(Deadline::never(), Seed(1));
            let mut proved = Proved::find(&game, &limits).expect("the game is small");
            for role in game.role_ids() {
                let least = proved.table.first(role);
                let mut cursor = game.cursor();
                let mut open = vec![cursor.state().clone()];
                let mut n_ends = 0;
                while let Some(state) = open.pop() {
                    cursor.set_state(&state);
                    if cursor.is_terminal() {
                        assert!(cursor.goal(role) >= least, "{name}");
                        n_ends += 1;
                        continue;
                    }
                    let legal = cursor.legal_moves(role).to_vec();
                    let mut joints = JointMoves::of(&mut cursor, game.roles().len());
                    if legal.len() > 1 {
                        // The search chooses the last move, however bad it is.
                        let report = SearchReport {
                            chosen: legal.last().copied(),
                            ..SearchReport::default()
                        };
                        let opinion = Opinion { report, search: "last".into() };
                        let chosen = match proved.win(&state, role) {
                            Some(report) => report.chosen,
                            None => proved.correct(&state, role, opinion).report.chosen,
                        };
                        joints.keep_only(role, chosen.expect("there is a legal move"));
                    }
                    while let Some(joint) = joints.next_joint() {
                        cursor.set_state(&state);
                        cursor.play(joint);
                        open.push(cursor.state().clone());
                    }
                }
                assert!(n_ends > 0, "{name}");
            }
        }
    }

    #[test]
    fn games_of_other_kinds_have_no_table() {
        for name in ["rock-paper-scissors", "three-player-nim", "pig"] {
            let (_, game) = loaded(name);
            let limits = SearchLimits::until(Deadline::never(), Seed(1));
            assert!(Proved::find(&game, &limits).is_none(), "{name}");
        }
        let (_, game) = loaded("tictactoe");
        assert!(Proved::find(&game, &SearchLimits::iterations(100, Seed(1))).is_none());
    }
}
