//! MAC-UCB-II: the moves of a role who does not know the state, as stochastic networks.
//!
//! What the role knows is a belief. The next steps from it are a [`Plan`](ludex_encode::Plan): the
//! role decides, what it learns of the step is drawn, and in the end the state is, given all it has
//! learned. So the fluents of the next state are chance variables whose distribution the percepts
//! fill. What a move is worth is the value of the best policy that begins with it.
//!
//! A plan is exact if every play is over after its last step.

use ludex_base::{BitSet, Deadline, MoveId, RoleId};
use ludex_encode::{PlanError, PlanLimits, Template};
use ludex_game::{Belief, Describe, Observe};
use ludex_qcsp::stochastic::{StochasticConfig, solve_stochastic};

/// What the moves of a role are worth over the next steps.
#[derive(Clone, PartialEq, Debug)]
pub struct Planned {
    /// The moves that the role is sure of, with the reward it can expect of each, 0 to 1; what is not
    /// over after the last step counts as nothing.
    pub moves: Vec<(MoveId, f64)>,
    /// Whether every play is over then, so that the rewards are exact.
    pub is_exact: bool,
    /// Values that were given to variables.
    pub n_nodes: u64,
}

impl Planned {
    /// The best move with its reward, the first of equal ones.
    pub fn best(&self) -> Option<(MoveId, f64)> {
        self.moves.iter().copied().reduce(|best, next| if next.1 > best.1 { next } else { best })
    }
}

/// Plans the next steps of the party of a belief, which is one role.
///
/// # Errors
/// When the plan becomes too large, or the role is not sure of any move; `Ok(None)` when the deadline
/// came first.
///
/// # Panics
/// When the party is not one role, or no step is asked for.
pub fn plan_moves<G>(
    template: &Template,
    game: &G,
    belief: &Belief<BitSet>,
    n_steps: usize,
    limits: &PlanLimits,
    deadline: &Deadline,
) -> Result<Option<Planned>, PlanError>
where
    G: Describe<Cursor: Observe<State = BitSet>>,
{
    let [role]: [RoleId; 1] = belief.party().try_into().expect("a party of one role");
    assert!(n_steps > 0, "a plan has a step");
    let plan = template.plan(game, belief, role, n_steps, limits)?;
    let of_role = template.moves[role.index()];
    let first = plan.moves[0][0];
    let config = StochasticConfig { deadline: deadline.clone(), ..StochasticConfig::best() };
    let is_exact = !plan.network.domain(plan.terminal).contains(0);
    let mut planned = Planned { moves: Vec::new(), is_exact, n_nodes: 0 };
    for value in plan.network.domain(first).iter() {
        let Some(id) = of_role.played(value) else { continue };
        let mut network = plan.network.clone();
        network.require(first.equals(value));
        let report = solve_stochastic(&network, &config).expect("a plan is a good network");
        if report.stopped.is_some() {
            return Ok(None);
        }
        planned.n_nodes += report.statistics.n_nodes;
        planned.moves.push((id, report.value / 100.0));
    }
    Ok(Some(planned))
}
