//! A game whose states are folded by symmetries.

use std::sync::Arc;

use ludex_game::{Game, StateOf};

/// The same game on canonical states: of states that symmetries take to each other, one stands for
/// all.
///
/// What a role can force is the same in all of them, so methods search canonical states only. Lines
/// and strategies are then walked in the game itself, and values looked up by the canonical state.
pub struct Folded<G: Game> {
    game: G,
    canonical: Canonical<StateOf<G>>,
}

type Canonical<S> = Arc<dyn Fn(&S) -> S + Send + Sync>;

impl<G: Game> Folded<G> {
    /// Joins a game whose cursors go from canonical state to canonical state with the function that
    /// gives the canonical state. The symmetries must keep the roles.
    pub fn new(
        game: G,
        canonical: impl Fn(&StateOf<G>) -> StateOf<G> + Send + Sync + 'static,
    ) -> Self {
        Self { game, canonical: Arc::new(canonical) }
    }

    /// Returns the folded game.
    pub(crate) fn game(&self) -> &G {
        &self.game
    }

    /// Returns the state that stands for a state.
    pub(crate) fn canonical(&self, state: &StateOf<G>) -> StateOf<G> {
        (self.canonical)(state)
    }
}
