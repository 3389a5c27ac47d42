//! What some roles can do and learn in a few steps, as a stochastic network.
//!
//! The roles of the party decide. Their observations are drawn after each step, and the state only
//! in the end, given everything they did and observed. A policy can therefore depend on percepts
//! and on nothing hidden, although the hidden part of a state was determined long before.

use ludex_base::{BitSet, Deadline, MoveId, RoleId};
use ludex_csp::propagators::table::Table;
use ludex_csp::{Constraint, Value, ValueSet, VarId, Variable};
use ludex_game::{Belief, BeliefError, BeliefLimits, Cursor, Describe, Learned, Observe};
use ludex_scsp::{Distribution, Rational, StochasticNetwork, StochasticVariable, rational};
use rustc_hash::FxHashMap;
use thiserror::Error;

use crate::template::Template;

/// A few steps of a party of roles as a stochastic network.
///
/// In the stage of a step, each role of the party decides on a move that is legal in every possible
/// state, and then their observation is drawn. In the last stage the reached state is drawn; its
/// fluents, the end and the goals follow.
#[derive(Clone)]
pub struct Lookahead {
    /// The network, with the goal of a role as utility, if one is given. A play that is not over
    /// after the last step is worth 0.
    pub network: StochasticNetwork,
    /// The moves of the party by step, with the values of the template.
    pub moves: Vec<Vec<VarId>>,
    /// The whole observation history of the party by step; 0 after an illegal move.
    pub learned: Vec<VarId>,
    /// The whole state after the last step.
    pub world: VarId,
    /// The states that its values stand for.
    pub worlds: Vec<BitSet>,
    /// Its fluents, with the values of the template; empty if they were not requested.
    pub state: Vec<VarId>,
    /// Whether the game is over in it.
    pub terminal: VarId,
    /// The goal of each role.
    pub goals: Vec<VarId>,
}

/// The limits of a lookahead.
#[derive(Clone, Debug)]
pub struct LookaheadLimits {
    /// The maximal number of beliefs over all steps.
    pub max_beliefs: usize,
    /// The maximal number of entries of the table of one distribution.
    pub max_rows: usize,
    /// The limits of one step from one belief. The deadline covers the whole lookahead.
    pub belief: BeliefLimits,
    /// Whether roles outside the party other than `random` may have a choice; a lookahead assumes
    /// that they play each move with equal probability.
    pub others_may_choose: bool,
    /// Whether the fluents of the last state are variables too. Expected values do not depend on
    /// it.
    pub has_fluents: bool,
}

impl Default for LookaheadLimits {
    fn default() -> Self {
        Self {
            max_beliefs: 20_000,
            max_rows: 1 << 20,
            belief: BeliefLimits::default(),
            others_may_choose: true,
            has_fluents: true,
        }
    }
}

/// The reason why there is no lookahead.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[non_exhaustive]
pub enum LookaheadError {
    /// A belief that cannot be followed.
    #[error(transparent)]
    Belief(#[from] BeliefError),
    /// There are too many beliefs.
    #[error("a lookahead of {n_steps} steps has more than {limit} beliefs: take fewer steps")]
    TooManyBeliefs {
        /// The number of steps requested.
        n_steps: usize,
        /// The limit.
        limit: usize,
    },
    /// A distribution would be too large.
    #[error(
        "what is learned of step {step} has a table of more than {limit} rows: take fewer steps"
    )]
    TooManyRows {
        /// The step.
        step: usize,
        /// The limit.
        limit: usize,
    },
    /// A role of the party without a move that is certainly legal.
    #[error("{role} has no move at step {step} that is legal in every state it thinks possible")]
    NoSureMove {
        /// Its name.
        role: String,
        /// The step.
        step: usize,
    },
    /// A role outside the party that has a choice, if that is excluded.
    #[error("{role} may have a choice at step {step}")]
    OthersChoose {
        /// Its name.
        role: String,
        /// The step.
        step: usize,
    },
}

impl Template {
    /// Returns the next steps of the party of a belief as a stochastic network, with the goal of
    /// `role` as utility, if one is given.
    ///
    /// In a game of shared information, with all deciding roles as the party, this is the
    /// equivalent game of full observation: everyone knows all observations.
    ///
    /// # Errors
    /// Returns an error if it becomes too large, or if a role of the party has no move that is
    /// certainly legal.
    pub fn lookahead<G>(
        &self,
        game: &G,
        belief: &Belief<BitSet>,
        role: impl Into<Option<RoleId>>,
        n_steps: usize,
        limits: &LookaheadLimits,
    ) -> Result<Lookahead, LookaheadError>
    where
        G: Describe<Cursor: Observe<State = BitSet>>,
    {
        let mut planner = Planner {
            template: self,
            game,
            cursor: game.cursor(),
            n_steps,
            limits,
            n_beliefs: 1,
            network: StochasticNetwork::new(),
        };
        let mut nodes = vec![Node { belief: belief.clone(), label: String::new() }];
        let (mut moves, mut learned) = (Vec::new(), Vec::new());
        for step in 0..n_steps {
            planner.network.stage();
            let layer = planner.layer(step, &nodes)?;
            moves.push(planner.decide(step, &layer, belief.party()));
            let before = learned.last().copied();
            learned.push(planner.learn(step, nodes.len(), &layer, before, &moves[step])?);
            nodes = layer.nodes;
        }
        planner.finish(role.into(), &nodes, moves, learned)
    }
}

/// The possible beliefs after some steps.
struct Node {
    belief: Belief<BitSet>,
    label: String,
}

/// A step from all possible beliefs before it.
struct Layer {
    /// The nodes after the step, by node before and moves of the party.
    steps: FxHashMap<(usize, Vec<Value>), Outcomes>,
    nodes: Vec<Node>,
}

/// Nodes, numbered from 1, with their probabilities.
type Outcomes = Vec<(Value, Rational)>;

struct Planner<'a, G: Describe> {
    template: &'a Template,
    game: &'a G,
    cursor: G::Cursor,
    n_steps: usize,
    limits: &'a LookaheadLimits,
    n_beliefs: usize,
    network: StochasticNetwork,
}

impl<G> Planner<'_, G>
where
    G: Describe<Cursor: Observe<State = BitSet>>,
{
    fn layer(&mut self, step: usize, nodes: &[Node]) -> Result<Layer, LookaheadError> {
        let mut layer = Layer { steps: FxHashMap::default(), nodes: Vec::new() };
        for (at, node) in nodes.iter().enumerate() {
            in_time(&self.limits.belief.deadline)?;
            let belief = &node.belief;
            if belief.is_over(&mut self.cursor) {
                let nobody = belief.party().iter().map(|it| self.template.moves[it.index()].none());
                let after = self.add(&mut layer, belief.clone(), node.label.clone())?;
                layer.steps.insert((at, nobody.collect()), vec![(after, rational(1, 1))]);
                continue;
            }
            if !self.limits.others_may_choose {
                self.check_alone(step, belief)?;
            }
            for joint in self.sure_moves(step, belief)? {
                let values = belief.party().iter().zip(&joint).map(|(role, id)| {
                    (id.index() - self.template.moves[role.index()].first.index()) as Value
                });
                let values: Vec<Value> = values.collect();
                let mut after = Vec::new();
                let outcomes = belief.outcomes(&mut self.cursor, &joint, &self.limits.belief)?;
                for outcome in outcomes {
                    let label = self.label(&node.label, &joint, &outcome.learned);
                    after.push((self.add(&mut layer, outcome.belief, label)?, outcome.probability));
                }
                layer.steps.insert((at, values), after);
            }
        }
        Ok(layer)
    }

    /// Whether no role outside the party has a choice, apart from `random`.
    fn check_alone(&mut self, step: usize, belief: &Belief<BitSet>) -> Result<(), LookaheadError> {
        let roles = self.game.roles();
        let is_other =
            |role: &RoleId| !belief.party().contains(role) && !roles[role.index()].is_random;
        for role in self.game.role_ids().filter(is_other) {
            for (state, _) in belief.states() {
                self.cursor.set_state(state);
                if self.cursor.legal_moves(role).len() > 1 {
                    let role = roles[role.index()].name.clone();
                    return Err(LookaheadError::OthersChoose { role, step });
                }
            }
        }
        Ok(())
    }

    fn add(
        &mut self,
        layer: &mut Layer,
        belief: Belief<BitSet>,
        label: String,
    ) -> Result<Value, LookaheadError> {
        self.n_beliefs += 1;
        if self.n_beliefs > self.limits.max_beliefs {
            let limit = self.limits.max_beliefs;
            return Err(LookaheadError::TooManyBeliefs { n_steps: self.n_steps, limit });
        }
        layer.nodes.push(Node { belief, label });
        Ok(layer.nodes.len() as Value)
    }

    /// Returns every choice of the party, one move per role.
    fn sure_moves(
        &mut self,
        step: usize,
        belief: &Belief<BitSet>,
    ) -> Result<Vec<Vec<MoveId>>, LookaheadError> {
        let mut joints: Vec<Vec<MoveId>> = vec![Vec::new()];
        for &role in belief.party() {
            let sure = belief.legal_moves(&mut self.cursor, role);
            if sure.is_empty() {
                let role = self.game.roles()[role.index()].name.clone();
                return Err(LookaheadError::NoSureMove { role, step });
            }
            let limit = self.limits.max_rows;
            if joints.len().saturating_mul(sure.len()) > limit {
                return Err(LookaheadError::TooManyRows { step, limit });
            }
            let extend = |joint: Vec<MoveId>| {
                sure.iter().map(move |&id| [&joint[..], &[id]].concat()).collect::<Vec<_>>()
            };
            joints = joints.into_iter().flat_map(extend).collect();
        }
        Ok(joints)
    }

    /// Describes the moves and observations so far.
    fn label(&self, before: &str, joint: &[MoveId], learned: &Learned) -> String {
        let mut words: Vec<String> = Vec::new();
        if !before.is_empty() {
            words.push(format!("{before};"));
        }
        words.extend(joint.iter().map(|&id| self.game.move_text(id)));
        if !learned.percepts.is_empty() {
            words.push("sees".into());
            words.extend(learned.percepts.iter().map(|&id| self.game.percept_text(id)));
        }
        if learned.is_over {
            words.push("over".into());
        }
        words.join(" ")
    }

    /// Adds the decisions of a step: for each role of the party, the moves that are certainly legal
    /// in some node.
    fn decide(&mut self, step: usize, layer: &Layer, party: &[RoleId]) -> Vec<VarId> {
        let decide = |(place, role): (usize, &RoleId)| {
            let var = self.template.moves[role.index()].var;
            let mut variable = self.template.network.variable(var).clone();
            variable.name = format!("{} @{step}", variable.name);
            variable.domain = layer.steps.keys().map(|(_, values)| values[place]).collect();
            self.network.variable_with(StochasticVariable {
                variable,
                stage: step,
                distribution: None,
            })
        };
        party.iter().enumerate().map(decide).collect()
    }

    /// Adds the draw after a step: one number for all moves and observations so far.
    fn learn(
        &mut self,
        step: usize,
        n_before: usize,
        layer: &Layer,
        before: Option<VarId>,
        moves: &[VarId],
    ) -> Result<VarId, LookaheadError> {
        // An illegal move yields no observation, and neither do the steps after it.
        let from = if before.is_some() { 0..=n_before } else { 1..=n_before };
        let mut rows: FxHashMap<Vec<Value>, Vec<(Value, Rational)>> = FxHashMap::default();
        let mut legal: Vec<Vec<Value>> = Vec::new();
        let sizes = moves.iter().map(|&var| self.network.domain(var).len() as usize);
        if sizes.fold(n_before + 1, usize::saturating_mul) > self.limits.max_rows {
            return Err(LookaheadError::TooManyRows { step, limit: self.limits.max_rows });
        }
        let choices = self.choices(moves);
        for node in from {
            in_time(&self.limits.belief.deadline)?;
            for values in &choices {
                let known = before.map(|_| node as Value);
                let row: Vec<Value> = known.into_iter().chain(values.iter().copied()).collect();
                let after =
                    node.checked_sub(1).and_then(|at| layer.steps.get(&(at, values.clone())));
                if after.is_some() {
                    legal.push(row.clone());
                }
                rows.insert(row, after.cloned().unwrap_or_else(|| vec![(0, rational(1, 1))]));
            }
        }
        let on: Vec<VarId> = before.into_iter().chain(moves.iter().copied()).collect();
        let table = Table::from_tuples(on.len(), legal).into();
        self.network.add(Constraint::Table { scope: on.clone(), table, is_positive: true });
        let labels = ["not legal"].into_iter().chain(layer.nodes.iter().map(|it| &*it.label));
        let variable = Variable {
            name: format!("learned @{}", step + 1),
            domain: ValueSet::from(0..=layer.nodes.len() as Value),
            labels: Some(labels.map(str::to_string).collect()),
        };
        let distribution = Some(Distribution::Table { on, rows });
        Ok(self.network.variable_with(StochasticVariable { variable, stage: step, distribution }))
    }

    /// Returns every choice of values for the moves of a step.
    fn choices(&self, moves: &[VarId]) -> Vec<Vec<Value>> {
        moves.iter().fold(vec![Vec::new()], |choices, &var| {
            let values: Vec<Value> = self.network.domain(var).iter().collect();
            let extend = |choice: Vec<Value>| {
                values.iter().map(move |&it| [&choice[..], &[it]].concat()).collect::<Vec<_>>()
            };
            choices.into_iter().flat_map(extend).collect()
        })
    }

    /// Adds the final state, given all observations.
    fn finish(
        mut self,
        role: Option<RoleId>,
        nodes: &[Node],
        moves: Vec<Vec<VarId>>,
        learned: Vec<VarId>,
    ) -> Result<Lookahead, LookaheadError> {
        let deadline = self.limits.belief.deadline.clone();
        let mut worlds = Worlds { deadline: deadline.clone(), ..Worlds::default() };
        let first = learned.is_empty();
        let mut rows: FxHashMap<Vec<Value>, Vec<(Value, Rational)>> = FxHashMap::default();
        for (at, node) in nodes.iter().enumerate() {
            in_time(&deadline)?;
            let known = if first { Vec::new() } else { vec![at as Value + 1] };
            rows.insert(known, worlds.add(&node.belief));
        }
        if !first {
            rows.insert(vec![0], vec![(0, rational(1, 1))]);
        }
        let on: Vec<VarId> = learned.last().copied().into_iter().collect();
        let distribution = Distribution::Table { on, rows };
        let stage = self.n_steps.saturating_sub(1);
        let world = worlds.draw(&mut self.network, stage, "world", distribution);
        let state = if self.limits.has_fluents {
            worlds.fluents(&mut self.network, stage, self.template, world)?
        } else {
            Vec::new()
        };
        let end = format!("@{}", self.n_steps);
        let cursor = &mut self.cursor;
        let mut is_over: Vec<Value> = Vec::with_capacity(worlds.states.len());
        // The goal of each state by role; 0 before the end.
        let mut worth = vec![Vec::with_capacity(worlds.states.len()); self.template.goals.len()];
        for (at, state) in worlds.states.iter().enumerate() {
            if at.is_multiple_of(STATES_BETWEEN) {
                in_time(&deadline)?;
            }
            cursor.set_state(state);
            is_over.push(Value::from(cursor.is_terminal()));
            for (of, worth) in worth.iter_mut().enumerate() {
                worth.push(match is_over[at] {
                    0 => 0,
                    _ => Value::from(cursor.goal(RoleId::new(of)).value()),
                });
            }
        }
        let network = &mut self.network;
        let terminal =
            worlds.follows(network, stage, format!("terminal {end}"), None, world, &is_over)?;
        let mut goals: Vec<VarId> = Vec::with_capacity(worth.len());
        for (worth, &of) in worth.iter().zip(&self.template.goals) {
            let name = format!("{} {end}", self.template.network.variable(of).name);
            goals.push(worlds.follows(network, stage, name, None, world, worth)?);
        }
        if let Some(role) = role {
            network.set_utility(goals[role.index()]);
        }
        let worlds = worlds.states;
        let network = self.network;
        Ok(Lookahead { network, moves, learned, world, worlds, state, terminal, goals })
    }
}

/// Number of states or rows of a table between two checks of the deadline.
const STATES_BETWEEN: usize = 64;
const ROWS_BETWEEN: usize = 1_024;

fn in_time(deadline: &Deadline) -> Result<(), BeliefError> {
    if deadline.reached() { Err(BeliefError::Late) } else { Ok(()) }
}

/// The states that can be drawn, numbered.
#[derive(Default)]
pub(crate) struct Worlds {
    pub states: Vec<BitSet>,
    /// The time after which no more variables are added.
    pub deadline: Deadline,
    numbers: FxHashMap<BitSet, Value>,
}

impl Worlds {
    /// Returns the numbers of the states of a belief, with their probabilities.
    pub fn add(&mut self, belief: &Belief<BitSet>) -> Vec<(Value, Rational)> {
        let mut number = |state: &BitSet| {
            *self.numbers.entry(state.clone()).or_insert_with(|| {
                self.states.push(state.clone());
                self.states.len() as Value - 1
            })
        };
        belief.states().iter().map(|(state, p)| (number(state), p.clone())).collect()
    }

    /// Adds the variable of the whole state.
    pub fn draw(
        &self,
        network: &mut StochasticNetwork,
        stage: usize,
        name: &str,
        distribution: Distribution,
    ) -> VarId {
        let variable = Variable {
            name: name.to_string(),
            domain: ValueSet::from(0..=self.states.len() as Value - 1),
            labels: None,
        };
        let distribution = Some(distribution);
        network.variable_with(StochasticVariable { variable, stage, distribution })
    }

    /// Adds the variables of its fluents, in the order of the template.
    ///
    /// # Errors
    /// Returns an error if the deadline is reached.
    pub fn fluents(
        &self,
        network: &mut StochasticNetwork,
        stage: usize,
        template: &Template,
        world: VarId,
    ) -> Result<Vec<VarId>, BeliefError> {
        let of_state = |(at, state): (usize, &BitSet)| {
            if at.is_multiple_of(STATES_BETWEEN) {
                in_time(&self.deadline)?;
            }
            Ok(template.values_of(state))
        };
        let values: Vec<Vec<Value>> =
            self.states.iter().enumerate().map(of_state).collect::<Result<_, BeliefError>>()?;
        let one = |(place, var): (usize, &VarId)| {
            let values: Vec<Value> = values.iter().map(|of_state| of_state[place]).collect();
            let variable = template.network.variable(*var).clone();
            let labels = variable.labels.clone();
            self.follows(network, stage, variable.name, labels, world, &values)
        };
        template.now.iter().enumerate().map(one).collect()
    }

    /// Adds a variable whose value is a function of the state, by number.
    ///
    /// # Errors
    /// Returns an error if the deadline is reached.
    pub fn follows(
        &self,
        network: &mut StochasticNetwork,
        stage: usize,
        name: String,
        labels: Option<std::sync::Arc<[String]>>,
        world: VarId,
        values: &[Value],
    ) -> Result<VarId, BeliefError> {
        in_time(&self.deadline)?;
        let variable = Variable { name, domain: values.iter().copied().collect(), labels };
        let sure = |value: &Value| vec![(*value, rational(1, 1))];
        let distribution = if values.iter().all(|value| *value == values[0]) {
            Distribution::Weights(sure(&values[0]))
        } else {
            let mut rows = FxHashMap::default();
            for (at, value) in values.iter().enumerate() {
                if at % ROWS_BETWEEN == ROWS_BETWEEN - 1 {
                    in_time(&self.deadline)?;
                }
                rows.insert(vec![at as Value], sure(value));
            }
            Distribution::Table { on: vec![world], rows }
        };
        let distribution = Some(distribution);
        Ok(network.variable_with(StochasticVariable { variable, stage, distribution }))
    }
}
