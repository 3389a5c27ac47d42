//! Solves a game by listing all its states.

use std::hash::Hash;

use ludex_base::{Deadline, Goal, Limits, MoveId, RoleId, StopReason};
use ludex_game::{Cursor, Describe, Game};
use ludex_verify::{Claim, Proof, Value};

use super::Opposition;
use super::graph::{Graph, Predecessors, Shape, StateNumber, joint_move, step_to};
use super::induction::{Guarantees, Induction};
use super::picture::{DrawnState, Picture, Region};
use super::proof::{Side, strategy_lines};
use super::regions::Regions;
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;

/// Explores the game graph and solves it, as far as the limits allow.
///
/// Returns why it stopped before everything was known.
pub(crate) fn search<G: Describe>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    let limits = &options.limits;
    let explore = |problem: &Problem<'_, G>| {
        let mut n_counted = 0;
        let start = problem.canonical(&problem.state);
        Graph::explore(problem.searched(), &start, limits, |graph| {
            let n_new = (graph.len() - n_counted) as u64;
            progress.count(n_new, n_new);
            n_counted = graph.len();
            let is_too_large = graph.len() as u64 > options.max_nodes;
            let is_useless = problem.folded.is_some() && graph.has_joint_choices();
            (is_too_large || is_useless).then_some(StopReason::Count)
        })
    };
    // If every role plays for itself, the first of its best moves counts, and a canonical state may
    // have another first move.
    let unfolded = problem.unfolded();
    let is_folded = Opposition::of(problem) != Opposition::None;
    let mut problem = if is_folded { problem } else { &unfolded };
    let mut graph = explore(problem);
    if problem.folded.is_some() && graph.has_joint_choices() {
        problem = &unfolded;
        graph = explore(problem);
    }
    if graph.stopped.is_some() && graph.len() > MAX_PARTIAL {
        // Open states leave little to find in so large a graph.
        return graph.stopped;
    }
    let answer = Answer::of(problem, graph, &limits.deadline);
    answer.report(problem, limits, options.wants_proofs, progress);
    let has_answer = !answer.is_endless && !matches!(answer.how, How::Unknown);
    let stopped = answer.graph.stopped.or_else(|| limits.deadline.stop_reason());
    stopped.or_else(|| (!has_answer).then_some(StopReason::Count))
}

/// A graph that was stopped with more states than this is not solved.
const MAX_PARTIAL: usize = 200_000;

/// What a graph says about its states.
struct Answer<S> {
    graph: Graph<S>,
    how: How,
    /// Whether some play need not end, so that the value of a role may not be defined.
    is_endless: bool,
}

enum How {
    /// By role: what it can force if open states end badly, and what the others can hold it to if
    /// they end well.
    Regions(Vec<(Regions, Regions)>),
    /// By role: bounds against all the others; `true` if these bound what the role gets.
    Guarantees(Vec<Guarantees>, bool),
    /// Every role for itself.
    Induction(Induction),
    /// Nothing.
    Unknown,
}

impl<S: Clone + Eq + Hash> Answer<S> {
    fn of<G: Game>(problem: &Problem<'_, G>, graph: Graph<S>, deadline: &Deadline) -> Self
    where
        G::Cursor: Cursor<State = S>,
    {
        let roles = problem.game.roles();
        let players: Vec<RoleId> =
            problem.game.role_ids().filter(|role| !roles[role.index()].is_random).collect();
        let is_complete = graph.stopped.is_none();
        let is_single = |number| match graph.shape(number) {
            Shape::Single(chooser, successors) => {
                successors.len() == 1 || !roles[chooser.index()].is_random
            }
            Shape::Joint(..) => false,
            Shape::Open | Shape::Terminal(_) => true,
        };
        let is_opposed = players.len() == 1 || Opposition::of(problem) != Opposition::None;
        let predecessors = Predecessors::of(&graph);
        let most: Vec<Goal> = problem.bounds().iter().map(|bounds| bounds.upper).collect();
        let (how, is_endless) = if graph.numbers().all(is_single) && is_opposed {
            let regions = |role: RoleId| {
                let of = |side, open| Regions::of(&graph, &predecessors, role, side, open);
                (of(Side::Own, Goal::MIN), of(Side::Others, most[role.index()]))
            };
            let regions: Vec<(Regions, Regions)> = problem.game.role_ids().map(regions).collect();
            let is_open = |role: &RoleId| {
                let (least, most) = &regions[role.index()];
                least.goal(0) < most.goal(0)
            };
            let is_endless = is_complete && players.iter().any(is_open);
            (How::Regions(regions), is_endless)
        } else {
            let order = predecessors.backward_order(&graph);
            let is_endless = order.len() < graph.len();
            let induction = if is_complete && !is_endless && !is_opposed {
                Induction::of(&graph, &order, roles)
            } else {
                None
            };
            let guarantees = |role: RoleId| {
                Guarantees::of(&graph, &order, roles, role, most[role.index()], deadline)
            };
            let how = match induction {
                Some(induction) => How::Induction(induction),
                None if is_endless => How::Unknown,
                None => match problem.game.role_ids().map(guarantees).collect() {
                    Some(all) => How::Guarantees(all, is_opposed),
                    None => How::Unknown,
                },
            };
            (how, is_endless)
        };
        Self { graph, how, is_endless }
    }

    /// Returns bounds on the value of each role in a state.
    fn bounds(&self, number: StateNumber, n_roles: usize) -> Vec<(Value, Value)> {
        let any = (Value::MIN, Value::MAX);
        match &self.how {
            How::Regions(regions) => {
                let bounds = |(least, most): &(Regions, Regions)| {
                    (least.goal(number).into(), most.goal(number).into())
                };
                regions.iter().map(bounds).collect()
            }
            How::Guarantees(guarantees, is_opposed) => {
                let bounds = |it: &Guarantees| {
                    let (lower, upper) = it.bounds(number);
                    (lower, if *is_opposed { upper } else { Value::MAX })
                };
                guarantees.iter().map(bounds).collect()
            }
            How::Induction(induction) => {
                induction.values(number).iter().map(|&value| (value, value)).collect()
            }
            How::Unknown => vec![any; n_roles],
        }
    }

    fn report<G: Describe>(
        &self,
        problem: &Problem<'_, G>,
        limits: &Limits,
        wants_proofs: bool,
        progress: &Progress,
    ) where
        G::Cursor: Cursor<State = S>,
    {
        let game = problem.game;
        let bounds = self.bounds(0, game.roles().len());
        let proofs = if wants_proofs { self.proofs(problem, &bounds, limits) } else { None };
        let line = if self.graph.stopped.is_none() { self.line(problem) } else { Vec::new() };
        progress.prove(Method::Graph, &bounds, &line, proofs.unwrap_or_default());
    }

    /// Returns a play in which every role plays best, if no chance and no mixed choice is needed.
    fn line<G: Game>(&self, problem: &Problem<'_, G>) -> Vec<Vec<MoveId>>
    where
        G::Cursor: Cursor<State = S>,
    {
        let game = problem.game;
        let mut cursor = game.cursor();
        let mut state = problem.state.clone();
        let (mut number, mut line) = (0, Vec::new());
        while let Shape::Single(chooser, successors) = self.graph.shape(number) {
            let place = match &self.how {
                How::Regions(regions) if !self.is_endless => {
                    regions[chooser.index()].0.best(successors)
                }
                How::Induction(induction) if !game.roles()[chooser.index()].is_random => {
                    induction.place(number)
                }
                _ => return Vec::new(),
            };
            number = successors[place];
            let step = step_to(problem, &self.graph, &mut cursor, &state, number);
            let (joint, after) = step.expect("a symmetry takes moves to moves");
            line.push(joint);
            state = after;
        }
        match self.graph.shape(number) {
            Shape::Terminal(_) => line,
            _ => Vec::new(),
        }
    }

    /// Returns what a certificate says about the first state; `None` if it would be too large.
    fn proofs<G: Describe>(
        &self,
        problem: &Problem<'_, G>,
        bounds: &[(Value, Value)],
        limits: &Limits,
    ) -> Option<Vec<Proof>>
    where
        G::Cursor: Cursor<State = S>,
    {
        let game = problem.game;
        let is_unknown = matches!(self.how, How::Unknown);
        if self.graph.stopped.is_some() || self.is_endless || is_unknown {
            return None;
        }
        let players = || game.role_ids().filter(|role| !game.roles()[role.index()].is_random);
        if let How::Induction(_) = self.how {
            let values = players().map(|role| bounds[role.index()].0).collect();
            return Some(vec![Proof { claim: Claim::Values(values), evidence: Vec::new() }]);
        }
        let mut proofs = Vec::new();
        for role in players() {
            let name = game.roles()[role.index()].name.clone();
            for side in [Side::Own, Side::Others] {
                // No goal is less than 0, so this goes without saying, and the role may be unable
                // to force an end.
                if let (Side::Own, How::Regions(regions)) = (side, &self.how)
                    && regions[role.index()].0.is_endless(0)
                {
                    continue;
                }
                let choose = |shape: Shape<'_>| match (&self.how, shape) {
                    (How::Regions(regions), Shape::Single(_, successors)) => {
                        let (own, others) = &regions[role.index()];
                        let regions = if side == Side::Own { own } else { others };
                        vec![(regions.best(successors), 1)]
                    }
                    (How::Guarantees(all, _), shape) => match side {
                        Side::Own => all[role.index()].own_choice(shape, game.roles(), role),
                        Side::Others => all[role.index()].others_choice(shape, game.roles(), role),
                    },
                    _ => vec![(0, 1)],
                };
                let deadline = &limits.deadline;
                let evidence = strategy_lines(problem, &self.graph, role, side, choose, deadline)?;
                let (lower, upper) = match &self.how {
                    How::Guarantees(all, _) => all[role.index()].bounds(0),
                    _ => bounds[role.index()],
                };
                let claim = match side {
                    Side::Own => Claim::AtLeast(name.clone(), lower),
                    Side::Others => Claim::AtMost(name.clone(), upper),
                };
                proofs.push(Proof { claim, evidence });
            }
        }
        Some(proofs)
    }
}

/// Draws the graph of a game with at most `max_states` states; `None` if it has more, or a limit is
/// reached.
pub fn draw<G: Describe>(
    problem: &Problem<'_, G>,
    max_states: usize,
    limits: &Limits,
) -> Option<Picture> {
    let game = problem.game;
    let graph = Graph::explore(game, &problem.state, limits, |graph| {
        (graph.len() > max_states).then_some(StopReason::Count)
    });
    if graph.stopped.is_some() {
        return None;
    }
    let mut depths = vec![usize::MAX; graph.len()];
    depths[0] = 0;
    // States come in the order of their distance from the first.
    for number in graph.numbers() {
        let next = depths[number as usize].saturating_add(1);
        for &successor in graph.successors(number) {
            let depth = &mut depths[successor as usize];
            *depth = (*depth).min(next);
        }
    }
    let answer = Answer::of(problem, graph, &limits.deadline);
    let graph = &answer.graph;
    let players: Vec<RoleId> =
        game.role_ids().filter(|role| !game.roles()[role.index()].is_random).collect();
    let most = problem.bounds()[players[0].index()].upper;
    let mut cursor = game.cursor();
    let (mut states, mut moves) = (Vec::new(), Vec::new());
    for number in graph.numbers() {
        let bounds = answer.bounds(number, game.roles().len());
        let value = |role: &RoleId| match bounds[role.index()] {
            (lower, upper) if lower == upper => lower.to_string(),
            (lower, upper) => format!("{lower}–{upper}"),
        };
        let (lower, upper) = bounds[players[0].index()];
        let region = match (lower >= most.into(), upper == Value::MIN, lower == upper) {
            (true, _, _) => Region::Most,
            (_, true, _) => Region::Least,
            (_, _, true) => Region::Between,
            _ => Region::Unknown,
        };
        states.push(DrawnState {
            fluents: game.state_texts(graph.state(number)).join(" "),
            values: players.iter().map(value).collect::<Vec<_>>().join(" "),
            region,
            is_terminal: matches!(graph.shape(number), Shape::Terminal(_)),
            depth: depths[number as usize],
        });
        for (place, &successor) in graph.successors(number).iter().enumerate() {
            let joint = joint_move(game, &mut cursor, graph.state(number), place);
            cursor.set_state(graph.state(number));
            let chosen = game.role_ids().filter(|&role| cursor.legal_moves(role).len() > 1);
            let texts: Vec<String> =
                chosen.map(|role| game.move_text(joint[role.index()])).collect();
            moves.push((number as usize, successor as usize, texts.join(" ")));
        }
    }
    Some(Picture { states, moves })
}

/// Returns the sum of the goals of two roles if it is the same in all terminal states.
fn has_constant_sum<S: Clone + Eq + Hash>(
    graph: &Graph<S>,
    one: RoleId,
    two: RoleId,
) -> Option<u8> {
    let mut sum = None;
    for number in graph.numbers() {
        if let Shape::Terminal(goals) = graph.shape(number) {
            let here = goals[one.index()].value() + goals[two.index()].value();
            if *sum.get_or_insert(here) != here {
                return None;
            }
        }
    }
    sum
}

/// What a role can force in every state of a small game, for play.
pub struct Table<S> {
    graph: Graph<S>,
    /// By role.
    regions: Vec<Regions>,
}

impl<S: Clone + Eq + Hash> Table<S> {
    /// Lists the states that can be reached from a state; `None` if a limit is reached, chance or
    /// moves at the same time come in, or two roles do not play for opposite goals.
    pub fn of<G: Game>(game: &G, state: &S, limits: &Limits) -> Option<Self>
    where
        G::Cursor: Cursor<State = S>,
    {
        let roles = game.roles();
        if roles.len() != 2 || roles.iter().any(|role| role.is_random) || game.has_percepts() {
            return None;
        }
        let graph = Graph::explore(game, state, limits, |_| None);
        let is_single = |number| !matches!(graph.shape(number), Shape::Joint(..));
        let (one, two) = (RoleId::new(0), RoleId::new(1));
        if graph.stopped.is_some()
            || !graph.numbers().all(is_single)
            || has_constant_sum(&graph, one, two).is_none()
        {
            return None;
        }
        let predecessors = Predecessors::of(&graph);
        let regions = |role| Regions::of(&graph, &predecessors, role, Side::Own, Goal::MIN);
        let regions = vec![regions(one), regions(two)];
        Some(Self { graph, regions })
    }

    /// Returns how many states it holds.
    pub fn n_states(&self) -> usize {
        self.graph.len()
    }

    /// Returns what a role can force in the first state.
    pub fn first(&self, role: RoleId) -> Goal {
        self.regions[role.index()].goal(0)
    }

    /// Returns what a role can force in a state, and the place of the move that does it among its
    /// legal moves; `None` for a state that the table lacks or in which the role does not choose.
    ///
    /// Repeated, the moves reach the goal: they come closer to the end each time.
    pub fn best(&self, state: &S, role: RoleId) -> Option<(Goal, usize)> {
        let (number, successors) = self.choice(state, role)?;
        let regions = &self.regions[role.index()];
        Some((regions.goal(number), regions.best(successors)))
    }

    /// Returns what a role can force after each of its legal moves, as [`Table::best`] does.
    pub fn after(&self, state: &S, role: RoleId) -> Option<Vec<Goal>> {
        let (_, successors) = self.choice(state, role)?;
        let regions = &self.regions[role.index()];
        Some(successors.iter().map(|&number| regions.goal(number)).collect())
    }

    fn choice(&self, state: &S, role: RoleId) -> Option<(StateNumber, &[StateNumber])> {
        let number = self.graph.find(state)?;
        match self.graph.shape(number) {
            Shape::Single(chooser, successors) if chooser == role && successors.len() > 1 => {
                Some((number, successors))
            }
            _ => None,
        }
    }
}
