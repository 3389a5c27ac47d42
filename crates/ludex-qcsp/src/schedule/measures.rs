//! The measures that a model optimizes and aggregates, by scope.

use ludex_csp::VarId;

use crate::measure::{interests, root_measure, seen};
use crate::model::Model;
use crate::scope::{AggregateFunction, AggregateId, Measure, Ties};

/// All measures of a model, numbered.
#[derive(Default)]
pub(crate) struct Measures {
    pub n: usize,
    /// The measure reported as the value of the model.
    pub root: Option<usize>,
    pub scopes: Vec<ScopeMeasures>,
}

/// The measures that concern a scope.
pub(crate) struct ScopeMeasures {
    /// Its variables that are measures, with their numbers.
    pub variables: Vec<(usize, VarId)>,
    /// Its aggregates: number, function, and number of the aggregated measure.
    pub aggregates: Vec<(usize, AggregateFunction, usize)>,
    /// The interests in its choices.
    pub interests: Vec<Wish>,
    pub ties: Ties,
    /// Whether ties between choices that are equal for all interests are broken by their values: if
    /// the user says so, or if the value of the model depends on it.
    pub is_settled_by_choice: bool,
}

/// A numbered interest.
#[derive(Clone, Copy)]
pub(crate) struct Wish {
    pub measure: usize,
    pub is_minimized: bool,
    pub is_counted: bool,
    pub is_own: bool,
}

impl Measures {
    pub fn new(model: &Model) -> Self {
        if !model.is_optimization() {
            return Self::default();
        }
        let mut all: Vec<Measure> =
            (0..model.aggregates().len()).map(|i| AggregateId::new(i).into()).collect();
        all.extend(model.aggregates().iter().map(|aggregate| aggregate.of));
        all.extend(model.scopes().iter().filter_map(|scope| Some(scope.criterion?.measure)));
        let mut unique: Vec<Measure> = Vec::new();
        for measure in all {
            if !unique.contains(&measure) {
                unique.push(measure);
            }
        }
        let number = |measure: Measure| {
            unique.iter().position(|&m| m == measure).expect("all measures are numbered")
        };
        let scope_measures = |i: usize| ScopeMeasures {
            variables: unique
                .iter()
                .enumerate()
                .filter_map(|(n, &measure)| match measure {
                    Measure::Variable(x) if model.variable(x).scope.index() == i => Some((n, x)),
                    _ => None,
                })
                .collect(),
            aggregates: model
                .aggregates()
                .iter()
                .enumerate()
                .filter(|(_, aggregate)| aggregate.scope.index() == i)
                .map(|(n, a)| (number(AggregateId::new(n).into()), a.function, number(a.of)))
                .collect(),
            interests: interests(model, i)
                .into_iter()
                .map(|interest| Wish {
                    measure: number(interest.measure),
                    is_minimized: interest.is_minimized,
                    is_counted: interest.is_counted,
                    is_own: interest.is_own,
                })
                .collect(),
            ties: model.scopes()[i].ties,
            is_settled_by_choice: model.scopes()[i].ties == Ties::Lexicographic
                || is_seen_by_nobody(model, i),
        };
        Self {
            n: unique.len(),
            root: root_measure(model).map(number),
            scopes: (0..model.scopes().len()).map(scope_measures).collect(),
        }
    }
}

/// Whether the value of the model depends on the choices of a scope although no criterion considers
/// it.
fn is_seen_by_nobody(model: &Model, scope_idx: usize) -> bool {
    let root = root_measure(model).and_then(|measure| seen(model, scope_idx, measure));
    root.is_some_and(|(measure, _)| {
        interests(model, scope_idx).iter().all(|interest| interest.measure != measure)
    })
}
