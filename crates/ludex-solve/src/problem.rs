//! A game and a state to solve.

use ludex_base::{Goal, RoleId};
use ludex_circuit::{Circuit, Rules};
use ludex_game::{Cursor, Game, StateOf};

use crate::folded::Folded;
use crate::solution::Bounds;

/// A game, and the state of it to solve.
pub struct Problem<'a, G: Game> {
    /// The game.
    pub game: &'a G,
    /// The state.
    pub state: StateOf<G>,
    /// The rules as a circuit, for methods that prove something about them; `None` for an engine
    /// without a circuit.
    pub rules: Option<&'a dyn Rules<StateOf<G>>>,
    /// The game folded by symmetries, for methods that use them; `None` if there are none.
    pub folded: Option<&'a Folded<G>>,
}

impl<'a, G: Game> Problem<'a, G> {
    /// Returns the problem of the initial state.
    pub fn initial(game: &'a G) -> Self {
        Self { game, state: game.cursor().state().clone(), rules: None, folded: None }
    }

    /// Returns the problem of another state of the game.
    pub fn at(self, state: StateOf<G>) -> Self {
        Self { state, ..self }
    }

    /// Returns the problem with the rules as a circuit.
    pub fn with_rules(self, rules: &'a dyn Rules<StateOf<G>>) -> Self {
        Self { rules: Some(rules), ..self }
    }

    /// Returns the problem with the game folded by symmetries.
    pub fn with_folded(self, folded: Option<&'a Folded<G>>) -> Self {
        Self { folded, ..self }
    }

    /// Returns the problem without symmetries.
    pub(crate) fn unfolded(&self) -> Self {
        Self { game: self.game, state: self.state.clone(), rules: self.rules, folded: None }
    }

    /// Returns the game whose states are to be searched: the folded one if there is one.
    pub(crate) fn searched(&self) -> &'a G {
        self.folded.map_or(self.game, Folded::game)
    }

    /// Returns the state that stands for a state in the searched game.
    pub(crate) fn canonical(&self, state: &StateOf<G>) -> StateOf<G> {
        self.folded.map_or_else(|| state.clone(), |folded| folded.canonical(state))
    }

    /// Returns what kind of game it is.
    pub fn kind(&self) -> Kind {
        let roles = self.game.roles();
        if self.game.has_percepts() {
            Kind::Hidden
        } else if roles.iter().any(|role| role.is_random) {
            Kind::Chance
        } else {
            match roles.len() {
                1 => Kind::Puzzle,
                2 => Kind::Duel,
                _ => Kind::Many,
            }
        }
    }

    /// Returns the goals that a role may get, ascending: those that the rules derive, and the
    /// smallest, which counts where they derive none.
    pub(crate) fn goals(&self, role: RoleId) -> Vec<Goal> {
        let mut goals: Vec<Goal> = match self.rules {
            Some(rules) => {
                let all = rules.circuit().goals.iter().filter(|it| it.0 == role);
                all.map(|it| it.1).chain([Goal::MIN]).collect()
            }
            None => (0..=u32::from(Goal::MAX.value())).filter_map(Goal::new).collect(),
        };
        goals.sort_unstable();
        goals.dedup();
        goals
    }

    /// Returns for each role the bounds that the rules alone imply.
    pub(crate) fn bounds(&self) -> Vec<Bounds> {
        let Some(rules) = self.rules else { return vec![Bounds::ANY; self.game.roles().len()] };
        let goals = &rules.circuit().goals;
        let upper = |role: RoleId| {
            let of_role = goals.iter().filter(|(of, _, _)| *of == role);
            of_role.map(|&(_, goal, _)| goal).max().unwrap_or(Goal::MIN)
        };
        self.game.role_ids().map(|role| Bounds { lower: Goal::MIN, upper: upper(role) }).collect()
    }
}

impl<'a, G: Game> Problem<'a, G>
where
    Circuit: Rules<StateOf<G>>,
{
    /// Returns the problem with the rules as a circuit, for a game whose states are sets of
    /// fluents.
    pub fn with_circuit(self, circuit: &'a Circuit) -> Self {
        self.with_rules(circuit)
    }
}

/// The kind of a game, which decides the methods.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// One role, no chance, nothing hidden.
    Puzzle,
    /// Two roles, no chance, nothing hidden.
    Duel,
    /// More roles, no chance, nothing hidden.
    Many,
    /// The role `random` takes part, and nothing is hidden.
    Chance,
    /// Roles see only their own moves and percepts.
    Hidden,
}
