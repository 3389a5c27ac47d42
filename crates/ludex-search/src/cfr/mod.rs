//! Counterfactual regret minimization: play that cannot be exploited, for simultaneous moves and
//! hidden information.
//!
//! | search | games | method |
//! | --- | --- | --- |
//! | cfr | complete information | regret minimization on the next few steps, playouts beyond |
//! | cfr | hidden information | the same on the whole game if it is small, otherwise from possible states |
//! | nash | complete information | backward induction on the next few steps, an equilibrium in each state |
//!
//! Read the modules in this order: `form` (extensive form), `solver` (regret minimization),
//! `profile` (exact values of strategies). [`Cfr`] is the search, with its part for hidden
//! information in `hidden`; `nash` is the search by backward induction.
//!
//! The move is drawn from the mean strategy, because an unexploitable strategy may have to be
//! mixed.

use std::time::Duration;

use ludex_base::{Deadline, MoveId, RoleId, StopReason};
use ludex_game::{Cursor, Playouts, StateOf};

use crate::clock::Clock;
use crate::information::{AllMoves, Possible, Sight, first_view};
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search};
use crate::limits::SearchLimits;
use crate::playout::{Desk, End, play_uniform};
use crate::report::{MoveReport, SearchReport};
use crate::roles::Roles;
use crate::searcher::Searcher;

mod form;
mod solver;
mod profile;
mod hidden;
mod nash;

pub use form::{ExtensiveForm, ExtensiveFormLimits, InformationSet};
pub use nash::{Induction, Nash, NashOptions};
pub use profile::Profile;
pub use solver::{Solver, Variant};

crate::search_options! {
    /// Options of [`Cfr`].
    pub struct CfrOptions {
        /// plays that an iteration visits: cfr, plus, external or outcome
        variant: Variant = Variant::Plus,
        /// maximum number of steps to expand before plays are estimated
        depth: usize = 8,
        /// playouts per estimate at the horizon
        playouts: usize = 4,
        /// smallest probability that is played
        least: f64 = 0.02,
    }
}

/// Regret minimization on the next few steps.
pub struct Cfr<G: Playouts> {
    options: CfrOptions,
    roles: Roles,
    /// A cursor in the initial state.
    initial: G::Cursor,
    /// The whole game, if it has hidden information and was expanded.
    whole: hidden::Whole,
}

/// The part of the time for expanding plays; regret minimization gets the rest.
const GROWING_PART: f64 = 0.3;
/// Another step is expanded only if the last one took at most this part of the time for it.
const NEXT_STEP_PART: f64 = 0.2;
/// Approximate size of a node, with its edge and its share of sets and pasts.
const NODE_BYTES: usize = 200;
const MAX_NODES: usize = 1 << 20;
/// Node limit if there is an iteration limit, when nothing may depend on the clock.
const MAX_NODES_WITHOUT_CLOCK: usize = 1 << 14;
/// With few iterations there are fewer nodes, or expanding would take longer than learning.
const NODES_PER_ITERATION: u64 = 16;
const MIN_NODES: usize = 1 << 8;

impl<I: Ingredients> Search<I> for CfrOptions {
    fn build(&self, _name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(Cfr::new(from.game(), self.clone()))
    }

    fn build_informed(&self, _name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        Box::new(Cfr::new(from.game(), self.clone()))
    }
}

impl<G: Playouts> Cfr<G> {
    /// Creates a search without knowledge.
    pub fn new(game: &G, options: CfrOptions) -> Self {
        let (roles, initial) = (Roles::of(game), game.cursor());
        Self { options, roles, initial, whole: hidden::Whole::Untried }
    }

    /// Expands as many steps as there is time for; `None` if there is no time for a single one.
    fn form(
        &self,
        starts: &[Possible<StateOf<G>>],
        sight: &impl Sight<G::Cursor>,
        limits: &SearchLimits,
    ) -> Option<ExtensiveForm> {
        let mut cursor = self.initial.clone();
        let deadline = growing_deadline(limits);
        let mut rng = limits.seed.child(1).rng();
        let mut best: Option<ExtensiveForm> = None;
        for horizon in 1..=self.options.depth.max(1) {
            let form_limits = ExtensiveFormLimits {
                horizon,
                max_nodes: max_nodes(limits),
                deadline: deadline.clone(),
            };
            let before = deadline.remaining();
            let mut estimate = |cursor: &mut G::Cursor, goals: &mut Vec<f32>| {
                estimate_by(self.options.playouts, &self.roles, cursor, goals, &mut rng, &deadline);
            };
            let found = ExtensiveForm::from_possible(
                self.roles,
                &mut cursor,
                starts,
                sight,
                &form_limits,
                &mut estimate,
            );
            match found {
                Ok(form) => {
                    let is_cut = form.is_cut();
                    best = Some(form);
                    if !is_cut {
                        break;
                    }
                }
                Err(_) => break,
            }
            if let (Some(before), Some(left)) = (before, deadline.remaining())
                && before.saturating_sub(left) > left.mul_f64(NEXT_STEP_PART)
            {
                break;
            }
        }
        best
    }
}

/// Appends the mean goals of a few playouts, or 0.5 if none ended.
fn estimate_by<C: Cursor>(
    n_playouts: usize,
    roles: &Roles,
    cursor: &mut C,
    goals: &mut Vec<f32>,
    rng: &mut ludex_base::Rng,
    deadline: &Deadline,
) {
    let here = cursor.state().clone();
    let mut clock = Clock::new(deadline);
    let mut sums = vec![0.0_f32; roles.n];
    let mut desk = Desk::default();
    let mut n_ended = 0;
    for _ in 0..n_playouts.max(1) {
        cursor.set_state(&here);
        match play_uniform(cursor, roles.n, rng, &mut clock, &mut desk) {
            End::Terminal => {
                n_ended += 1;
                for (role, sum) in roles.ids().zip(&mut sums) {
                    *sum += f32::from(cursor.goal(role).value()) / 100.0;
                }
            }
            End::Cut | End::GivenUp => {}
            End::Time => break,
        }
    }
    goals.extend(sums.iter().map(|sum| match n_ended {
        0 => 0.5,
        n => sum / n as f32,
    }));
}

impl<G: Playouts> Searcher<G::Cursor> for Cfr<G> {
    fn name(&self) -> &'static str {
        "cfr"
    }

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &SearchLimits) -> SearchReport {
        let legal = root.clone().legal_moves(role).to_vec();
        let nothing = SearchReport::unsearched(&legal);
        if legal.len() < 2 {
            return nothing;
        }
        limits.hint.set(legal[0]);
        let views = self.roles.ids().map(first_view).collect();
        let starts = [Possible { state: root.state().clone(), weight: 1.0, views }];
        let Some(form) = self.form(&starts, &AllMoves, limits) else {
            return SearchReport { stopped: Some(StopReason::of_deadline()), ..nothing };
        };
        self.solve_from(&form, role, &legal, limits)
    }
}

impl<G: Playouts> Cfr<G> {
    /// Solves a form that begins with a choice of the role.
    fn solve_from(
        &self,
        form: &ExtensiveForm,
        role: RoleId,
        legal: &[MoveId],
        limits: &SearchLimits,
    ) -> SearchReport {
        // The sets of the first step come before all others. There is none if another role has no
        // legal move, so that play cannot go on.
        let Some(set) = form.sets().iter().position(|set| set.role == role) else {
            let stopped = Some(StopReason::Fault);
            return SearchReport { stopped, ..SearchReport::unsearched(legal) };
        };
        let mut solver = Solver::new(form, self.options.variant, limits.seed);
        self.solve(form, &mut solver, set, legal, limits)
    }

    /// Continues a solver on its form, and draws a move of an information set.
    fn solve(
        &self,
        form: &ExtensiveForm,
        solver: &mut Solver,
        set: usize,
        legal: &[MoveId],
        limits: &SearchLimits,
    ) -> SearchReport {
        let nothing = SearchReport::unsearched(legal);
        let n_before = solver.n_iterations();
        let most = limits.iterations.map_or(u64::MAX, |n| n_before + n);
        let set = &form.sets()[set];
        // An iteration over a large form cannot be interrupted, so none starts that would end late.
        let has_time = |took: Duration| {
            limits.deadline.remaining().is_none_or(|left| left > took) && !limits.deadline.reached()
        };
        while solver.n_iterations() < most && has_time(solver.took()) {
            let n_done = solver.n_iterations();
            if (n_done == n_before || n_done.is_power_of_two())
                && let Some((_, idx)) = self.drawn(solver, set, legal, limits)
            {
                limits.hint.set(legal[idx]);
            }
            solver.iterate(form);
        }
        let n_iterations = solver.n_iterations();
        if n_iterations == 0 {
            return SearchReport { stopped: Some(StopReason::of_deadline()), ..nothing };
        }
        let Some((parts, idx)) = self.drawn(solver, set, legal, limits) else { return nothing };
        limits.hint.set(legal[idx]);
        let means = solver.means(form);
        let reward = Profile::new(form, &means).value(set.role);
        let report = |(&id, part): (&MoveId, &f64)| MoveReport {
            n_visits: (part * n_iterations as f64).round() as u64,
            ..MoveReport::untried(id)
        };
        SearchReport {
            chosen: Some(legal[idx]),
            moves: legal.iter().zip(&parts).map(report).collect(),
            reward: Some(reward.clamp(0.0, 1.0)),
            n_iterations: n_iterations - n_before,
            n_nodes: form.n_nodes() as u64,
            n_bytes: (form.n_nodes() * NODE_BYTES) as u64,
            stopped: Some(if n_iterations >= most {
                StopReason::Count
            } else {
                StopReason::of_deadline()
            }),
            ..nothing
        }
    }
}

impl<G: Playouts> Cfr<G> {
    /// Returns the probability of each legal move under the mean strategy, and the index of a drawn
    /// move; `None` if nothing is known about them.
    fn drawn(
        &self,
        solver: &Solver,
        set: &InformationSet,
        legal: &[MoveId],
        limits: &SearchLimits,
    ) -> Option<(Vec<f64>, usize)> {
        if solver.n_iterations() == 0 {
            return None;
        }
        let mean = solver.mean(set);
        // In a faulty rulesheet, indistinguishable states may differ in their legal moves.
        let part =
            |id: &MoveId| set.moves.iter().position(|it| it == id).map_or(0.0, |at| mean[at]);
        let parts: Vec<f64> = legal.iter().map(part).collect();
        if parts.iter().sum::<f64>() <= 0.0 {
            return None;
        }
        let parts = without_small(parts, self.options.least);
        let idx = limits.seed.child(2).rng().weighted(&parts);
        Some((parts, idx))
    }
}

/// Returns the deadline for expanding plays.
fn growing_deadline(limits: &SearchLimits) -> Deadline {
    match limits.iterations {
        None => limits.deadline.part(GROWING_PART),
        Some(_) => limits.deadline.clone(),
    }
}

fn max_nodes(limits: &SearchLimits) -> usize {
    let most = match limits.iterations {
        Some(n) => (n.saturating_mul(NODES_PER_ITERATION) as usize)
            .clamp(MIN_NODES, MAX_NODES_WITHOUT_CLOCK),
        None => MAX_NODES,
    };
    most.min(limits.memory / NODE_BYTES)
}

/// Drops moves with small probabilities, which are mostly left over from the first iterations.
fn without_small(mut parts: Vec<f64>, least: f64) -> Vec<f64> {
    let largest = parts.iter().copied().fold(0.0, f64::max);
    parts.iter_mut().filter(|part| **part < least.min(largest)).for_each(|part| *part = 0.0);
    let total: f64 = parts.iter().sum();
    parts.iter_mut().for_each(|part| *part /= total);
    parts
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;
    use ludex_game::Game;

    use super::*;
    use crate::toy::{Rules, Toy};

    /// The role has legal moves and the other has none: a faulty rulesheet must not cause a panic.
    #[test]
    fn a_legal_move_is_chosen_where_play_cannot_go_on() {
        let toy = Toy::new(Rules {
            n_moves: |_, role| if role == 0 { 2 } else { 0 },
            sees: |_| None,
            is_over: |_| false,
        });
        let (me, limits) = (RoleId::new(0), SearchLimits::iterations(3, Seed(1)));
        let mut cfr = Cfr::new(&toy, CfrOptions::default());
        let mut nash = Nash::new(&toy, NashOptions::default());
        let root = toy.cursor();
        for report in [cfr.search(&root, me, &limits), nash.search(&root, me, &limits)] {
            assert_eq!(report.stopped, Some(StopReason::Fault));
            assert!(report.chosen.is_some_and(|id| id.index() < 2), "{report:?}");
        }
    }

    /// Without time for more iterations, the search answers with what earlier turns learned.
    #[test]
    fn without_time_the_earlier_mean_strategy_is_the_hint() {
        let toy = Toy::new(Rules {
            n_moves: |played, role| if role == 0 && played.is_empty() { 2 } else { 1 },
            sees: |_| None,
            is_over: |played| played.len() == 1,
        });
        let cfr = Cfr::new(&toy, CfrOptions::default());
        let starts = [Possible {
            state: toy.cursor().state().clone(),
            weight: 1.0,
            views: cfr.roles.ids().map(first_view).collect(),
        }];
        let long = SearchLimits::iterations(50, Seed(1));
        let form = cfr.form(&starts, &AllMoves, &long).expect("the game is small");
        let mut solver = Solver::new(&form, Variant::Plus, Seed(1));
        let legal = [0, 1].map(MoveId::new);
        cfr.solve(&form, &mut solver, 0, &legal, &long);
        assert_eq!(solver.n_iterations(), 50);
        let over = SearchLimits::until(Deadline::after(Duration::ZERO), Seed(1));
        let report = cfr.solve(&form, &mut solver, 0, &legal, &over);
        assert_eq!((report.n_iterations, report.stopped), (0, Some(StopReason::Time)));
        assert!(report.chosen.is_some() && over.hint.get() == report.chosen);
    }
}
