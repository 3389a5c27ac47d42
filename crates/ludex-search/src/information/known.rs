//! The information of a role, and the trait of searches that have no more than that.

use ludex_base::{MoveId, PerceptId, Rng, RoleId};

use crate::limits::SearchLimits;
use crate::report::SearchReport;

/// Finds a move for a role that does not see the state.
///
/// It receives the role's own moves and percepts so far, with the states that agree with them, and
/// never the true state. It may keep what it learned from one call to the next as long as the calls
/// follow one role through one match.
pub trait InformationSearcher<S> {
    /// Returns the name under which the search is registered.
    fn name(&self) -> &'static str;

    /// Searches for the role with this information, in a match that is not over.
    ///
    /// The chosen move is one of [`Information::legal_moves`], even if the limits leave no time to
    /// search.
    fn search(&mut self, known: &Information<S>, limits: &SearchLimits) -> SearchReport;
}

/// What a role receives about a step.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Observation {
    /// The move that was played for it.
    pub own: MoveId,
    /// Its percepts, ascending.
    pub percepts: Vec<PerceptId>,
}

impl Observation {
    /// Creates an observation. The percepts may come in any order; duplicates are dropped.
    pub fn new(own: MoveId, percepts: &[PerceptId]) -> Self {
        let mut percepts = percepts.to_vec();
        percepts.sort_unstable();
        percepts.dedup();
        Self { own, percepts }
    }
}

/// The information of one role at some step of a match: its own moves and percepts, and what
/// follows from them.
#[derive(Clone, Debug)]
pub struct Information<S> {
    pub(super) role: RoleId,
    pub(super) steps: Vec<Option<Observation>>,
    pub(super) legal: Vec<MoveId>,
    pub(super) possible: Vec<Possible<S>>,
    pub(super) is_exact: bool,
    pub(super) is_inconsistent: bool,
}

/// A state that agrees with a role's observations.
#[derive(Clone, Debug)]
pub struct Possible<S> {
    /// The state.
    pub state: S,
    /// Its probability; the weights of all possible states sum to 1.
    pub weight: f64,
    /// For each role, the history of its moves and percepts as one hash: states with equal hashes
    /// for a role are indistinguishable for it. If several trajectories lead to the state, the
    /// hashes belong to one that was drawn.
    pub(crate) views: Vec<u64>,
}

impl<S> Information<S> {
    /// Returns the role that has this information.
    pub fn role(&self) -> RoleId {
        self.role
    }

    /// Returns the observations, step by step; `None` for a step without one.
    pub fn steps(&self) -> &[Option<Observation>] {
        &self.steps
    }

    /// Returns the moves to choose from: those that are legal in every state examined. If the
    /// information [is inconsistent](Self::is_inconsistent), these are the probably legal moves,
    /// and some states may lack them.
    pub fn legal_moves(&self) -> &[MoveId] {
        &self.legal
    }

    /// Returns the states that agree, at least one. If none was found, these are the closest ones,
    /// and [`is_inconsistent`](Self::is_inconsistent) is true.
    pub fn possible(&self) -> &[Possible<S>] {
        &self.possible
    }

    /// Whether these are all states that agree, each with its probability, rather than a sample.
    pub fn is_exact(&self) -> bool {
        self.is_exact
    }

    /// Whether no state was found that agrees with all observations.
    pub fn is_inconsistent(&self) -> bool {
        self.is_inconsistent
    }
}

impl<S: Clone> Information<S> {
    /// Returns the information without some of the possible states, with the other weights
    /// rescaled; `None` if none is left.
    pub fn without(&self, is_left_out: impl Fn(usize) -> bool) -> Option<Self> {
        let kept = self.possible.iter().enumerate().filter(|(idx, _)| !is_left_out(*idx));
        let mut possible: Vec<Possible<S>> = kept.map(|(_, it)| it.clone()).collect();
        let total: f64 = possible.iter().map(|it| it.weight).sum();
        possible.iter_mut().for_each(|it| it.weight /= total);
        let (steps, legal) = (self.steps.clone(), self.legal.clone());
        let (is_exact, is_inconsistent) = (self.is_exact, self.is_inconsistent);
        let has_some = total > 0.0;
        has_some.then(|| Self {
            role: self.role,
            steps,
            legal,
            possible,
            is_exact,
            is_inconsistent,
        })
    }
}

/// Draws indices by weight.
#[derive(Clone, Debug, Default)]
pub(crate) struct Weights {
    /// Cumulative sums of the weights.
    sums: Vec<f64>,
}

impl Weights {
    pub(crate) fn new(weights: impl Iterator<Item = f64>) -> Self {
        let mut sum = 0.0;
        let sums = weights.map(|weight| {
            sum += weight;
            sum
        });
        Self { sums: sums.collect() }
    }

    /// Draws an index; there must be at least one.
    pub(crate) fn draw(&self, rng: &mut Rng) -> usize {
        self.at(rng.unit())
    }

    /// Returns the index at a part of the total weight, from 0 to 1; there must be at least one.
    pub(crate) fn at(&self, part: f64) -> usize {
        let weight = part * self.sums[self.sums.len() - 1];
        self.sums.partition_point(|&upto| upto <= weight).min(self.sums.len() - 1)
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;

    #[test]
    fn leaving_out_states_rescales_the_rest() {
        let possible = |state: u8, weight: f64| Possible { state, weight, views: vec![0] };
        let known = Information {
            role: RoleId::new(0),
            steps: Vec::new(),
            legal: vec![MoveId::new(0)],
            possible: vec![possible(7, 0.5), possible(8, 0.25), possible(9, 0.25)],
            is_exact: true,
            is_inconsistent: false,
        };
        let fewer = known.without(|idx| idx == 0).expect("two states are left");
        let left: Vec<(u8, f64)> =
            fewer.possible().iter().map(|it| (it.state, it.weight)).collect();
        assert_eq!(left, [(8, 0.5), (9, 0.5)]);
        assert_eq!(fewer.legal_moves(), known.legal_moves());
        assert!(known.without(|_| true).is_none());
    }

    #[test]
    fn indices_are_drawn_by_weight() {
        let weights = Weights::new([1.0, 0.0, 3.0].into_iter());
        let mut rng = Seed(1).rng();
        let mut counts = [0; 3];
        for _ in 0..4_000 {
            counts[weights.draw(&mut rng)] += 1;
        }
        assert_eq!(counts[1], 0);
        assert!((900..1_100).contains(&counts[0]), "{counts:?}");
    }
}
