//! A player that plays saved strategies, and thinks only where they say nothing.

use std::sync::Arc;

use ludex_base::RoleId;
use ludex_game::{Cursor, StateOf};
use ludex_search::{MoveReport, SearchLimits, SearchReport};
use ludex_solve::{Saved, points};

use crate::Playable;
use crate::knowledge::Situation;
use crate::mind::{Mind, Opinion};

/// Plays saved strategies, and asks another mind where there are none.
pub(crate) struct Remembering<G: Playable> {
    game: G,
    cursor: G::Cursor,
    saved: Arc<Saved>,
    mind: Box<dyn Mind<G>>,
}

impl<G: Playable> Remembering<G> {
    pub fn new(game: &G, saved: Arc<Saved>, mind: Box<dyn Mind<G>>) -> Self {
        Self { game: game.clone(), cursor: game.cursor(), saved, mind }
    }

    fn recall(
        &mut self,
        state: &StateOf<G>,
        role: RoleId,
        limits: &SearchLimits,
    ) -> Option<SearchReport> {
        let name = &self.game.roles()[role.index()].name;
        let fluents = self.game.state_texts(state);
        let choice = self.saved.choose(name, &fluents, &mut limits.seed.rng())?;
        let chosen = self.game.find_move(role, &choice.text)?;
        self.cursor.set_state(state);
        let legal = self.cursor.legal_moves(role);
        let reward = points(choice.value) / 100.0;
        legal.contains(&chosen).then(|| SearchReport {
            chosen: Some(chosen),
            moves: legal.iter().map(|&id| MoveReport::untried(id)).collect(),
            reward: Some(reward),
            is_proven: true,
            ..SearchReport::default()
        })
    }
}

impl<G: Playable> Mind<G> for Remembering<G> {
    fn prepare(&mut self, role: RoleId, limits: &SearchLimits) {
        if !self.saved.has(&self.game.roles()[role.index()].name) {
            self.mind.prepare(role, limits);
        }
    }

    fn think(
        &mut self,
        situation: &Situation<StateOf<G>>,
        role: RoleId,
        limits: &SearchLimits,
    ) -> Opinion {
        if let Situation::Open(state) = situation
            && let Some(report) = self.recall(state, role, limits)
        {
            return Opinion { report, search: "saved".into() };
        }
        self.mind.think(situation, role, limits)
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::{Deadline, Goal, Seed};
    use ludex_game::{Game, JointMoves};
    use ludex_solve::{Method, Problem, Progress, SolveOptions, solve};

    use super::*;
    use crate::mind::Minds;
    use crate::roster::{FLAGSHIP, PlayerSpec};
    use crate::tests::loaded;

    #[test]
    fn a_saved_strategy_wins_whatever_the_other_role_plays() {
        let (_, game) = loaded("nim");
        let problem = Problem::initial(&game).with_circuit(game.circuit());
        let options = SolveOptions {
            methods: vec![Method::AlphaBeta],
            wants_proofs: true,
            ..SolveOptions::default()
        };
        let solution = solve(&problem, &options, &Progress::new());
        let winner = game.role_ids().find(|&role| solution.value(role) == Some(Goal::MAX));
        let winner = winner.expect("a role wins");
        let saved = Saved::of(&problem, &solution, "the rules of nim");
        let saved = Arc::new(Saved::read(&saved.to_text()).expect("it was just written"));
        let spec = PlayerSpec::parse(FLAGSHIP).expect("the flagship");
        let mut mind = Minds::new(&spec, &game).remembering(&game, &saved).one();
        // No iteration is allowed, so that nothing but memory can win.
        let limits =
            SearchLimits { iterations: Some(1), ..SearchLimits::until(Deadline::never(), Seed(1)) };
        mind.prepare(winner, &limits);
        let mut cursor = game.cursor();
        let mut open = vec![cursor.state().clone()];
        let (mut n_saved, mut n_ends) = (0, 0);
        while let Some(state) = open.pop() {
            cursor.set_state(&state);
            if cursor.is_terminal() {
                assert_eq!(cursor.goal(winner), Goal::MAX);
                n_ends += 1;
                continue;
            }
            let mut joints = JointMoves::of(&mut cursor, game.roles().len());
            if cursor.legal_moves(winner).len() > 1 {
                let opinion = mind.think(&Situation::Open(state.clone()), winner, &limits);
                assert_eq!(opinion.search, "saved");
                assert_eq!(opinion.report.reward, Some(1.0));
                joints.keep_only(winner, opinion.report.chosen.expect("a move"));
                n_saved += 1;
            }
            while let Some(joint) = joints.next_joint() {
                cursor.set_state(&state);
                cursor.play(joint);
                open.push(cursor.state().clone());
            }
        }
        assert!(n_saved > 0 && n_ends > 0, "{n_saved} {n_ends}");
    }
}
