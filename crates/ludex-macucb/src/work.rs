//! Work on networks, which searches add to their reports.

use std::any::Any;
use std::time::Duration;

use ludex_search::{Extension, ReportExtension};

/// What a search did on the constraint networks of states.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct NetworkWork {
    /// Why there is no network and another search took over; empty when there is one.
    pub note: String,
    /// With hidden information, what was planned, or why nothing was; otherwise empty.
    pub plan: String,
    /// Networks solved: all solutions enumerated, or one question answered.
    pub n_solved: u64,
    /// Networks that were not solved, because that of a symmetric state was.
    pub n_symmetric: u64,
    /// States whose exact value the networks proved.
    pub n_closed: u64,
    /// Time spent on injecting states into networks.
    pub injection: Duration,
    /// Time spent on solving networks, without injection.
    pub resolution: Duration,
    /// Time spent on playouts.
    pub simulation: Duration,
    /// Time spent on symmetric states.
    pub symmetry: Duration,
}

impl NetworkWork {
    /// Adds the work of another search for the same move.
    pub fn add(&mut self, other: &NetworkWork) {
        if self.note.is_empty() {
            self.note.clone_from(&other.note);
        }
        if self.plan.is_empty() {
            self.plan.clone_from(&other.plan);
        }
        self.n_solved += other.n_solved;
        self.n_symmetric += other.n_symmetric;
        self.n_closed += other.n_closed;
        self.injection += other.injection;
        self.resolution += other.resolution;
        self.simulation += other.simulation;
        self.symmetry += other.symmetry;
    }
}

impl ReportExtension for NetworkWork {
    fn joined(&self, other: &dyn ReportExtension) -> Extension {
        let mut whole = self.clone();
        let other: &dyn Any = other;
        other.downcast_ref().into_iter().for_each(|other| whole.add(other));
        Extension::new(whole)
    }

    fn without_times(&self) -> Extension {
        let [injection, resolution, simulation, symmetry] = [Duration::ZERO; 4];
        Extension::new(Self { injection, resolution, simulation, symmetry, ..self.clone() })
    }

    fn equals(&self, other: &dyn ReportExtension) -> bool {
        let other: &dyn Any = other;
        other.downcast_ref() == Some(self)
    }
}
