//! The games that players can play.

use std::sync::Arc;

use ludex_analysis::find_features;
use ludex_base::{BitSet, Seed};
use ludex_circuit::{Circuit, Rules};
use ludex_game::{FeatureFinder, StateOf};
use ludex_machine::Machine;
use ludex_reasoner::Reasoner;
use ludex_search::Searchable;

use crate::mind::Minds;
use crate::roster::PlayerSpec;

/// A game that players can play: copies are cheap, and it can do all that searches and reports need.
pub trait Playable: Searchable {
    /// The rules as a circuit, for searches on networks; `None`, which is the default, for an engine
    /// that has none.
    fn rules(&self) -> Option<Arc<dyn Rules<StateOf<Self>>>> {
        None
    }

    /// Finds what the rules suggest to look at in a state; `None` for an engine without a circuit.
    fn feature_finder(&self) -> Option<FeatureFinder> {
        let (game, rules) = (self.clone(), self.rules()?);
        let find = move |wanted, deadline: &_| {
            find_features(&game, rules.circuit(), wanted, SEED, deadline)
        };
        Some(Arc::new(find))
    }

    /// What a player of it thinks with: [`Minds::new`]. Each engine says so itself, because the searches
    /// of all players are a lot of code, which is made for it here and not in each crate that has players.
    fn minds(&self, spec: &PlayerSpec) -> Minds<Self>;
}

impl Playable for Machine {
    fn rules(&self) -> Option<Arc<dyn Rules<BitSet>>> {
        Some(Arc::new(OfMachine(self.clone())))
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

/// For the random games that features are found by: what is found of a game is always the same.
const SEED: Seed = Seed(0);

/// A machine has a circuit, and its states are fluents.
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
    use ludex_game::{Cursor, Game};
    use ludex_search::{Limits, SearchSpec};

    use super::*;
    use crate::mind::OneSearch;
    use crate::tests::loaded;

    #[test]
    fn what_the_rules_suggest_is_weighed_by_random_games_and_repeats() {
        let (_, machine) = loaded("breakthrough-small");
        let report = |text: &str| {
            let spec = SearchSpec::parse(text).expect("there is such a search");
            let mut searcher = OneSearch::new(&machine, spec.name, &spec.search);
            let limits = Limits::iterations(2_000, Seed(1));
            searcher.search(machine.cursor().state(), RoleId::new(0), &limits)
        };
        let by_rules = report("alphabeta:proximity=0,rules=4");
        assert_eq!(by_rules, report("alphabeta:proximity=0,rules=4"));
        assert!(by_rules.n_playouts > report("alphabeta:proximity=0").n_playouts);
    }
}
