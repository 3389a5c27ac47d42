//! What is certain by the rules, for followers of games that have a circuit.

use std::sync::Arc;

use ludex_base::{MoveId, RoleId};
use ludex_circuit::{Certain, Rules};
use ludex_game::StateOf;
use ludex_search::information::{Certainty, Follower, Model, Observation};

use crate::Playable;

/// Inputs of all gates together, above which a step would take too long: each takes about eleven nanoseconds.
const MAX_EDGES: usize = 1_000_000;

/// Follows a role as players do: with what is certain by the rules, if there is a circuit that is not too
/// large for it.
pub fn follower<G: Playable>(game: &G, role: RoleId, model: Model) -> Follower<G> {
    let follower = Follower::new(game, role, model);
    match game.rules().filter(|rules| rules.circuit().n_edges() <= MAX_EDGES) {
        Some(rules) => follower.with_certainty(Box::new(ByRules::<StateOf<G>>::new(rules, role))),
        None => follower,
    }
}

struct ByRules<S> {
    rules: Arc<dyn Rules<S>>,
    certain: Certain,
}

impl<S> ByRules<S> {
    fn new(rules: Arc<dyn Rules<S>>, role: RoleId) -> Self {
        let certain = Certain::new(rules.circuit(), role);
        Self { rules, certain }
    }
}

impl<S> Certainty for ByRules<S> {
    fn follow(&mut self, observed: Option<&Observation>) {
        let observed = observed.map(|observed| (observed.own, &observed.percepts[..]));
        self.certain.follow(self.rules.circuit(), observed);
    }

    fn legal_moves(&self, likely: &[MoveId]) -> Vec<MoveId> {
        let all = || self.certain.legal_moves(self.rules.circuit());
        let certain: Vec<MoveId> = all().filter(|it| it.1 == Some(true)).map(|it| it.0).collect();
        if !certain.is_empty() {
            return certain;
        }
        let open: Vec<MoveId> = all().filter(|it| it.1.is_none()).map(|it| it.0).collect();
        if open.iter().any(|id| likely.contains(id)) {
            open.into_iter().filter(|id| likely.contains(id)).collect()
        } else {
            open
        }
    }
}
