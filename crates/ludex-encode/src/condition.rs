//! Conditions on a few variables, in their smallest form.
//!
//! A gate of a circuit becomes a [`GateCondition`] over variables of the network. Conditions are
//! joined while they stay small; the caller replaces larger ones by auxiliary variables.

use std::sync::Arc;

use ludex_csp::propagators::table::STAR;
use ludex_csp::{Value, VarId};

/// The maximal number of combinations of values of a [`Dense`] condition.
pub const MAX_CELLS: usize = 256;
/// The maximal number of variables of a [`Dense`] condition.
pub const MAX_VARS: usize = 6;

/// A condition on variables whose values are 0, 1, ….
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum GateCondition {
    /// Always true or always false.
    Constant(bool),
    /// A variable has one of some values.
    Member(Member),
    /// Listed for all combinations of values of a few variables.
    Dense(Arc<Dense>),
}

/// A variable has one of some values, or none of them.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Member {
    /// The variable.
    pub var: VarId,
    /// The values, ascending: not empty, not all, and at most half of them.
    pub values: Arc<[Value]>,
    /// Whether the value is one of them.
    pub is_inside: bool,
}

/// The truth for each combination of values, the last variable changing fastest.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Dense {
    /// The variables, ascending; at least two, and the condition depends on each.
    pub vars: Vec<VarId>,
    /// The number of values of each variable.
    pub sizes: Vec<usize>,
    /// The truth of each combination.
    pub cells: Vec<bool>,
}

impl GateCondition {
    /// Returns the condition that the variable has the value.
    pub fn equals(var: VarId, value: Value, size: usize) -> GateCondition {
        GateCondition::member(var, vec![value], true, size)
    }

    /// Returns the condition that the variable has one of the values, given in ascending order, or
    /// none of them.
    pub fn member(var: VarId, values: Vec<Value>, is_inside: bool, size: usize) -> GateCondition {
        if values.is_empty() {
            return GateCondition::Constant(!is_inside);
        }
        if values.len() == size {
            return GateCondition::Constant(is_inside);
        }
        // At most half of the values are listed; in a tie, the half with the last value.
        let n = values.len();
        if 2 * n > size || (2 * n == size && values.binary_search(&(size as Value - 1)).is_err()) {
            let mut listed = values.iter().peekable();
            let others = (0..size as Value).filter(|v| listed.next_if(|&&it| it == *v).is_none());
            return GateCondition::Member(Member {
                var,
                values: others.collect(),
                is_inside: !is_inside,
            });
        }
        GateCondition::Member(Member { var, values: values.into(), is_inside })
    }

    /// Returns the negation.
    pub fn negated(&self) -> GateCondition {
        match self {
            GateCondition::Constant(value) => GateCondition::Constant(!value),
            GateCondition::Member(member) => GateCondition::Member(member.negated()),
            GateCondition::Dense(dense) => {
                let cells = dense.cells.iter().map(|cell| !cell).collect();
                GateCondition::Dense(Arc::new(Dense { cells, ..(**dense).clone() }))
            }
        }
    }

    /// Returns the variables.
    pub fn vars(&self) -> &[VarId] {
        match self {
            GateCondition::Constant(_) => &[],
            GateCondition::Member(member) => std::slice::from_ref(&member.var),
            GateCondition::Dense(dense) => &dense.vars,
        }
    }

    /// Returns its size in memory, without shared parts.
    pub fn n_bytes(&self) -> u64 {
        let listed = match self {
            GateCondition::Constant(_) => 0,
            GateCondition::Member(member) => size_of_val(&*member.values),
            GateCondition::Dense(dense) => {
                size_of::<Dense>() + 16 * dense.vars.len() + dense.cells.len()
            }
        };
        (size_of::<GateCondition>() + listed) as u64
    }

    /// Whether it holds for values of its variables, in their order.
    pub fn holds(&self, values: &[Value]) -> bool {
        match self {
            GateCondition::Constant(value) => *value,
            GateCondition::Member(member) => member.holds(values[0]),
            GateCondition::Dense(dense) => {
                let place = dense.sizes.iter().zip(values);
                dense.cells[place.fold(0, |place, (size, &value)| place * size + value as usize)]
            }
        }
    }
}

impl Dense {
    /// Returns the members whose conjunction it is, or whose conjunction it negates if `wanted` is
    /// false; `None` if it has no such form.
    pub fn members(&self, wanted: bool) -> Option<Vec<GateCondition>> {
        let mut occurs: Vec<Vec<bool>> = self.sizes.iter().map(|&size| vec![false; size]).collect();
        let mut n_wanted = 0;
        for (at, _) in self.cells.iter().enumerate().filter(|(_, cell)| **cell == wanted) {
            n_wanted += 1;
            let mut rest = at;
            for (values, &size) in occurs.iter_mut().zip(&self.sizes).rev() {
                values[rest % size] = true;
                rest /= size;
            }
        }
        let mut n_product = 1;
        let mut members = Vec::with_capacity(self.vars.len());
        for (&var, values) in self.vars.iter().zip(&occurs) {
            let listed = (0..values.len()).filter(|&value| values[value]);
            let listed: Vec<Value> = listed.map(|value| value as Value).collect();
            n_product *= listed.len();
            members.push(GateCondition::member(var, listed, true, values.len()));
        }
        (n_product == n_wanted).then_some(members)
    }
}

impl Member {
    /// Returns the negation.
    pub fn negated(&self) -> Member {
        Member { is_inside: !self.is_inside, ..self.clone() }
    }

    /// Whether it holds for a value of the variable.
    pub fn holds(&self, value: Value) -> bool {
        self.values.binary_search(&value).is_ok() == self.is_inside
    }
}

/// A few variables with their numbers of values.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Scope {
    /// The variables, ascending.
    pub vars: Vec<VarId>,
    /// The number of values of each variable.
    pub sizes: Vec<usize>,
}

impl Scope {
    /// Returns the variables of some conditions, if they and their combinations are few enough.
    pub fn of<'a>(
        conditions: impl IntoIterator<Item = &'a GateCondition>,
        size_of: &dyn Fn(VarId) -> usize,
    ) -> Option<Scope> {
        let mut vars: Vec<VarId> = Vec::new();
        for condition in conditions {
            for var in condition.vars() {
                if let Err(at) = vars.binary_search(var) {
                    vars.insert(at, *var);
                }
            }
            if vars.len() > MAX_VARS {
                return None;
            }
        }
        let sizes: Vec<usize> = vars.iter().map(|&var| size_of(var)).collect();
        let n_cells = sizes.iter().try_fold(1_usize, |n, &size| n.checked_mul(size));
        n_cells.is_some_and(|n_cells| n_cells <= MAX_CELLS).then_some(Scope { vars, sizes })
    }

    /// Returns the number of combinations of values.
    pub fn n_cells(&self) -> usize {
        self.sizes.iter().product()
    }

    /// Returns the truth of a condition for each combination of values.
    pub fn cells_of(&self, condition: &GateCondition) -> Vec<bool> {
        let places: Vec<usize> = condition
            .vars()
            .iter()
            .map(|var| {
                self.vars.binary_search(var).expect("the scope has the variables of a condition")
            })
            .collect();
        let mut values = vec![0; places.len()];
        let mut tuple = vec![0; self.vars.len()];
        (0..self.n_cells())
            .map(|_| {
                for (value, &place) in values.iter_mut().zip(&places) {
                    *value = tuple[place];
                }
                let holds = condition.holds(&values);
                self.step(&mut tuple);
                holds
            })
            .collect()
    }

    /// Advances to the next combination of values.
    fn step(&self, tuple: &mut [Value]) {
        for (value, &size) in tuple.iter_mut().zip(&self.sizes).rev() {
            *value += 1;
            if (*value as usize) < size {
                return;
            }
            *value = 0;
        }
    }

    /// Returns the condition with the given truth for each combination, without irrelevant
    /// variables.
    pub fn condition(&self, cells: Vec<bool>) -> GateCondition {
        if let Some(&first) = cells.first()
            && cells.iter().all(|&cell| cell == first)
        {
            return GateCondition::Constant(first);
        }
        for place in 0..self.vars.len() {
            let stride: usize = self.sizes[place + 1..].iter().product();
            let size = self.sizes[place];
            let does_not_matter =
                (0..cells.len()).all(|at| cells[at] == cells[at - at / stride % size * stride]);
            if does_not_matter {
                let mut rest = self.clone();
                rest.vars.remove(place);
                rest.sizes.remove(place);
                let kept = (0..cells.len()).filter(|at| (at / stride).is_multiple_of(size));
                return rest.condition(kept.map(|at| cells[at]).collect());
            }
        }
        match self.vars[..] {
            [var] => {
                let values = (0..cells.len()).filter(|&at| cells[at]).map(|at| at as Value);
                GateCondition::member(var, values.collect(), true, self.sizes[0])
            }
            _ => {
                let Scope { vars, sizes } = self.clone();
                GateCondition::Dense(Arc::new(Dense { vars, sizes, cells }))
            }
        }
    }

    /// Returns disjoint short tuples that cover all combinations with a result, each followed by
    /// its result.
    pub fn short_tuples(&self, results: &[Option<Value>]) -> Vec<Vec<Value>> {
        let mut tuples = Vec::new();
        self.cover(results, &mut Vec::new(), &mut tuples);
        tuples
    }

    fn cover(
        &self,
        results: &[Option<Value>],
        prefix: &mut Vec<Value>,
        tuples: &mut Vec<Vec<Value>>,
    ) {
        if results.iter().all(|&result| result == results[0]) {
            if let Some(result) = results[0] {
                let mut tuple = prefix.clone();
                tuple.resize(self.vars.len(), STAR);
                tuple.push(result);
                tuples.push(tuple);
            }
            return;
        }
        let size = self.sizes[prefix.len()];
        let stride = results.len() / size;
        let is_free = (1..size)
            .all(|value| results[..stride] == results[value * stride..(value + 1) * stride]);
        if is_free {
            prefix.push(STAR);
            self.cover(&results[..stride], prefix, tuples);
            prefix.pop();
            return;
        }
        for value in 0..size {
            prefix.push(value as Value);
            self.cover(&results[value * stride..(value + 1) * stride], prefix, tuples);
            prefix.pop();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scope() -> Scope {
        Scope { vars: vec![VarId::new(3), VarId::new(5), VarId::new(8)], sizes: vec![2, 3, 2] }
    }

    #[test]
    fn a_condition_has_only_relevant_variables() {
        let [x, y] = [VarId::new(3), VarId::new(5)];
        let both = [GateCondition::equals(x, 1, 2), GateCondition::equals(y, 2, 3)];
        let cells: Vec<Vec<bool>> =
            both.iter().map(|condition| scope().cells_of(condition)).collect();
        let joined = (0..12).map(|at| cells[0][at] && cells[1][at]).collect();
        assert_eq!(scope().condition(joined).vars(), [x, y]);
        assert_eq!(scope().condition(cells[1].clone()), both[1]);
        assert_eq!(scope().condition(vec![true; 12]), GateCondition::Constant(true));
    }

    #[test]
    fn a_conjunction_of_members_is_recognized() {
        let members = [
            GateCondition::equals(VarId::new(3), 1, 2),
            GateCondition::member(VarId::new(5), vec![0, 2], true, 3),
        ];
        let two = Scope { vars: vec![VarId::new(3), VarId::new(5)], sizes: vec![2, 3] };
        let cells: Vec<Vec<bool>> =
            members.iter().map(|condition| two.cells_of(condition)).collect();
        let both: Vec<bool> = (0..6).map(|at| cells[0][at] && cells[1][at]).collect();
        let GateCondition::Dense(dense) = two.condition(both) else {
            panic!("the condition has two variables")
        };
        assert_eq!(dense.members(true).as_deref(), Some(&members[..]));
        assert_eq!(dense.members(false), None);
        let GateCondition::Dense(opposite) = GateCondition::Dense(dense).negated() else {
            panic!("as before")
        };
        assert_eq!(opposite.members(false).as_deref(), Some(&members[..]));
        let differ = (0..6).map(|at| cells[0][at] != cells[1][at]).collect();
        let GateCondition::Dense(differ) = two.condition(differ) else {
            panic!("the condition has two variables")
        };
        assert_eq!((differ.members(true), differ.members(false)), (None, None));
    }

    #[test]
    fn a_member_has_a_canonical_form() {
        let x = VarId::new(0);
        assert_eq!(
            GateCondition::member(x, vec![1, 2], true, 3),
            GateCondition::member(x, vec![0], false, 3)
        );
        assert_eq!(GateCondition::equals(x, 0, 2), GateCondition::equals(x, 1, 2).negated());
        assert_eq!(GateCondition::member(x, vec![0, 1], true, 2), GateCondition::Constant(true));
        let half = GateCondition::member(x, vec![0, 1], true, 4);
        assert_eq!(half, GateCondition::member(x, vec![2, 3], false, 4));
        assert!(half.holds(&[1]) && !half.holds(&[2]));
    }

    #[test]
    fn short_tuples_cover_each_combination_once() {
        let results: Vec<Option<Value>> =
            (0..12).map(|at| if at < 6 { Some(0) } else { (at % 2 == 0).then_some(1) }).collect();
        let tuples = scope().short_tuples(&results);
        assert_eq!(tuples, [vec![0, STAR, STAR, 0], vec![1, STAR, 0, 1]]);
    }
}
