//! What is known so far, shared by all methods that work on a problem.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Instant;

use ludex_base::{Deadline, Goal, MoveId, RoleId};
use ludex_verify::{Proof, Value};

use crate::Method;
use crate::solution::{Bounds, Evidence, Solution, points};

/// What is known so far about a problem. Methods add to it from any thread; others may read it at
/// any time.
///
/// Invariant: the bounds only ever get closer, and they contain the value.
pub struct Progress {
    known: Mutex<Solution>,
    start: Instant,
    n_states: AtomicU64,
    n_nodes: AtomicU64,
    /// Set when the bounds of every role have met.
    settled: Arc<AtomicBool>,
    listener: Option<Listener>,
}

type Listener = Box<dyn Fn(&Solution) + Send + Sync>;

impl Progress {
    /// Creates a record in which nothing is known.
    pub fn new() -> Self {
        let known = Solution {
            bounds: Vec::new(),
            line: Vec::new(),
            method: None,
            evidence: Evidence::Rules,
            is_shortest: false,
            means: Vec::new(),
            proofs: Arc::from([]),
            n_states: 0,
            n_nodes: 0,
            time: std::time::Duration::ZERO,
            stopped: None,
        };
        Self {
            known: Mutex::new(known),
            start: Instant::now(),
            n_states: AtomicU64::new(0),
            n_nodes: AtomicU64::new(0),
            settled: Arc::default(),
            listener: None,
        }
    }

    /// Creates a record that calls `listener` whenever a bound or the line changes.
    pub fn with_listener(listener: impl Fn(&Solution) + Send + Sync + 'static) -> Self {
        Self { listener: Some(Box::new(listener)), ..Self::new() }
    }

    /// Returns what is known now.
    pub fn solution(&self) -> Solution {
        self.completed(&self.known())
    }

    /// Returns the bounds for a role.
    pub fn bounds(&self, role: RoleId) -> Bounds {
        self.known().bounds.get(role.index()).copied().unwrap_or(Bounds::ANY)
    }

    /// Returns whether the value of every role is known.
    pub fn is_settled(&self) -> bool {
        self.settled.load(Relaxed)
    }

    /// Returns a deadline that is also reached when the value of every role is known.
    pub fn until_settled(&self, deadline: &Deadline) -> Deadline {
        deadline.clone().or_when(Arc::clone(&self.settled))
    }

    /// Sets the bounds that the rules alone imply.
    pub(crate) fn begin(&self, bounds: Vec<Bounds>) {
        let mut known = self.known();
        known.bounds = bounds;
        self.changed(&known);
    }

    /// Records a line that was played to its end and gives a role this goal. The caller vouches
    /// that the role can enforce it.
    pub(crate) fn reached(&self, method: Method, role: RoleId, goal: Goal, line: &[Vec<MoveId>]) {
        let mut known = self.known();
        let lower = known.bounds[role.index()].lower;
        let is_first = known.line.is_empty() && goal == lower;
        if goal <= lower && !is_first {
            return;
        }
        known.bounds[role.index()].lower = goal;
        known.line = line.to_vec();
        known.method = Some(method);
        known.is_shortest = false;
        self.changed(&known);
    }

    /// Records a proof that a role cannot reach more than this goal.
    pub(crate) fn refuted_above(
        &self,
        method: Method,
        role: RoleId,
        goal: Goal,
        evidence: Evidence,
    ) {
        let mut known = self.known();
        let bounds = &mut known.bounds[role.index()];
        if goal >= bounds.upper {
            return;
        }
        bounds.upper = goal;
        known.evidence = evidence;
        known.method = known.method.or(Some(method));
        self.changed(&known);
    }

    /// Records a line that no line with at least this goal is shorter than.
    pub(crate) fn found_shortest(
        &self,
        method: Method,
        role: RoleId,
        goal: Goal,
        line: &[Vec<MoveId>],
    ) {
        let mut known = self.known();
        if goal < known.bounds[role.index()].lower {
            return;
        }
        if line.len() < known.line.len() {
            known.line = line.to_vec();
            known.method = Some(method);
        }
        known.is_shortest = true;
        self.changed(&known);
    }

    /// Records bounds that strategies prove, one pair for each role; the line and the proofs count
    /// if they are not empty.
    pub(crate) fn prove(
        &self,
        method: Method,
        bounds: &[(Value, Value)],
        line: &[Vec<MoveId>],
        proofs: Vec<Proof>,
    ) {
        let whole = |value: f64| Goal::new(value as u32).expect("values are at most 100");
        let mut known = self.known();
        let mut has_changed = false;
        let is_whole = |value: Value| points(value).fract() == 0.0;
        if bounds.iter().any(|&(lower, upper)| !is_whole(lower) || !is_whole(upper)) {
            known.means = bounds.to_vec();
            has_changed = true;
        }
        for (known, &(lower, upper)) in known.bounds.iter_mut().zip(bounds) {
            let (lower, upper) = (whole(points(lower).floor()), whole(points(upper).ceil()));
            has_changed |= lower > known.lower || upper < known.upper;
            known.lower = known.lower.max(lower);
            known.upper = known.upper.min(upper);
        }
        if !proofs.is_empty() {
            known.proofs = proofs.into();
        }
        if has_changed {
            known.method = Some(method);
            known.evidence = Evidence::Strategy;
            if !line.is_empty() {
                known.line = line.to_vec();
            }
        }
        self.changed(&known);
    }

    /// Adds to the counts of states and nodes.
    pub(crate) fn count(&self, n_states: u64, n_nodes: u64) {
        self.n_states.fetch_add(n_states, Relaxed);
        self.n_nodes.fetch_add(n_nodes, Relaxed);
    }

    fn known(&self) -> MutexGuard<'_, Solution> {
        self.known.lock().expect("no method panics while it reports")
    }

    fn completed(&self, known: &Solution) -> Solution {
        Solution {
            n_states: self.n_states.load(Relaxed),
            n_nodes: self.n_nodes.load(Relaxed),
            time: self.start.elapsed(),
            ..known.clone()
        }
    }

    fn changed(&self, known: &Solution) {
        debug_assert!(known.bounds.iter().all(|it| it.lower <= it.upper), "{:?}", known.bounds);
        if known.is_solved() {
            self.settled.store(true, Relaxed);
        }
        if let Some(listener) = &self.listener {
            listener(&self.completed(known));
        }
    }
}

impl Default for Progress {
    fn default() -> Self {
        Self::new()
    }
}
