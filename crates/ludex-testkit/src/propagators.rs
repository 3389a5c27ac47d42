//! A conformance suite for every [`Propagator`]: it enumerates all assignments of small domains and
//! trusts [`Propagator::holds`].
//!
//! It checks that no solution is pruned, that no non-solution is kept, that the claimed strength is
//! reached after any pruning, that fixpoints are stable, that entailment is reported correctly, and
//! that undoing restores the domains.

use ludex_base::Seed;
use ludex_csp::{Engine, Propagator, Value, ValueSet, VarId};

/// The pruning that a propagator claims.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Strength {
    /// Every remaining value is in a solution over the remaining values.
    Domain,
    /// Every remaining bound is in a solution within the remaining bounds.
    Bounds,
    /// Sound, and exact once all variables are fixed.
    Checking,
}

/// Runs the suite on the propagator that `make` builds over variables with these domains, and
/// returns how many assignments and prunings it judged.
///
/// # Panics
/// Panics if the propagator is wrong; the message names the domains and the tuple.
pub fn propagator_suite(
    domains: &[ValueSet],
    strength: Strength,
    make: impl Fn(&[VarId]) -> Box<dyn Propagator>,
) -> usize {
    let suite = Suite::new(domains, strength, make);
    let n_assignments = suite.every_assignment_is_judged_right();
    let prune = |seed| suite.random_prunings_keep_the_solutions(Seed(seed));
    n_assignments + (0..20).map(prune).sum::<usize>()
}

struct Suite<F> {
    scope: Vec<VarId>,
    strength: Strength,
    make: F,
    sets: Vec<ValueSet>,
    /// Every assignment to the variables that the constraint allows.
    solutions: Vec<Vec<Value>>,
    all: Vec<Vec<Value>>,
}

impl<F: Fn(&[VarId]) -> Box<dyn Propagator>> Suite<F> {
    fn new(sets: &[ValueSet], strength: Strength, make: F) -> Self {
        let scope: Vec<VarId> = (0..sets.len()).map(VarId::new).collect();
        let propagator = make(&scope);
        let mut all = vec![Vec::new()];
        for set in sets {
            all = all
                .iter()
                .flat_map(|tuple| set.iter().map(move |value| [&tuple[..], &[value]].concat()))
                .collect();
            assert!(all.len() <= 200_000, "the suite enumerates all assignments");
        }
        let holds = |tuple: &Vec<Value>| {
            let seen: Vec<Value> = propagator.scope().iter().map(|x| tuple[x.index()]).collect();
            propagator.holds(&seen)
        };
        let solutions = all.iter().filter(|tuple| holds(tuple)).cloned().collect();
        Self { scope, strength, make, sets: sets.to_vec(), solutions, all }
    }

    fn engine(&self) -> Engine {
        let mut engine = Engine::new();
        for set in &self.sets {
            engine.add_variable(set).expect("the suite uses small domains");
        }
        engine.post((self.make)(&self.scope));
        engine
    }

    fn every_assignment_is_judged_right(&self) -> usize {
        let mut engine = self.engine();
        let result = engine.propagate();
        self.check(&mut engine, result.is_ok(), "at the root");
        if result.is_err() {
            // A conflict at the root judges all of them at once.
            return self.all.len();
        }
        let mut n_judged = 0;
        let before = snapshot(&engine);
        let step = self.all.len().div_ceil(2000);
        for tuple in self.all.iter().step_by(step).chain(self.solutions.iter().take(2000)) {
            let fixed = engine.inject(self.scope.iter().copied().zip(tuple.iter().copied()));
            assert_eq!(
                fixed.is_ok(),
                self.solutions.binary_search(tuple).is_ok(),
                "the propagator misjudges {tuple:?} over {:?}",
                self.sets
            );
            engine.pop_level();
            assert_eq!(snapshot(&engine), before, "undoing {tuple:?} does not restore the domains");
            n_judged += 1;
        }
        n_judged
    }

    fn random_prunings_keep_the_solutions(&self, seed: Seed) -> usize {
        let mut engine = self.engine();
        if engine.propagate().is_err() {
            return 0;
        }
        let mut n_judged = 0;
        let mut rng = seed.rng();
        let mut snapshots = vec![snapshot(&engine)];
        for _ in 0..60 {
            if rng.below(4) == 0 && snapshots.len() > 1 {
                engine.pop_level();
                snapshots.pop();
                assert_eq!(snapshot(&engine), *snapshots.last().expect("the root is left"));
                continue;
            }
            engine.push_level();
            let mut pruned = snapshots.last().expect("the root is left").clone();
            let result = engine.decide(|domains| {
                for _ in 0..=rng.below(2) {
                    let x = self.scope[rng.below(self.scope.len())];
                    let values: Vec<Value> = domains.values(x).collect();
                    let value = values[rng.below(values.len())];
                    match rng.below(8) {
                        0 => domains.fix(x, value)?,
                        1 => domains.at_least(x, value)?,
                        2 => domains.at_most(x, value)?,
                        _ if values.len() > 1 => domains.remove(x, value)?,
                        _ => false,
                    };
                }
                pruned = domains.variables().map(|x| domains.values(x).collect()).collect();
                Ok(true)
            });
            let n_left = self.solutions_in(&pruned).count();
            let context = format!("after prunings to {pruned:?}");
            if result.is_err() {
                assert_eq!(n_left, 0, "a conflict {context}, but {n_left} solutions are left");
                engine.pop_level();
                continue;
            }
            let now = snapshot(&engine);
            assert_eq!(self.solutions_in(&now).count(), n_left, "a solution was pruned {context}");
            self.check(&mut engine, true, &context);
            snapshots.push(now);
            n_judged += 1;
        }
        n_judged
    }

    fn solutions_in<'a>(
        &'a self,
        domains: &'a [Vec<Value>],
    ) -> impl Iterator<Item = &'a Vec<Value>> {
        self.solutions.iter().filter(move |tuple| {
            tuple.iter().zip(domains).all(|(value, domain)| domain.binary_search(value).is_ok())
        })
    }

    /// Checks the invariants of a fixpoint.
    fn check(&self, engine: &mut Engine, is_consistent: bool, context: &str) {
        if !is_consistent {
            assert!(
                self.solutions.is_empty() || engine.level() > 0,
                "a conflict {context}, but there are solutions over {:?}",
                self.sets
            );
            return;
        }
        let now = snapshot(engine);
        if engine.level() == 0 {
            let n_left = self.solutions_in(&now).count();
            assert_eq!(n_left, self.solutions.len(), "a solution was pruned {context}");
        }
        match self.strength {
            Strength::Domain => {
                for (position, domain) in now.iter().enumerate() {
                    for value in domain {
                        assert!(
                            self.solutions_in(&now).any(|tuple| tuple[position] == *value),
                            "value {value} of variable {position} was kept {context}: {now:?}"
                        );
                    }
                }
            }
            Strength::Bounds => {
                let in_bounds = |tuple: &&Vec<Value>| {
                    tuple.iter().zip(&now).all(|(value, domain)| {
                        domain[0] <= *value && *value <= domain[domain.len() - 1]
                    })
                };
                for (position, domain) in now.iter().enumerate() {
                    for bound in [domain[0], domain[domain.len() - 1]] {
                        assert!(
                            self.solutions
                                .iter()
                                .filter(in_bounds)
                                .any(|tuple| tuple[position] == bound),
                            "bound {bound} of variable {position} was kept {context}: {now:?}"
                        );
                    }
                }
            }
            Strength::Checking => {}
        }
        for id in engine.propagator_ids() {
            if engine.is_entailed(id) {
                let n_assignments: usize = now.iter().map(Vec::len).product();
                let n_solutions = self.solutions_in(&now).count();
                assert_eq!(n_solutions, n_assignments, "not entailed {context}: {now:?}");
            }
            engine.schedule(id);
        }
        assert!(engine.propagate().is_ok(), "not a fixpoint {context}: {now:?}");
        assert_eq!(snapshot(engine), now, "not a fixpoint {context}");
    }
}

fn snapshot(engine: &Engine) -> Vec<Vec<Value>> {
    engine.domains().variables().map(|x| engine.domains().values(x).collect()).collect()
}

/// Defines tests of the suite, each by a name, domains, the claimed strength, and the propagator.
///
/// ```ignore
/// propagator_suite! {
///     not_equal: [-2..=2, -2..=2], Domain, |vars| NotEqual::new(vars[0], vars[1], 0);
/// }
/// ```
#[macro_export]
macro_rules! propagator_suite {
    ($($name:ident: [$($domain:expr),* $(,)?], $strength:ident, |$vars:ident| $make:expr;)*) => {$(
        #[test]
        fn $name() {
            let n_judged = $crate::propagators::propagator_suite(
                &[$(ludex_csp::ValueSet::from($domain)),*],
                $crate::propagators::Strength::$strength,
                |$vars| Box::new($make),
            );
            assert!(n_judged >= 20, "only {n_judged} states were judged");
        }
    )*};
}
