//! Certainty by the rules: legal moves for followers of games that have a circuit.

use std::sync::Arc;

use ludex_base::{MoveId, RoleId};
use ludex_circuit::{Certain, Rules};
use ludex_game::StateOf;
use ludex_search::information::{Certainty, Follower, Model, Observation};

use crate::Playable;

/// Most inputs of all gates together; a step takes about eleven nanoseconds for each.
const MAX_EDGES: usize = 1_000_000;

/// The follower that players use. It also derives what is certain from the rules, unless the engine has no
/// circuit or the circuit is too large.
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
        let certain = all().filter(|(_, is_legal)| *is_legal == Some(true));
        let certain: Vec<MoveId> = certain.map(|(id, _)| id).collect();
        if !certain.is_empty() {
            return certain;
        }
        let open = all().filter(|(_, is_legal)| is_legal.is_none());
        let open: Vec<MoveId> = open.map(|(id, _)| id).collect();
        if open.iter().any(|id| likely.contains(id)) {
            open.into_iter().filter(|id| likely.contains(id)).collect()
        } else {
            open
        }
    }
}
