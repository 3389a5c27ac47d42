//! Stages: searches that share a turn, one after the other.

use ludex_base::RoleId;
use ludex_game::StateOf;
use ludex_search::{Information, PlainSearch, SearchLimits, SearchReport};

use crate::Playable;
use crate::mind::{OneSearch, Opinion};

/// A search and the part of the remaining time that it gets.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct StageSpec {
    pub name: &'static str,
    pub search: PlainSearch,
    pub part: f64,
    /// Whether it searches states folded by symmetries, if the game has any.
    pub folds: bool,
}

impl StageSpec {
    /// A search that gets all of the remaining time.
    pub fn last(name: &'static str, search: impl Into<PlainSearch>) -> Self {
        Self { name, search: search.into(), part: 1.0, folds: false }
    }
}

/// Stages in the order in which they run.
pub(crate) type StageList = Vec<StageSpec>;

/// The searches of a list of stages, for one match.
pub(crate) struct Stages<G: Playable> {
    stages: Vec<Stage<G>>,
}

struct Stage<G: Playable> {
    search: OneSearch<G>,
    part: f64,
}

impl<G: Playable> Stages<G> {
    pub fn new(game: &G, stages: &StageList) -> Self {
        assert!(!stages.is_empty(), "a list of stages is not empty");
        let stage = |spec: &StageSpec| {
            let search = if spec.folds {
                OneSearch::folded(game, spec.name, &spec.search)
            } else {
                OneSearch::new(game, spec.name, &spec.search)
            };
            Stage { search, part: spec.part }
        };
        Self { stages: stages.iter().map(stage).collect() }
    }

    /// Searches the initial state ahead with the last search.
    pub fn warm_up(&mut self, role: RoleId, limits: &SearchLimits) {
        self.last().warm_up(role, limits);
    }

    /// Thinks about a turn with hidden information. Only the last search runs.
    pub fn think_hidden(
        &mut self,
        known: &Information<StateOf<G>>,
        limits: &SearchLimits,
    ) -> Opinion {
        let search = self.last();
        let report = search.search_hidden(known, limits);
        Opinion { report, search: search.name().into() }
    }

    /// Thinks about a turn.
    pub fn think(&mut self, state: &StateOf<G>, role: RoleId, limits: &SearchLimits) -> Opinion {
        let mut before: Option<SearchReport> = None;
        let mut names: Vec<&str> = Vec::new();
        for stage in &mut self.stages {
            let report = stage.search.search(state, role, &limits.part(stage.part));
            names.push(stage.search.name());
            let report = match before {
                Some(before) => report.respecting(&before),
                None => report,
            };
            let is_settled = report.is_proven;
            before = Some(report);
            if is_settled {
                break;
            }
        }
        let report = before.expect("a list of stages is not empty");
        Opinion { report, search: names.join("+") }
    }

    fn last(&mut self) -> &mut OneSearch<G> {
        &mut self.stages.last_mut().expect("a list of stages is not empty").search
    }
}
