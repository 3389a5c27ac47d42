//! The network of a step with what is known about good play: minimax networks, and nogoods that a
//! search predicts.
//!
//! In [`minimax`], values are computed for all states of a small game, to the end or to a depth. In
//! [`enriched_network`] only the moves remain that are best, and states are told apart by their
//! values. Symmetries of such a network keep values instead of rules: they may take a state to one
//! with other moves that is worth the same. They are exact only as far as the values are, so they
//! are for searches that say so.

use ludex_base::{BitSet, Deadline, MoveId, RoleId};
use ludex_circuit::Circuit;
use ludex_csp::propagators::table::{STAR, Table};
use ludex_csp::symmetry::{Microstructure, StructureError};
use ludex_csp::{Network, Value, VarId};
use ludex_encode::{SymmetryRequest, Template};
use ludex_game::{Cursor, Game, JointMoves, StateOf};
use num_bigint::BigUint;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Symmetries;
use super::points::Points;
use super::step::of_points;

/// A state with its value for one role, and what each joint move is worth.
#[derive(Clone, PartialEq, Debug)]
pub struct Valued<S> {
    /// The state.
    pub state: S,
    /// Its value, 0 to 100.
    pub value: f64,
    /// How many steps were looked ahead from here, at most.
    pub depth: usize,
    /// Joint moves with what they are worth, the moves of `random` averaged; none at the end and
    /// where the depth is used up.
    pub joints: Vec<(Vec<MoveId>, f64)>,
}

/// The minimax values of all states within a depth of a state, for one role: it maximizes, the
/// other roles minimize, and the moves of `random` are averaged. Where the depth is used up,
/// `estimate` is asked. The first entry is the state itself.
///
/// `None` if there are more than `max_states`, or the deadline is reached.
pub fn minimax<G: Game>(
    game: &G,
    start: &StateOf<G>,
    role: RoleId,
    depth: usize,
    estimate: &dyn Fn(&StateOf<G>) -> f64,
    max_states: usize,
    deadline: &Deadline,
) -> Option<Vec<Valued<StateOf<G>>>> {
    let random = game.roles().iter().position(|role| role.is_random).map(RoleId::new);
    let mut walk = Walk {
        game,
        cursor: game.cursor(),
        role,
        random,
        estimate,
        known: FxHashMap::default(),
        found: Vec::new(),
        max_states,
        deadline,
    };
    walk.value(start, depth)?;
    // A state may be met with several depths left; the value that looks furthest counts.
    let mut found = walk.found;
    found.sort_by_key(|it| std::cmp::Reverse(it.depth));
    let mut seen = FxHashSet::default();
    found.retain(|it| seen.insert(it.state.clone()));
    Some(found)
}

struct Walk<'a, G: Game> {
    game: &'a G,
    cursor: G::Cursor,
    role: RoleId,
    random: Option<RoleId>,
    estimate: &'a dyn Fn(&StateOf<G>) -> f64,
    /// By state and remaining depth.
    known: FxHashMap<(StateOf<G>, usize), f64>,
    found: Vec<Valued<StateOf<G>>>,
    max_states: usize,
    deadline: &'a Deadline,
}

impl<G: Game> Walk<'_, G> {
    fn value(&mut self, state: &StateOf<G>, depth: usize) -> Option<f64> {
        if let Some(&value) = self.known.get(&(state.clone(), depth)) {
            return Some(value);
        }
        if self.known.len() >= self.max_states || self.deadline.reached() {
            return None;
        }
        self.cursor.set_state(state);
        let mut joints: Vec<(Vec<MoveId>, f64)> = Vec::new();
        let value = if self.cursor.is_terminal() {
            f64::from(self.cursor.goals(self.role).last().map_or(0, |goal| goal.value()))
        } else if depth == 0 {
            (self.estimate)(state)
        } else {
            let n_roles = self.game.roles().len();
            let mut all: Vec<Vec<MoveId>> = Vec::new();
            let mut each = JointMoves::of(&mut self.cursor, n_roles);
            while let Some(joint) = each.next_joint() {
                all.push(joint.to_vec());
            }
            // Joint moves that differ in the move of `random` alone are one decision.
            let random = self.random.map(RoleId::index);
            let decision = |joint: &[MoveId]| -> Vec<MoveId> {
                let others = joint.iter().enumerate().filter(|(role, _)| Some(*role) != random);
                others.map(|(_, &played)| played).collect()
            };
            let mut sums: FxHashMap<Vec<MoveId>, (f64, u32)> = FxHashMap::default();
            for joint in &all {
                self.cursor.set_state(state);
                self.cursor.play(joint);
                let next = self.cursor.state().clone();
                let value = self.value(&next, depth - 1)?;
                let sum = sums.entry(decision(joint)).or_default();
                (sum.0, sum.1) = (sum.0 + value, sum.1 + 1);
            }
            let mut worst: FxHashMap<MoveId, f64> = FxHashMap::default();
            for joint in all {
                let (sum, n) = sums[&decision(&joint)];
                let value = sum / f64::from(n);
                let own = worst.entry(joint[self.role.index()]).or_insert(f64::INFINITY);
                *own = own.min(value);
                joints.push((joint, value));
            }
            worst.into_values().fold(f64::NEG_INFINITY, f64::max)
        };
        self.known.insert((state.clone(), depth), value);
        self.found.push(Valued { state: state.clone(), value, depth, joints });
        Some(value)
    }
}

/// What is known about a state: its value, if that is to be kept, and joint moves that are not
/// played there.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Judged {
    /// The fluents of the state.
    pub state: BitSet,
    /// A number for its value: equal numbers are equal values.
    pub value: Value,
    /// Joint moves that a search expects to miss the value. They are forbidden.
    pub nogoods: Vec<Vec<MoveId>>,
}

impl Judged {
    /// The states of [`minimax`], each with its value in hundredths; a joint move is forbidden if
    /// it is not worth the value of the state.
    pub fn of<S>(valued: &[Valued<S>], fluents: impl Fn(&S) -> BitSet) -> Vec<Self> {
        let hundredths = |value: f64| (value * 100.0).round() as Value;
        let judged = valued.iter().map(|it| Self {
            state: fluents(&it.state),
            value: hundredths(it.value),
            nogoods: (it.joints.iter())
                .filter(|(_, value)| hundredths(*value) != hundredths(it.value))
                .map(|(joint, _)| joint.clone())
                .collect(),
        });
        judged.collect()
    }
}

/// The network of a step with a variable for the value of the state, and without joint moves that
/// miss it. States that are not judged have a value of their own.
///
/// The variables of the template keep their numbers.
pub fn enriched_network(template: &Template, judged: &[Judged]) -> Network {
    let mut network = template.network.clone();
    let mut values: Vec<Value> = judged.iter().map(|it| it.value).collect();
    values.push(UNKNOWN);
    let value_var = network.int("value", values.into_iter().collect::<ludex_csp::ValueSet>());
    let state_of = |state: &BitSet| -> Vec<Value> {
        let value_of = |it: &ludex_encode::StateVar| {
            let place = it.fluents.iter().position(|fluent| state.contains(fluent.index()));
            place.map(|place| it.value_of(place)).or(it.none()).unwrap_or(0)
        };
        template.state_vars.iter().map(value_of).collect()
    };
    // A judged state does not have another value.
    let scope = [&template.now[..], &[value_var]].concat();
    let domain: Vec<Value> = network.variable(value_var).domain.iter().collect();
    let mut wrong: Vec<Vec<Value>> = Vec::new();
    for it in judged {
        let state = state_of(&it.state);
        for &other in domain.iter().filter(|&&other| other != it.value) {
            wrong.push([&state[..], &[other]].concat());
        }
    }
    network.forbid(&scope, Table::from_tuples(scope.len(), wrong));
    let moves: Vec<_> = template.moves.iter().map(|of| of.var).collect();
    let scope = [&template.now[..], &moves].concat();
    let mut nogoods: Vec<Vec<Value>> = Vec::new();
    for it in judged {
        let state = state_of(&it.state);
        for joint in &it.nogoods {
            let played = template.moves.iter().map(|of| match joint.get(of.role.index()) {
                Some(played) => (played.index() - of.first.index()) as Value,
                None => STAR,
            });
            nogoods.push(state.iter().copied().chain(played).collect());
        }
    }
    network.forbid(&scope, Table::from_tuples(scope.len(), nogoods));
    network
}

/// Finds the symmetries of a network with judged states, or with a state those that also keep this
/// state. Nothing proves them: they are as good as the judgments.
///
/// # Errors
/// When the graph of the network is too large, or the deadline is reached before it is made.
pub fn find_enriched_symmetries(
    template: &Template,
    circuit: &Circuit,
    judged: &[Judged],
    state: Option<&BitSet>,
    deadline: &Deadline,
) -> Result<Symmetries, StructureError> {
    let network = enriched_network(template, judged);
    let request = SymmetryRequest { state, ..SymmetryRequest::default() };
    let mut extra = template.kinds(&request);
    let value_var = VarId::new(network.variables().len() - 1);
    for value in network.variable(value_var).domain.iter() {
        extra.kinds.push(((value_var, value), VALUE_KIND + i64::from(value)));
    }
    let structure = Microstructure::new(&network, &extra, &request.limits, deadline)?;
    let found = structure.symmetries(deadline);
    let points = Points::of(circuit);
    let generators = template.of_literals(&found);
    let generators =
        generators.iter().filter_map(|generator| of_points(circuit, points, generator)).collect();
    let mut symmetries = Symmetries {
        points,
        generators,
        order: BigUint::from(1_u32),
        is_complete: found.is_complete,
    };
    match symmetries.group(deadline) {
        Ok(group) => symmetries.order = group.order(),
        Err(_) => symmetries.is_complete = false,
    }
    Ok(symmetries)
}

/// The kind of the value 0 of a state; the others follow.
const VALUE_KIND: i64 = 1 << 50;

/// The value of states that are not judged.
const UNKNOWN: Value = -1;
