//! MAC-UCB-II: planning with hidden information, by stochastic networks.
//!
//! The role's knowledge is a belief. The next steps from it are a [`Lookahead`](ludex_encode::Lookahead): in each step
//! the role decides and its observation is drawn; in the end the state is drawn, given all observations. So
//! the fluents of the next state are chance variables, and their distribution depends on the percepts. The
//! value of a move is the value of the best policy that begins with it.
//!
//! A plan is exact if every play is over after its last step. The other roles are assumed to draw their
//! moves uniformly.

use ludex_base::{BitSet, Deadline, MoveId, RoleId};
use ludex_csp::{Value, Variable};
use ludex_encode::{Lookahead, LookaheadError, LookaheadLimits, Template};
use ludex_game::{Belief, Cursor, Describe, Observe};
use ludex_scsp::{Distribution, SolveConfig, StochasticVariable, rational, solve};
use rustc_hash::FxHashMap;

/// The values of a role's moves over the next steps.
#[derive(Clone, PartialEq, Debug)]
pub struct Planned {
    /// The moves that the role knows to be legal, each with its expected reward, 0 to 1.
    pub moves: Vec<(MoveId, f64)>,
    /// Whether every play is over after these steps, so that the rewards are exact.
    pub is_exact: bool,
    /// Planned steps.
    pub n_steps: usize,
    /// Solved networks, one a move.
    pub n_solved: u64,
    /// Nodes of the searches: values given to variables.
    pub n_nodes: u64,
}

impl Planned {
    /// The best move with its reward; the first among equals.
    pub fn best(&self) -> Option<(MoveId, f64)> {
        self.moves.iter().copied().reduce(|best, next| if next.1 > best.1 { next } else { best })
    }
}

/// Estimates the rewards of the role in states that are not terminal, 0 to 1.
pub type Estimate<'a> = dyn FnMut(&[&BitSet]) -> Vec<f64> + 'a;

/// The estimate 0 for every state.
pub fn nothing(open: &[&BitSet]) -> Vec<f64> {
    vec![0.0; open.len()]
}

/// Plans the next steps of the role of a belief. `estimate` evaluates the states after the last step that
/// are not terminal. `Ok(None)` means that the deadline was reached.
///
/// # Errors
/// The plan becomes too large, or the role knows no move to be legal.
///
/// # Panics
/// If the party of the belief is not one role, or `n_steps` is 0.
pub fn plan_moves<G>(
    template: &Template,
    game: &G,
    belief: &Belief<BitSet>,
    n_steps: usize,
    limits: &LookaheadLimits,
    deadline: &Deadline,
    estimate: &mut Estimate<'_>,
) -> Result<Option<Planned>, LookaheadError>
where
    G: Describe<Cursor: Observe<State = BitSet>>,
{
    let [role]: [RoleId; 1] = belief.party().try_into().expect("a party of one role");
    assert!(n_steps > 0, "a plan has at least one step");
    let mut plan = template.lookahead(game, belief, role, n_steps, limits)?;
    let of_role = template.moves[role.index()];
    let first = plan.moves[0][0];
    let config = SolveConfig { deadline: deadline.clone(), ..SolveConfig::best() };
    let is_exact = !plan.network.domain(plan.terminal).contains(0);
    let worth = if is_exact {
        100.0
    } else {
        if !value_worlds(&mut plan, &mut game.cursor(), role, deadline, estimate) {
            return Ok(None);
        }
        REWARD_SCALE
    };
    let mut planned = Planned { moves: Vec::new(), is_exact, n_steps, n_solved: 0, n_nodes: 0 };
    let values: Vec<Value> = plan.network.domain(first).iter().collect();
    for value in values {
        let Some(id) = of_role.played(value) else { continue };
        if deadline.reached() {
            return Ok(None);
        }
        plan.network.decide_among(first, vec![value]);
        let report = solve(&plan.network, &config).expect("a plan is a valid network");
        if report.stopped.is_some() {
            return Ok(None);
        }
        planned.n_solved += 1;
        planned.n_nodes += report.statistics.n_nodes;
        planned.moves.push((id, (report.value / worth).clamp(0.0, 1.0)));
    }
    Ok(Some(planned))
}

/// The utility of a reward of 1 in plans with estimates.
const REWARD_SCALE: f64 = 10_000.0;

/// States between two looks at the clock.
const STATES_PER_CLOCK_CHECK: usize = 64;

/// Makes the value of the last state the utility of a plan: its goal, or the estimate. Returns false when the
/// deadline was reached.
fn value_worlds<C: Cursor<State = BitSet>>(
    plan: &mut Lookahead,
    cursor: &mut C,
    role: RoleId,
    deadline: &Deadline,
    estimate: &mut Estimate<'_>,
) -> bool {
    let mut goals: Vec<Option<f64>> = Vec::with_capacity(plan.worlds.len());
    for (at, world) in plan.worlds.iter().enumerate() {
        if at.is_multiple_of(STATES_PER_CLOCK_CHECK) && deadline.reached() {
            return false;
        }
        cursor.set_state(world);
        let is_over = cursor.is_terminal();
        goals.push(is_over.then(|| f64::from(cursor.goal(role).value()) / 100.0));
    }
    let open: Vec<&BitSet> = plan
        .worlds
        .iter()
        .zip(&goals)
        .filter(|(_, goal)| goal.is_none())
        .map(|(world, _)| world)
        .collect();
    let mut estimates = estimate(&open).into_iter();
    if deadline.reached() {
        return false;
    }
    let rewards = goals.iter().map(|goal| {
        goal.unwrap_or_else(|| estimates.next().expect("every open state has an estimate"))
    });
    let values: Vec<Value> =
        rewards.map(|reward| (reward * REWARD_SCALE).round() as Value).collect();
    let mut rows = FxHashMap::default();
    for (at, value) in values.iter().enumerate() {
        if at.is_multiple_of(STATES_PER_CLOCK_CHECK) && deadline.reached() {
            return false;
        }
        rows.insert(vec![at as Value], vec![(*value, rational(1, 1))]);
    }
    let distribution = Distribution::Table { on: vec![plan.world], rows };
    let variable =
        Variable { name: "worth".into(), domain: values.iter().copied().collect(), labels: None };
    let stage = plan.network.variable(plan.world).stage;
    let worth = plan.network.variable_with(StochasticVariable {
        variable,
        stage,
        distribution: Some(distribution),
    });
    plan.network.set_utility(worth);
    true
}
