//! Unrolls several steps into one network.

use std::collections::BTreeMap;

use ludex_csp::{Expr, Network, Value, ValueSet, VarId};

use crate::bounds::Bounds;
use crate::config::{EncodeConfig, EncodeError};
use crate::prove::Group;
use crate::template::Template;

/// Several consecutive steps of a game as one network.
///
/// Its solutions are the plays that end within this many steps, each exactly once: after the end no
/// role moves and the state stays.
#[derive(Clone)]
pub struct Unrolled {
    /// The network.
    pub network: Network,
    /// For each step, the network's variable for each variable of the template.
    pub steps: Vec<Vec<VarId>>,
}

impl Template {
    /// Joins `n_steps` copies of the template: the first state is the initial one, the next state
    /// of each copy is the state of the following one, and the last state is terminal.
    ///
    /// Groups without a variable of their own are added as redundant constraints, because
    /// propagation does not derive them.
    pub fn unrolled(&self, n_steps: usize) -> Unrolled {
        let unrolled = self.unrolled_within(n_steps, &EncodeConfig::default().unbounded());
        unrolled.expect("there are no limits")
    }

    /// As [`Template::unrolled`], within the limits of time and memory of a configuration, which
    /// are checked after each step.
    ///
    /// # Errors
    /// Returns an error if a limit is reached.
    pub fn unrolled_within(
        &self,
        n_steps: usize,
        config: &EncodeConfig,
    ) -> Result<Unrolled, EncodeError> {
        let mut unrolled = self.steps_in_a_row(n_steps, config)?;
        let Unrolled { network, steps } = &mut unrolled;
        for (var, value) in self.now.iter().zip(self.values_of(&self.init)) {
            network.require(steps[0][var.index()].equals(value));
        }
        network.require(steps[n_steps][self.terminal.index()].equals(1));
        Ok(unrolled)
    }

    /// As [`Template::unrolled_within`], from any state to any state.
    ///
    /// # Errors
    /// Returns an error if a limit is reached.
    pub fn steps_in_a_row(
        &self,
        n_steps: usize,
        config: &EncodeConfig,
    ) -> Result<Unrolled, EncodeError> {
        let mut bounds = Bounds::new(config.deadline.clone(), config.max_bytes);
        let mut network = Network::new();
        let (mut mutexes, mut frames) = (Vec::new(), Vec::new());
        if config.redundancies {
            mutexes = self.mutexes();
            frames = self.frames(&config.deadline, config.max_bytes);
        }
        let mut steps: Vec<Vec<VarId>> = Vec::new();
        for step in 0..=n_steps {
            let vars = self.add_step(&mut network, step, steps.last().map(Vec::as_slice));
            for constraint in self.network.constraints() {
                let var = |var: VarId| vars[var.index()];
                network.add(constraint.renamed(&var, &|it| Expr::Var(var(it))));
            }
            add_mutexes(&mut network, &mutexes, &vars);
            for frame in &frames {
                network.table(&frame.scope.map(|var| vars[var.index()]), frame.table());
            }
            bounds.add(size_of_val(&vars[..]) as u64);
            bounds.go_on(&network)?;
            steps.push(vars);
        }
        Ok(Unrolled { network, steps })
    }

    /// Adds the variables of one copy; except in the first copy, those of its state exist already.
    fn add_step(&self, network: &mut Network, step: usize, before: Option<&[VarId]>) -> Vec<VarId> {
        let mut vars: Vec<Option<VarId>> = vec![None; self.network.variables().len()];
        if let Some(before) = before {
            for (now, next) in self.now.iter().zip(&self.next) {
                vars[now.index()] = Some(before[next.index()]);
            }
        }
        let is_next = |at: usize| self.next.binary_search(&VarId::new(at)).is_ok();
        for (at, variable) in self.network.variables().iter().enumerate() {
            if vars[at].is_none() {
                let (time, name) = match variable.name.strip_prefix("next ") {
                    Some(name) if is_next(at) => (step + 1, name),
                    _ => (step, &*variable.name),
                };
                let name = format!("{name} @{time}");
                vars[at] = Some(match &variable.labels {
                    Some(labels) => network.symbol(name, labels.iter().cloned()),
                    None => network.int(name, variable.domain.clone()),
                });
            }
        }
        vars.into_iter().map(|var| var.expect("every variable was copied")).collect()
    }

    /// Returns the groups over several variables: for each variable, the values that count.
    fn mutexes(&self) -> Vec<(bool, Vec<(VarId, ValueSet)>)> {
        let mut place_of: Vec<(usize, Value)> = vec![(0, 0); self.n_fluents];
        for (at, state_var) in self.state_vars.iter().enumerate() {
            for (place, fluent) in state_var.fluents.iter().enumerate() {
                place_of[fluent.index()] = (at, state_var.value_of(place));
            }
        }
        let parts = |group: &Group| {
            let mut values: BTreeMap<usize, Vec<Value>> = BTreeMap::new();
            for fluent in &group.fluents {
                let (at, value) = place_of[fluent.index()];
                values.entry(at).or_default().push(value);
            }
            let set = |(at, values): (usize, Vec<Value>)| (self.now[at], ValueSet::from(values));
            (group.is_exact, values.into_iter().map(set).collect::<Vec<_>>())
        };
        self.groups.iter().map(parts).filter(|(_, parts)| parts.len() > 1).collect()
    }
}

fn add_mutexes(network: &mut Network, mutexes: &[(bool, Vec<(VarId, ValueSet)>)], vars: &[VarId]) {
    for (is_exact, parts) in mutexes {
        let is_one = |(var, values): &(VarId, ValueSet)| {
            Expr::In(Box::new(Expr::Var(vars[var.index()])), values.clone())
        };
        let n_true = Expr::Sum(parts.iter().map(is_one).collect());
        network.require(if *is_exact { n_true.equals(1) } else { n_true.at_most(1) });
    }
}
