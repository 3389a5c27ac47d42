//! The games that players can play.

use std::sync::Arc;

use ludex_analysis::find_features;
use ludex_analysis::symmetry::{Folding, RoleExchange, find_symmetries};
use ludex_base::{BitSet, Deadline, Seed};
use ludex_circuit::{Circuit, Rules};
use ludex_game::{FeatureFinder, Game, StateOf};
use ludex_machine::Machine;
use ludex_reasoner::Reasoner;
use ludex_search::Searchable;

use crate::mind::Minds;
use crate::roster::PlayerSpec;

/// A game that players can play: cheap to clone, with everything that searches and reports need.
pub trait Playable: Searchable {
    /// The rules as a circuit, for searches on networks. The default, `None`, is for engines without a
    /// circuit.
    fn rules(&self) -> Option<Arc<dyn Rules<StateOf<Self>>>> {
        None
    }

    /// A function that finds features of states in the rules; `None` for an engine without a circuit.
    ///
    /// The default works on the circuit of [`Playable::rules`]; no engine needs another.
    fn feature_finder(&self) -> Option<FeatureFinder> {
        let (game, rules) = (self.clone(), self.rules()?);
        let find = move |wanted, deadline: &_| {
            find_features(&game, rules.circuit(), wanted, SEED, deadline)
        };
        Some(Arc::new(find))
    }

    /// The same game with states folded by its symmetries, as far as they are found before the
    /// deadline; `None` if there are none, or the game is not one to fold.
    ///
    /// The default is `None`, for an engine without a circuit.
    fn folded(&self, _deadline: &Deadline) -> Option<(Self, Arc<Folding>)> {
        None
    }

    /// The minds of a player: [`Minds::new`].
    ///
    /// Each engine implements this method itself, so that the code of all searches is instantiated in this
    /// crate and not in every crate that uses players.
    fn minds(&self, spec: &PlayerSpec) -> Minds<Self>;
}

impl Playable for Machine {
    fn rules(&self) -> Option<Arc<dyn Rules<BitSet>>> {
        Some(Arc::new(OfMachine(self.clone())))
    }

    fn folded(&self, deadline: &Deadline) -> Option<(Self, Arc<Folding>)> {
        if self.has_percepts() {
            return None;
        }
        let found = find_symmetries(self.circuit(), RoleExchange::Forbidden, None, deadline);
        let folding = Arc::new(found.folding());
        (!folding.is_trivial()).then(|| (self.folded_by(folding.clone()), folding))
    }

    fn minds(&self, spec: &PlayerSpec) -> Minds<Self> {
        Minds::new(spec, self)
    }
}

impl Playable for Reasoner {
    fn minds(&self, spec: &PlayerSpec) -> Minds<Self> {
        Minds::new(spec, self)
    }
}

/// Seed of the random games that select features; fixed, so that a game always gets the same features.
const SEED: Seed = Seed(0);

/// The rules of a machine, whose states are sets of fluents already.
struct OfMachine(Machine);

impl Rules<BitSet> for OfMachine {
    fn circuit(&self) -> &Circuit {
        self.0.circuit()
    }

    fn fluents<'a>(&self, state: &'a BitSet) -> &'a BitSet {
        state
    }

    fn state(&self, fluents: &BitSet) -> BitSet {
        fluents.clone()
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::RoleId;
    use ludex_game::Cursor;
    use ludex_search::{SearchLimits, SearchSpec};

    use super::*;
    use crate::mind::OneSearch;
    use crate::tests::loaded;

    #[test]
    fn features_of_the_rules_are_weighted_by_random_games_and_reproducible() {
        let (_, machine) = loaded("breakthrough-small");
        let report = |text: &str| {
            let spec = SearchSpec::parse(text).expect("a registered search");
            let mut searcher = OneSearch::new(&machine, spec.name, &spec.search);
            let limits = SearchLimits::iterations(2_000, Seed(1));
            searcher.search(machine.cursor().state(), RoleId::new(0), &limits)
        };
        let by_rules = report("alphabeta:proximity=0,rules=4");
        assert_eq!(by_rules, report("alphabeta:proximity=0,rules=4"));
        assert!(by_rules.n_playouts > report("alphabeta:proximity=0").n_playouts);
    }
}
