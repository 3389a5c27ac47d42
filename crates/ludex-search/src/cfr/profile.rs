//! Exact values of strategies: for the roles that play them, and for best responses.

use ludex_base::RoleId;

use super::form::{ExtensiveForm, Node};
use super::solver::moves_of;

/// One strategy for every role of a form: the probability of each move of each set, set after set.
#[derive(Clone, Copy, Debug)]
pub struct Profile<'a> {
    form: &'a ExtensiveForm,
    parts: &'a [f64],
}

impl<'a> Profile<'a> {
    /// Wraps strategies as [`Solver::means`](super::Solver::means) returns them.
    ///
    /// # Panics
    /// If `parts` does not have one number per move.
    pub fn new(form: &'a ExtensiveForm, parts: &'a [f64]) -> Self {
        assert_eq!(parts.len(), form.n_moves(), "one number per move");
        Self { form, parts }
    }

    /// Returns the expected goal of a role, 0 to 1.
    pub fn value(&self, role: RoleId) -> f64 {
        // Children have larger ids than their parents.
        let mut values = vec![0.0; self.form.n_nodes()];
        for id in (0..values.len()).rev() {
            values[id] = match self.form.nodes[id] {
                Node::End { first_goal } => self.form.goal(first_goal, role),
                Node::Chance { first, n } => self.after_chance(first, n, &values),
                Node::Choice { set, first } => {
                    let parts = self.parts[moves_of(&self.form.sets[set as usize])].iter();
                    let edges = &self.form.edges[first as usize..];
                    parts.zip(edges).map(|(part, edge)| part * values[edge.0 as usize]).sum()
                }
            };
        }
        values[0]
    }

    /// Returns the goal of a role's best response to the strategies of all others, 0 to 1.
    pub fn best_response(&self, role: RoleId) -> f64 {
        let form = self.form;
        // Step 1. Compute the probability that the others let each node happen.
        let mut reach = vec![0.0; form.n_nodes()];
        reach[0] = 1.0;
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); form.sets.len()];
        for id in 0..reach.len() {
            match form.nodes[id] {
                Node::End { .. } => {}
                Node::Chance { first, n } => {
                    for edge in &form.edges[first as usize..(first + n) as usize] {
                        reach[edge.0 as usize] = reach[id] * f64::from(edge.1);
                    }
                }
                Node::Choice { set, first } => {
                    let info = &form.sets[set as usize];
                    if info.role == role {
                        members[set as usize].push(id as u32);
                    }
                    for (move_idx, idx) in moves_of(info).enumerate() {
                        let part = if info.role == role { 1.0 } else { self.parts[idx] };
                        reach[form.edges[first as usize + move_idx].0 as usize] = reach[id] * part;
                    }
                }
            }
        }
        // Step 2. Choose one move for all nodes of each set, the deepest sets first. Because of
        // perfect recall, everything that follows a set belongs to sets that are settled already.
        let mut best = Best {
            profile: *self,
            role,
            reach,
            members,
            values: vec![f64::NAN; form.n_nodes()],
            chosen: vec![None; form.sets.len()],
        };
        best.value(0)
    }

    /// Returns what the roles could gain on average if each knew the others' strategies; 0 in an
    /// equilibrium.
    pub fn exploitability(&self, roles: impl Iterator<Item = RoleId>) -> f64 {
        let gains: Vec<f64> =
            roles.map(|role| self.best_response(role) - self.value(role)).collect();
        gains.iter().sum::<f64>() / gains.len().max(1) as f64
    }

    fn after_chance(&self, first: u32, n: u32, values: &[f64]) -> f64 {
        let edges = &self.form.edges[first as usize..(first + n) as usize];
        edges.iter().map(|edge| f64::from(edge.1) * values[edge.0 as usize]).sum()
    }
}

struct Best<'a> {
    profile: Profile<'a>,
    role: RoleId,
    reach: Vec<f64>,
    /// The nodes of each set of the role.
    members: Vec<Vec<u32>>,
    /// The value of each node for the role; NaN until it is known.
    values: Vec<f64>,
    chosen: Vec<Option<usize>>,
}

impl Best<'_> {
    fn value(&mut self, id: u32) -> f64 {
        if !self.values[id as usize].is_nan() {
            return self.values[id as usize];
        }
        let form = self.profile.form;
        let value = match form.nodes[id as usize] {
            Node::End { first_goal } => form.goal(first_goal, self.role),
            Node::Chance { first, n } => {
                let edges = &form.edges[first as usize..(first + n) as usize];
                edges.iter().map(|edge| f64::from(edge.1) * self.value(edge.0)).sum()
            }
            Node::Choice { set, first } => {
                let info = &form.sets[set as usize];
                if info.role == self.role {
                    let move_idx = self.choose(set);
                    self.value(form.edges[first as usize + move_idx].0)
                } else {
                    let edges = &form.edges[first as usize..];
                    let parts = &self.profile.parts[moves_of(info)];
                    parts.iter().zip(edges).map(|(part, edge)| part * self.value(edge.0)).sum()
                }
            }
        };
        self.values[id as usize] = value;
        value
    }

    /// Returns the move that is best over all nodes of a set.
    fn choose(&mut self, set: u32) -> usize {
        if let Some(move_idx) = self.chosen[set as usize] {
            return move_idx;
        }
        let members = std::mem::take(&mut self.members[set as usize]);
        let form = self.profile.form;
        let n_moves = form.sets[set as usize].moves.len();
        let mut sums = vec![0.0; n_moves];
        for &id in &members {
            let Node::Choice { first, .. } = form.nodes[id as usize] else { continue };
            for (move_idx, sum) in sums.iter_mut().enumerate() {
                *sum +=
                    self.reach[id as usize] * self.value(form.edges[first as usize + move_idx].0);
            }
        }
        let best =
            (0..n_moves).max_by(|&a, &b| sums[a].total_cmp(&sums[b])).expect("a set has moves");
        self.chosen[set as usize] = Some(best);
        best
    }
}
