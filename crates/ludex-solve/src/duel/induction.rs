//! Backward induction over a graph without cycles: chance, moves at the same time, several roles.
//!
//! [`Guarantees`] bounds what one role gets against all the others. Chance counts by its mean, and
//! where both sides choose at the same time, linear programming finds mixed choices. These are
//! rounded to whole weights, and the value that the rounded choice guarantees is what counts, so
//! the bounds hold whatever the precision; they differ by less than [`TOLERANCE`](crate::solution::TOLERANCE) points where
//! everything is known.
//!
//! [`Induction`] lets every role play for itself. Where several moves are best for the role, the
//! first counts.

use std::hash::Hash;

use ludex_base::{Deadline, Goal, RoleId};
use ludex_game::Role;
use ludex_search::normal::NormalForm;
use ludex_verify::Value;

use super::graph::{Graph, Shape, StateNumber};
use crate::solution::points;

/// The weights of a mixed choice add up to about this.
const TOTAL_WEIGHT: f64 = 1e9;

/// Bounds on what a role gets in each state if all the others play against it.
pub(crate) struct Guarantees {
    lower: Vec<Value>,
    upper: Vec<Value>,
}

impl Guarantees {
    /// Sweeps over the states, each after its successors; open states can still have any goal up to
    /// `most`. Checks the deadline in every 64th state, and returns `None` when it is reached.
    pub(crate) fn of<S: Clone + Eq + Hash>(
        graph: &Graph<S>,
        order: &[StateNumber],
        roles: &[Role],
        role: RoleId,
        most: Goal,
        deadline: &Deadline,
    ) -> Option<Self> {
        let mut found =
            Self { lower: vec![Value::MIN; graph.len()], upper: vec![most.into(); graph.len()] };
        for (idx, &number) in order.iter().enumerate() {
            if idx.is_multiple_of(64) && deadline.reached() {
                return None;
            }
            let (lower, upper) = match graph.shape(number) {
                Shape::Open => continue,
                Shape::Terminal(goals) => (goals[role.index()].into(), goals[role.index()].into()),
                Shape::Single(chooser, successors) => {
                    let choose = |values: &[Value], is_up| {
                        let after = successors.iter().map(|&it| values[it as usize]);
                        let chosen = if chooser == role {
                            after.max()
                        } else if roles[chooser.index()].is_random {
                            Some(Value::mean(after.map(|value| (1, value)), is_up))
                        } else {
                            after.min()
                        };
                        chosen.expect("a state before the end has a successor")
                    };
                    (choose(&found.lower, false), choose(&found.upper, true))
                }
                Shape::Joint(sizes, successors) => {
                    let matrix = Matrix::of(sizes, roles, role);
                    let lower = matrix.best_rows(&matrix.cells(successors, &found.lower, false));
                    let upper = matrix.best_columns(&matrix.cells(successors, &found.upper, true));
                    (lower.1, upper.1)
                }
            };
            found.lower[number as usize] = lower;
            found.upper[number as usize] = upper;
        }
        Some(found)
    }

    /// Returns the bounds in a state.
    pub(crate) fn bounds(&self, number: StateNumber) -> (Value, Value) {
        (self.lower[number as usize], self.upper[number as usize])
    }

    /// Returns what the role plays in a state to get its lower bound: places of its own moves, with
    /// weights.
    pub(crate) fn own_choice(
        &self,
        shape: Shape<'_>,
        roles: &[Role],
        role: RoleId,
    ) -> Vec<(usize, u32)> {
        match shape {
            Shape::Single(chooser, successors) if chooser == role => {
                let worth = |&place: &usize| self.lower[successors[place] as usize];
                vec![((0..successors.len()).rev().max_by_key(worth).unwrap_or(0), 1)]
            }
            Shape::Joint(sizes, successors) => {
                let matrix = Matrix::of(sizes, roles, role);
                matrix.best_rows(&matrix.cells(successors, &self.lower, false)).0
            }
            _ => vec![(0, 1)],
        }
    }

    /// Returns what the others play in a state to hold the role to its upper bound: places among
    /// their joint moves, with weights.
    pub(crate) fn others_choice(
        &self,
        shape: Shape<'_>,
        roles: &[Role],
        role: RoleId,
    ) -> Vec<(usize, u32)> {
        match shape {
            Shape::Single(chooser, successors)
                if chooser != role && !roles[chooser.index()].is_random =>
            {
                let worth = |&place: &usize| self.upper[successors[place] as usize];
                vec![((0..successors.len()).min_by_key(worth).unwrap_or(0), 1)]
            }
            Shape::Joint(sizes, successors) => {
                let matrix = Matrix::of(sizes, roles, role);
                matrix.best_columns(&matrix.cells(successors, &self.upper, true)).0
            }
            _ => vec![(0, 1)],
        }
    }
}

/// How the joint moves of a state lie in a matrix: rows are moves of one role, columns joint moves
/// of the others, and a cell has as many joint moves as chance has moves.
pub(crate) struct Matrix {
    n_rows: usize,
    n_columns: usize,
    /// For each joint move its row and column.
    pub(crate) places: Vec<(usize, usize)>,
}

/// A mixed choice: places with weights.
pub(crate) type Mixed = Vec<(usize, u32)>;

impl Matrix {
    pub(crate) fn of(sizes: &[u32], roles: &[Role], role: RoleId) -> Self {
        let n_joints: u32 = sizes.iter().product();
        let (mut n_columns, n_rows) = (1, sizes[role.index()] as usize);
        for (idx, &size) in sizes.iter().enumerate() {
            if idx != role.index() && !roles[idx].is_random {
                n_columns *= size as usize;
            }
        }
        let place = |joint: u32| {
            let (mut row, mut column, mut left) = (0, 0, joint);
            let mut stride = n_joints;
            for (idx, &size) in sizes.iter().enumerate() {
                stride /= size;
                let chosen = (left / stride) as usize;
                left %= stride;
                if idx == role.index() {
                    row = chosen;
                } else if !roles[idx].is_random {
                    column = column * size as usize + chosen;
                }
            }
            (row, column)
        };
        Self { n_rows, n_columns, places: (0..n_joints).map(place).collect() }
    }

    /// Returns the mean of each cell, row by row.
    fn cells(&self, successors: &[StateNumber], values: &[Value], is_up: bool) -> Vec<Value> {
        let mut parts: Vec<Vec<(u64, Value)>> = vec![Vec::new(); self.n_rows * self.n_columns];
        for (&successor, &(row, column)) in successors.iter().zip(&self.places) {
            parts[row * self.n_columns + column].push((1, values[successor as usize]));
        }
        parts.into_iter().map(|part| Value::mean(part.into_iter(), is_up)).collect()
    }

    /// Returns the mixed row with the largest guarantee that was found, and that guarantee.
    fn best_rows(&self, cells: &[Value]) -> (Mixed, Value) {
        let guarantee = |mixed: &Mixed| {
            let column = |column: usize| {
                let cell = |&(row, weight): &(usize, u32)| {
                    (u64::from(weight), cells[row * self.n_columns + column])
                };
                Value::mean(mixed.iter().map(cell), false)
            };
            (0..self.n_columns).map(column).min().expect("there is a column")
        };
        let pure = (0..self.n_rows).map(|row| vec![(row, 1)]);
        let pure = pure.map(|mixed| (guarantee(&mixed), mixed)).rev().max_by_key(|it| it.0);
        let (value, mixed) = pure.expect("there is a row");
        let most = (0..self.n_columns)
            .map(|column| (0..self.n_rows).map(|row| cells[row * self.n_columns + column]).max())
            .min()
            .flatten();
        if self.n_columns > 1 && most > Some(value) {
            let form = self.form(cells);
            if let Some(found) = form.maxmin(0) {
                let weighed = weighed(&found.mixed);
                let guaranteed = guarantee(&weighed);
                if guaranteed > value {
                    return (weighed, guaranteed);
                }
            }
        }
        (mixed, value)
    }

    /// Returns the mixed column that holds the rows to the smallest value that was found, and that
    /// value.
    fn best_columns(&self, cells: &[Value]) -> (Mixed, Value) {
        let held = |mixed: &Mixed| {
            let row = |row: usize| {
                let cell = |&(column, weight): &(usize, u32)| {
                    (u64::from(weight), cells[row * self.n_columns + column])
                };
                Value::mean(mixed.iter().map(cell), true)
            };
            (0..self.n_rows).map(row).max().expect("there is a row")
        };
        let pure = (0..self.n_columns).map(|column| vec![(column, 1)]);
        let pure = pure.map(|mixed| (held(&mixed), mixed)).min_by_key(|it| it.0);
        let (value, mixed) = pure.expect("there is a column");
        let least = cells.chunks(self.n_columns).map(|row| row.iter().copied().min()).max();
        if self.n_rows > 1 && least.flatten() < Some(value) {
            let form = self.form(cells);
            if let Some(found) = form.minmax(0) {
                let weighed = weighed(&found.mixed);
                let held = held(&weighed);
                if held < value {
                    return (weighed, held);
                }
            }
        }
        (mixed, value)
    }

    fn form(&self, cells: &[Value]) -> NormalForm {
        let payoffs = cells.iter().flat_map(|&cell| [points(cell), -points(cell)]).collect();
        NormalForm::new(&[self.n_rows, self.n_columns], payoffs)
    }
}

fn weighed(mixed: &[f64]) -> Mixed {
    let weigh = |part: &f64| (part.clamp(0.0, 1.0) * TOTAL_WEIGHT).round() as u32;
    let all: Mixed = mixed.iter().map(weigh).enumerate().filter(|it| it.1 > 0).collect();
    if all.is_empty() { vec![(0, 1)] } else { all }
}

/// What each role gets in each state if every role plays for itself.
pub(crate) struct Induction {
    n_roles: usize,
    values: Vec<Value>,
    /// The place of the chosen move.
    places: Vec<u32>,
}

impl Induction {
    /// Sweeps over the states of a complete graph, each after its successors; `None` if several
    /// roles choose at the same time.
    pub(crate) fn of<S: Clone + Eq + Hash>(
        graph: &Graph<S>,
        order: &[StateNumber],
        roles: &[Role],
    ) -> Option<Self> {
        let n_roles = roles.len();
        let mut found = Self {
            n_roles,
            values: vec![Value::MIN; graph.len() * n_roles],
            places: vec![0; graph.len()],
        };
        for &number in order {
            let values = match graph.shape(number) {
                Shape::Open => return None,
                Shape::Terminal(goals) => goals.iter().map(|&goal| goal.into()).collect(),
                Shape::Single(chooser, successors) if roles[chooser.index()].is_random => {
                    found.mean(successors.iter().copied())
                }
                Shape::Single(chooser, successors) => {
                    let worth = |&place: &usize| found.values(successors[place])[chooser.index()];
                    let best = (0..successors.len()).rev().max_by_key(worth)?;
                    found.places[number as usize] = best as u32;
                    found.values(successors[best]).to_vec()
                }
                Shape::Joint(sizes, successors) => {
                    let is_chooser = |&idx: &usize| sizes[idx] > 1 && !roles[idx].is_random;
                    let mut choosers = (0..n_roles).filter(is_chooser);
                    let (Some(chooser), None) = (choosers.next(), choosers.next()) else {
                        return None;
                    };
                    let chooser = RoleId::new(chooser);
                    let matrix = Matrix::of(sizes, roles, chooser);
                    let means = (0..matrix.n_rows).map(|row| {
                        let joints = matrix.places.iter().zip(successors);
                        found.mean(joints.filter(|(place, _)| place.0 == row).map(|it| *it.1))
                    });
                    means.rev().max_by_key(|values: &Vec<Value>| values[chooser.index()])?
                }
            };
            let at = number as usize * n_roles;
            found.values[at..at + n_roles].copy_from_slice(&values);
        }
        Some(found)
    }

    /// Returns the values of a state, one for each role.
    pub(crate) fn values(&self, number: StateNumber) -> &[Value] {
        let at = number as usize * self.n_roles;
        &self.values[at..at + self.n_roles]
    }

    /// Returns the place of the move chosen in a state where one role chooses.
    pub(crate) fn place(&self, number: StateNumber) -> usize {
        self.places[number as usize] as usize
    }

    fn mean(&self, successors: impl Iterator<Item = StateNumber> + Clone) -> Vec<Value> {
        let of = |role: usize| {
            let parts = successors.clone().map(|it| (1, self.values(it)[role]));
            Value::mean(parts, false)
        };
        (0..self.n_roles).map(of).collect()
    }
}
