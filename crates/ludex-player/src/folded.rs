//! A search on states folded by symmetries.
//!
//! The search sees only canonical states and their moves. Its report is taken back to the state
//! that was asked about.

use std::sync::Arc;
use std::time::Duration;

use ludex_analysis::symmetry::{Folding, FoldingElement};
use ludex_base::{Deadline, MoveId, RoleId};
use ludex_circuit::Rules;
use ludex_game::{Cursor, StateOf, play_checked};
use ludex_search::{MoveReport, SearchReport};

use crate::Playable;

/// Time for finding symmetries.
const SEARCH_TIME: Duration = Duration::from_secs(2);

/// A game with folded states, and the way to them and back.
pub(crate) struct Folds<G: Playable> {
    /// The game with folded states.
    pub game: G,
    plain: G::Cursor,
    folding: Arc<Folding>,
    rules: Arc<dyn Rules<StateOf<G>>>,
}

impl<G: Playable> Folds<G> {
    /// Folds a game; `None` if it has no symmetries.
    pub fn of(game: &G) -> Option<Self> {
        let rules = game.rules()?;
        let (folded, folding) = game.folded(&Deadline::after(SEARCH_TIME))?;
        Some(Self { game: folded, plain: game.cursor(), folding, rules })
    }

    /// The canonical state of a state, and the symmetry that leads to it.
    pub fn enter(&self, state: &StateOf<G>) -> (StateOf<G>, FoldingElement) {
        let fluents = self.rules.fluents(state);
        let mut canonical = fluents.clone();
        let element = self.folding.canonical(fluents, &mut canonical);
        (self.rules.state(&canonical), element)
    }

    /// Takes a report about the canonical state of a state back to the state.
    pub fn leave(
        &mut self,
        state: &StateOf<G>,
        role: RoleId,
        entered_by: &FoldingElement,
        report: SearchReport,
    ) -> SearchReport {
        self.plain.set_state(state);
        let legal = self.plain.legal_moves(role).to_vec();
        let images: Vec<MoveId> =
            legal.iter().map(|&played| self.folding.played(played, entered_by)).collect();
        let mut canonical = self.rules.fluents(state).clone();
        self.folding.image(self.rules.fluents(state), entered_by, &mut canonical);
        // The moves that the search has seen come first, so that they stand for their orbits.
        let seen = report.moves.iter().map(|it| it.id);
        let all: Vec<MoveId> = seen.chain(images.iter().copied()).collect();
        let representatives = &self.folding.representatives(&canonical, &all)[report.moves.len()..];
        let moves = legal.iter().zip(representatives).map(|(&id, representative)| {
            let found = report.moves.iter().find(|it| it.id == *representative);
            found.map_or_else(|| MoveReport::untried(id), |it| MoveReport { id, ..*it })
        });
        let back = self.folding.inverse(entered_by);
        SearchReport {
            chosen: report.chosen.map(|played| self.folding.played(played, &back)),
            moves: moves.collect(),
            line: self.line(state, &report.line),
            ..report
        }
    }

    /// Takes a line of canonical states back to the states that it stands for.
    fn line(&mut self, state: &StateOf<G>, line: &[Vec<MoveId>]) -> Vec<Vec<MoveId>> {
        let n_roles = self.game.roles().len();
        let mut plain_line = Vec::with_capacity(line.len());
        self.plain.set_state(state);
        for joint in line {
            let (_, element) = self.enter(&self.plain.state().clone());
            let back = self.folding.inverse(&element);
            let joint: Vec<MoveId> =
                joint.iter().map(|&played| self.folding.played(played, &back)).collect();
            if play_checked(&mut self.plain, n_roles, &joint).is_err() {
                break;
            }
            plain_line.push(joint);
        }
        plain_line
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;
    use ludex_game::{Game, draw_joint};
    use ludex_search::{SearchLimits, SearchSpec};

    use super::*;
    use crate::mind::OneSearch;
    use crate::tests::loaded;

    #[test]
    fn folded_searches_report_on_the_state_they_were_asked_about() {
        for (game, search) in [("tictactoe", "uct"), ("amazons", "uct"), ("tictactoe", "alphabeta")]
        {
            let (_, machine) = loaded(game);
            let spec = SearchSpec::parse(search).expect("a registered search");
            let mut folded = OneSearch::folded(&machine, spec.name, &spec.search);
            let mut rng = Seed(5).rng();
            for _ in 0..20 {
                let mut cursor = machine.cursor();
                for _ in 0..rng.below(6) {
                    let joint = draw_joint(&machine, &mut cursor, &mut rng);
                    cursor.play(&joint.expect("every role has a move"));
                }
                let chooses = |role: &RoleId| cursor.clone().legal_moves(*role).len() > 1;
                let Some(role) = machine.role_ids().find(chooses).filter(|_| !cursor.is_terminal())
                else {
                    continue;
                };
                let state = cursor.state().clone();
                let report = folded.search(&state, role, &SearchLimits::iterations(300, Seed(1)));
                let legal = cursor.legal_moves(role).to_vec();
                let listed: Vec<MoveId> = report.moves.iter().map(|it| it.id).collect();
                assert_eq!(listed, legal);
                assert!(legal.contains(&report.chosen.expect("a move")));
                for joint in &report.line {
                    play_checked(&mut cursor, machine.roles().len(), joint).expect("a legal line");
                }
            }
        }
    }

    #[test]
    fn folding_changes_no_proved_value() {
        let (_, machine) = loaded("tictactoe");
        let spec = SearchSpec::parse("alphabeta").expect("a registered search");
        let mut folded = OneSearch::folded(&machine, spec.name, &spec.search);
        let mut plain = OneSearch::new(&machine, spec.name, &spec.search);
        let mut n_compared = 0;
        let mut rng = Seed(9).rng();
        for _ in 0..20 {
            let mut cursor = machine.cursor();
            for _ in 0..3 + rng.below(3) {
                let joint = draw_joint(&machine, &mut cursor, &mut rng);
                cursor.play(&joint.expect("every role has a move"));
            }
            if cursor.is_terminal() {
                continue;
            }
            for role in machine.role_ids() {
                let limits = SearchLimits::iterations(1_000_000, Seed(1));
                let [one, other] =
                    [&mut folded, &mut plain].map(|it| it.search(cursor.state(), role, &limits));
                if one.is_proven && other.is_proven {
                    assert_eq!(one.reward, other.reward);
                    n_compared += 1;
                }
            }
        }
        assert!(n_compared > 10, "only {n_compared} values were proved");
    }
}
