//! One decision of roles that do not know the state, as the template under a belief.
//!
//! It keeps the constraints of the template, which determine the legal moves of the party, their
//! consequences and the percepts. [`Lookahead`](crate::Lookahead) expresses the same step, or
//! several, by tables. Since most variables follow from others, solve it with propagation
//! ([`Method::Propagation`](ludex_scsp::Method)).

use ludex_base::{BitSet, RoleId};
use ludex_csp::{Expr, Value, VarId};
use ludex_game::{Belief, Cursor, Game};
use ludex_scsp::{Distribution, Rational, StochasticNetwork, StochasticVariable, rational};
use rustc_hash::FxHashMap;

use crate::lookahead::Worlds;
use crate::template::Template;

/// One step of a party of roles as a stochastic network.
///
/// The roles of the party decide their moves. Then the state is drawn from the belief, and the
/// moves of all others uniformly among their legal moves in the state. Everything else follows:
/// percepts, the next state, and the goals there, one of which is the utility.
///
/// The constraints must hold with probability 1, so a policy chooses only moves that are legal in
/// every possible state of the belief.
#[derive(Clone)]
pub struct Decision {
    /// The network.
    pub network: StochasticNetwork,
    /// The moves of the party.
    pub moves: Vec<VarId>,
    /// The variable of the whole state.
    pub world: VarId,
    /// The network's variable for each variable of the template.
    pub vars: Vec<VarId>,
    /// The goal of each role if the game is over after the step, and 0 otherwise.
    pub goals: Vec<VarId>,
}

impl Template {
    /// Returns the next decision of the party of a belief as a stochastic network, with the goal of
    /// `role` after the step as utility.
    ///
    /// # Panics
    /// Panics if the game is over.
    pub fn decision<G>(&self, game: &G, belief: &Belief<BitSet>, role: RoleId) -> Decision
    where
        G: Game<Cursor: Cursor<State = BitSet>>,
    {
        let mut cursor = game.cursor();
        assert!(!belief.is_over(&mut cursor), "there is nothing to decide");
        let n_vars = self.network.variables().len();
        let network = StochasticNetwork::new();
        let vars = vec![None; n_vars];
        let mut decider = Decider { template: self, network, vars, prefix: "" };
        let (moves, world) = decider.draw(belief, &mut cursor);
        let (vars, goals) = decider.conclude();
        let mut network = decider.network;
        network.set_utility(goals[role.index()]);
        Decision { network, moves, world, vars, goals }
    }
}

struct Decider<'a> {
    template: &'a Template,
    network: StochasticNetwork,
    /// The network's variable for each variable of the template.
    vars: Vec<Option<VarId>>,
    /// The prefix of the names of variables.
    prefix: &'static str,
}

impl Decider<'_> {
    /// Adds the first stage: the party decides, then the state and the moves of the others are
    /// drawn.
    fn draw(
        &mut self,
        belief: &Belief<BitSet>,
        cursor: &mut impl Cursor<State = BitSet>,
    ) -> (Vec<VarId>, VarId) {
        let template = self.template;
        self.network.stage();
        let of_role = |role: &RoleId| template.moves[role.index()].var;
        let moves = belief.party().iter().map(|role| self.add(of_role(role), None)).collect();
        let mut worlds = Worlds::default();
        let weights = Distribution::Weights(worlds.add(belief));
        let world = worlds.draw(&mut self.network, 0, "world", weights);
        let others = template.moves.iter().filter(|it| !belief.party().contains(&it.role));
        for of_role in others {
            let mut rows = FxHashMap::default();
            for (at, state) in worlds.states.iter().enumerate() {
                cursor.set_state(state);
                let legal = cursor.legal_moves(of_role.role).iter();
                let values = legal.map(|id| (id.index() - of_role.first.index()) as Value);
                rows.insert(vec![at as Value], uniform(values.collect()));
            }
            self.add(of_role.var, Some(Distribution::Table { on: vec![world], rows }));
        }
        let fluents = worlds.fluents(&mut self.network, 0, template, world);
        let fluents = fluents.expect("there is no deadline");
        for (now, fluent) in template.now.iter().zip(fluents) {
            self.vars[now.index()] = Some(fluent);
        }
        (moves, world)
    }

    /// Adds the second stage: the consequences, and the next state. Each variable has a single
    /// consistent value. Returns the variables of the template and the goals in the next state.
    fn conclude(&mut self) -> (Vec<VarId>, Vec<VarId>) {
        let template = self.template;
        self.network.stage();
        let ids = || (0..template.network.variables().len()).map(VarId::new);
        for var in ids() {
            if self.vars[var.index()].is_none() {
                self.add(var, None);
            }
        }
        let here: Vec<VarId> =
            self.vars.iter().map(|var| var.expect("every variable was added")).collect();
        // Repeat for the next state, but only the variables that the state alone determines.
        self.vars.fill(None);
        self.prefix = "next ";
        for (now, next) in template.now.iter().zip(&template.next) {
            self.vars[now.index()] = Some(here[next.index()]);
        }
        for var in ids().filter(|&var| template.is_of_state(var)) {
            if self.vars[var.index()].is_none() {
                self.add(var, None);
            }
        }
        let then = |var: VarId| self.vars[var.index()].expect("the state determines the variable");
        for constraint in template.network.constraints() {
            let now = |var: VarId| here[var.index()];
            self.network.add(constraint.renamed(&now, &|it| Expr::Var(now(it))));
            if constraint.scope().iter().all(|&var| template.is_of_state(var)) {
                self.network.add(constraint.renamed(&then, &|it| Expr::Var(then(it))));
            }
        }
        let goals = template.goals.iter().map(|&goal| then(goal)).collect();
        (here, goals)
    }

    /// Adds a variable of the template to the stage opened last.
    fn add(&mut self, var: VarId, distribution: Option<Distribution>) -> VarId {
        let mut variable = self.template.network.variable(var).clone();
        variable.name.insert_str(0, self.prefix);
        let stage = self.network.n_stages() - 1;
        let added =
            self.network.variable_with(StochasticVariable { variable, stage, distribution });
        self.vars[var.index()] = Some(added);
        added
    }
}

/// Returns the uniform distribution.
fn uniform(values: Vec<Value>) -> Vec<(Value, Rational)> {
    let share = rational(1, values.len().max(1) as i64);
    values.into_iter().map(|value| (value, share.clone())).collect()
}
