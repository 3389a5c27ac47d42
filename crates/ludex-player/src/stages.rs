//! Searches that think about a turn one after the other.

use ludex_base::RoleId;
use ludex_game::StateOf;
use ludex_search::{Information, Limits, PlainSearch, SearchReport};

use crate::Playable;
use crate::mind::{OneSearch, Opinion};

/// A search that thinks about a turn for a part of the time that is left then.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct StageSpec {
    pub name: &'static str,
    pub search: PlainSearch,
    pub part: f64,
}

impl StageSpec {
    /// A search that has all the time that is left.
    pub fn last(name: &'static str, search: impl Into<PlainSearch>) -> Self {
        Self { name, search: search.into(), part: 1.0 }
    }
}

/// Stages in their order.
pub(crate) type StageList = Vec<StageSpec>;

/// The searches of some stages; the last keeps what it learned.
pub(crate) struct Stages<G: Playable> {
    stages: Vec<Stage<G>>,
}

struct Stage<G: Playable> {
    search: OneSearch<G>,
    part: f64,
}

impl<G: Playable> Stages<G> {
    pub fn new(game: &G, stages: &StageList) -> Self {
        assert!(!stages.is_empty(), "there is a stage");
        let stage = |spec: &StageSpec| Stage {
            search: OneSearch::new(game, spec.name, &spec.search),
            part: spec.part,
        };
        Self { stages: stages.iter().map(stage).collect() }
    }

    /// The last search looks at the initial state ahead.
    pub fn warm_up(&mut self, role: RoleId, limits: &Limits) {
        self.last().warm_up(role, limits);
    }

    /// Thinks about a turn in which the state is not known: only the last search does.
    pub fn think_hidden(&mut self, known: &Information<StateOf<G>>, limits: &Limits) -> Opinion {
        let search = self.last();
        let report = search.search_hidden(known, limits);
        Opinion { report, search: search.name().into() }
    }

    /// Thinks about a turn.
    pub fn think(&mut self, state: &StateOf<G>, role: RoleId, limits: &Limits) -> Opinion {
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
        let report = before.expect("there is a stage");
        Opinion { report, search: names.join("+") }
    }

    fn last(&mut self) -> &mut OneSearch<G> {
        &mut self.stages.last_mut().expect("there is a stage").search
    }
}
