//! Counterfactual regret with hidden information.
//!
//! The best play of a role depends on what the others believe it may have seen, including what it
//! has not seen. So if the game is small enough, it is solved from its initial state, once per
//! match, and every turn continues that solution; such play cannot be exploited. A larger game is
//! solved for a few steps from the states that the role considers possible. In each of them the
//! others know what they have seen, but they play as if the observations of the role were common
//! knowledge, so it does not bluff.
//!
//! The depth limit follows Shafiei, Sturtevant and Schaeffer, *Comparing UCT versus CFR in
//! Simultaneous Games*, 2009.

use ludex_base::StopReason;
use ludex_game::{Cursor, Observe, Playouts, StateOf};

use super::{Cfr, ExtensiveForm, ExtensiveFormLimits, Solver, growing_deadline, max_nodes};
use crate::information::{
    Information, InformationSearcher, Observation, OwnPercepts, Possible, Weights,
};
use crate::limits::SearchLimits;
use crate::report::SearchReport;

/// The extensive form of the whole game.
pub(super) enum Whole {
    /// Not yet expanded.
    Untried,
    /// Too large.
    TooLarge,
    /// The form with its solver.
    Known(Box<(ExtensiveForm, Solver)>),
}

/// Numbers of possible states to expand from, drawn at random if there are more; tried in this
/// order.
const N_STARTS: [usize; 3] = [24, 6, 1];
/// Longer games count as too large.
const MAX_STEPS: usize = 100;

impl<G: Playouts> Cfr<G>
where
    G::Cursor: Observe,
{
    /// Expands the whole game, unless that was tried before.
    fn work_out(&mut self, limits: &SearchLimits) {
        if !matches!(self.whole, Whole::Untried) {
            return;
        }
        let mut cursor = self.initial.clone();
        let starts = [(cursor.state().clone(), 1.0)];
        let form_limits = ExtensiveFormLimits {
            horizon: MAX_STEPS,
            max_nodes: max_nodes(limits),
            deadline: growing_deadline(limits),
        };
        let (n, random) = (self.roles.n, self.roles.random);
        // A form with a cut play is rejected below, so the estimate does not matter.
        let mut cut = |_: &mut G::Cursor, goals: &mut Vec<f32>| goals.resize(goals.len() + n, 0.5);
        let form = ExtensiveForm::new(
            n,
            random,
            &mut cursor,
            &starts,
            &OwnPercepts,
            &form_limits,
            &mut cut,
        );
        self.whole = match form {
            Ok(form) if !form.is_cut() => {
                let solver = Solver::new(&form, self.options.variant, limits.seed);
                Whole::Known(Box::new((form, solver)))
            }
            _ => Whole::TooLarge,
        };
    }
}

impl<G: Playouts> InformationSearcher<StateOf<G>> for Cfr<G>
where
    G::Cursor: Observe,
{
    fn name(&self) -> &'static str {
        "cfr"
    }

    fn search(&mut self, known: &Information<StateOf<G>>, limits: &SearchLimits) -> SearchReport {
        let (role, legal) = (known.role(), known.legal_moves());
        let nothing = SearchReport::unsearched(legal);
        if legal.len() < 2 || known.possible().is_empty() {
            return nothing;
        }
        limits.hint.set(legal[0]);
        self.work_out(limits);
        let observed: Option<Vec<Observation>> = known.steps().iter().cloned().collect();
        if let Whole::Known(mut whole) = std::mem::replace(&mut self.whole, Whole::Untried) {
            let (form, solver) = &mut *whole;
            let set = observed.and_then(|observed| form.find_set(role, &observed, legal));
            let report = set.map(|set| self.solve(form, solver, set, legal, limits));
            self.whole = Whole::Known(whole);
            if let Some(report) = report {
                return report;
            }
        } else {
            self.whole = Whole::TooLarge;
        }
        // Fewer states if time is short.
        let mut forms = N_STARTS.iter().map(|&n| {
            let starts = self.starts(known, n, limits);
            self.form(&starts, &OwnPercepts, limits)
        });
        let Some(form) = forms.find_map(|form| form) else {
            return SearchReport { stopped: Some(StopReason::of_deadline()), ..nothing };
        };
        if form.sets().iter().any(|set| set.role == role) {
            self.solve_from(&form, role, legal, limits)
        } else {
            nothing
        }
    }
}

impl<G: Playouts> Cfr<G> {
    /// Returns the possible states, or a sample drawn by weight.
    fn starts(
        &self,
        known: &Information<StateOf<G>>,
        max_starts: usize,
        limits: &SearchLimits,
    ) -> Vec<Possible<StateOf<G>>> {
        let possible = known.possible();
        if possible.len() <= max_starts {
            return possible.to_vec();
        }
        let weights = Weights::new(possible.iter().map(|it| it.weight));
        let mut rng = limits.seed.child(3).rng();
        let draw = |_| Possible { weight: 1.0, ..possible[weights.draw(&mut rng)].clone() };
        (0..max_starts).map(draw).collect()
    }
}
