//! Normal forms: games in which every role chooses once, all simultaneously.
//!
//! | result | method | games |
//! | --- | --- | --- |
//! | best responses | enumeration | any number of roles |
//! | pure equilibria | enumeration of joint choices | any number of roles |
//! | maxmin, minmax | linear programming | any number of roles, the others joined into one |
//! | an equilibrium | pure; else both maxmins if constant-sum; else supports of equal size | two roles |
//!
//! A *mixed* choice is a probability distribution over choices.

use std::time::Duration;

use ludex_base::Deadline;
use microlp::{ComparisonOp, LinearExpr, OptimizationDirection, Problem, Variable};

/// The payoff of every role for every joint choice.
#[derive(Clone, PartialEq, Debug)]
pub struct NormalForm {
    /// The number of choices of each role.
    sizes: Vec<usize>,
    /// The payoffs of all roles, joint choice by joint choice; the last role's choice changes
    /// fastest.
    payoffs: Vec<f64>,
}

/// A mixed choice, and the payoff that it guarantees.
#[derive(Clone, PartialEq, Debug)]
pub struct Guarantee {
    /// The probability of each choice.
    pub mixed: Vec<f64>,
    /// The least payoff that it can bring.
    pub value: f64,
}

/// Linear programs of these sizes take microseconds; one that takes this long has gone astray.
const MAX_TIME: Duration = Duration::from_secs(1);
/// Pairs of supports of one size to try before giving up.
const MAX_SUPPORTS: usize = 2_000;
/// Tolerance of sums and comparisons of payoffs.
const TOLERANCE: f64 = 1e-6;

impl NormalForm {
    /// Creates a game from the numbers of choices and the payoffs.
    ///
    /// `payoffs` lists the payoffs of all roles, joint choice by joint choice; the last role's
    /// choice changes fastest.
    ///
    /// # Panics
    /// If the numbers do not fit together, or a role has no choice.
    pub fn new(sizes: &[usize], payoffs: Vec<f64>) -> Self {
        assert!(sizes.iter().all(|&size| size > 0), "every role needs a choice");
        let n_joint: usize = sizes.iter().product();
        assert_eq!(payoffs.len(), n_joint * sizes.len(), "one payoff per joint choice and role");
        Self { sizes: sizes.to_vec(), payoffs }
    }

    /// Returns the number of choices of each role.
    pub fn sizes(&self) -> &[usize] {
        &self.sizes
    }

    /// Returns the payoff of a role for a joint choice.
    pub fn payoff(&self, joint: &[usize], role: usize) -> f64 {
        let at = joint.iter().zip(&self.sizes).fold(0, |at, (choice, size)| at * size + choice);
        self.payoffs[at * self.sizes.len() + role]
    }

    /// Returns the expected payoff of a role when all roles mix their choices.
    pub fn expected(&self, profile: &[Vec<f64>], role: usize) -> f64 {
        self.joint_choices()
            .map(|joint| {
                let parts = joint.iter().zip(profile).map(|(&choice, mixed)| mixed[choice]);
                parts.product::<f64>() * self.payoff(&joint, role)
            })
            .sum()
    }

    /// Returns the best choices of a role against the mixed choices of the others. The role's own
    /// part of the profile does not matter.
    pub fn best_responses(&self, profile: &[Vec<f64>], role: usize) -> Vec<usize> {
        let values: Vec<f64> = (0..self.sizes[role])
            .map(|choice| self.expected(&with_pure(profile, role, choice, self.sizes[role]), role))
            .collect();
        let best = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        (0..values.len()).filter(|&choice| values[choice] >= best - TOLERANCE).collect()
    }

    /// Returns the most that any role could gain by changing its own choice alone; it is 0 in an
    /// equilibrium.
    pub fn largest_gain(&self, profile: &[Vec<f64>]) -> f64 {
        let gain = |role: usize| {
            let best = self.best_responses(profile, role)[0];
            let changed = with_pure(profile, role, best, self.sizes[role]);
            self.expected(&changed, role) - self.expected(profile, role)
        };
        (0..self.sizes.len()).map(gain).fold(0.0, f64::max)
    }

    /// Returns the joint choices from which no role gains by changing its own alone, in order, as
    /// far as found before the deadline.
    pub fn pure_equilibria(&self, deadline: &Deadline) -> Vec<Vec<usize>> {
        let in_time = self.joint_choices().take_while(|_| !deadline.reached());
        in_time.filter(|joint| self.is_stable(joint)).collect()
    }

    fn is_stable(&self, joint: &[usize]) -> bool {
        (0..self.sizes.len()).all(|role| {
            let own = self.payoff(joint, role);
            let mut changed = joint.to_vec();
            (0..self.sizes[role]).all(|choice| {
                changed[role] = choice;
                self.payoff(&changed, role) <= own + TOLERANCE
            })
        })
    }

    /// Returns the mixed choice of a role with the highest guaranteed payoff; `None` if linear
    /// programming fails.
    pub fn maxmin(&self, role: usize) -> Option<Guarantee> {
        let rows = self.against_all(role);
        maxmin_of_rows(&rows)
    }

    /// Returns what the others can hold a role down to if they join against it and mix as one:
    /// their mixed choice over joint choices, in order, and its value.
    pub fn minmax(&self, role: usize) -> Option<Guarantee> {
        let rows = self.against_all(role);
        let negated: Vec<Vec<f64>> =
            (0..rows[0].len()).map(|at| rows.iter().map(|row| -row[at]).collect()).collect();
        let found = maxmin_of_rows(&negated)?;
        Some(Guarantee { value: -found.value, ..found })
    }

    /// Finds an equilibrium of two roles, one mixed choice each. `None` if none was found within
    /// the limits, or if there are more or fewer roles and no pure equilibrium.
    pub fn equilibrium(&self) -> Option<Vec<Vec<f64>>> {
        if let Some(joint) = self.joint_choices().find(|joint| self.is_stable(joint)) {
            let pure = |(&choice, &size): (&usize, &usize)| pure(choice, size);
            return Some(joint.iter().zip(&self.sizes).map(pure).collect());
        }
        self.mixed_equilibrium(&Deadline::never())
    }

    /// Finds an equilibrium of a game of two roles that has no pure one.
    ///
    /// It tries no more supports after the deadline: general games with many choices have
    /// thousands.
    pub fn mixed_equilibrium(&self, deadline: &Deadline) -> Option<Vec<Vec<f64>>> {
        if self.sizes.len() != 2 || deadline.reached() {
            return None;
        }
        if self.is_constant_sum() {
            return Some(vec![self.maxmin(0)?.mixed, self.maxmin(1)?.mixed]);
        }
        (2..=self.sizes[0].min(self.sizes[1]))
            .find_map(|size| self.equilibrium_with_supports(size, deadline))
    }

    /// Whether the payoffs of every joint choice have the same sum.
    pub fn is_constant_sum(&self) -> bool {
        let mut sums = self.payoffs.chunks_exact(self.sizes.len()).map(|of| of.iter().sum::<f64>());
        let first = sums.next().unwrap_or(0.0);
        sums.all(|sum| (sum - first).abs() <= TOLERANCE)
    }

    /// Finds an equilibrium in which each of two roles mixes exactly `size` choices.
    fn equilibrium_with_supports(&self, size: usize, deadline: &Deadline) -> Option<Vec<Vec<f64>>> {
        let of_first = subsets(self.sizes[0], size);
        let of_second = subsets(self.sizes[1], size);
        let pairs = of_first.iter().flat_map(|rows| of_second.iter().map(move |cols| (rows, cols)));
        let mut in_time = pairs.take(MAX_SUPPORTS).take_while(|_| !deadline.reached());
        in_time.find_map(|(rows, cols)| {
            // Each role mixes so that the other is indifferent between its choices.
            let first = self.indifferent(0, rows, cols)?;
            let second = self.indifferent(1, cols, rows)?;
            let profile = vec![first, second];
            (self.largest_gain(&profile) <= TOLERANCE).then_some(profile)
        })
    }

    /// Mixes the choices `own` of a role so that the other role is indifferent between its choices
    /// `others`.
    fn indifferent(&self, role: usize, own: &[usize], others: &[usize]) -> Option<Vec<f64>> {
        let mut problem = Problem::new(OptimizationDirection::Maximize);
        let parts: Vec<Variable> = own.iter().map(|_| problem.add_var(0.0, (0.0, 1.0))).collect();
        let value = problem.add_var(0.0, (f64::NEG_INFINITY, f64::INFINITY));
        problem.add_constraint(sum(&parts), ComparisonOp::Eq, 1.0);
        for &other in others {
            let payoff = |choice: usize| {
                let joint = if role == 0 { [choice, other] } else { [other, choice] };
                self.payoff(&joint, 1 - role)
            };
            let worth = own.iter().zip(&parts).map(|(&choice, &part)| (part, payoff(choice)));
            let worth: LinearExpr = worth.chain([(value, -1.0)]).collect();
            problem.add_constraint(worth, ComparisonOp::Eq, 0.0);
        }
        let mixed = solve(problem, &parts)?;
        let mut all = vec![0.0; self.sizes[role]];
        own.iter().zip(mixed).for_each(|(&choice, part)| all[choice] = part);
        Some(all)
    }

    /// Returns, for each choice of a role, its payoff for each joint choice of the others.
    fn against_all(&self, role: usize) -> Vec<Vec<f64>> {
        let mut rows: Vec<Vec<f64>> = vec![Vec::new(); self.sizes[role]];
        for joint in self.joint_choices() {
            rows[joint[role]].push(self.payoff(&joint, role));
        }
        rows
    }

    /// Enumerates the joint choices; the last role's changes fastest.
    fn joint_choices(&self) -> impl Iterator<Item = Vec<usize>> + '_ {
        let n_joint: usize = self.sizes.iter().product();
        (0..n_joint).map(|mut at| {
            let mut joint = vec![0; self.sizes.len()];
            for (choice, size) in joint.iter_mut().zip(&self.sizes).rev() {
                *choice = at % size;
                at /= size;
            }
            joint
        })
    }
}

/// Mixes rows so that the smallest column is as large as possible.
fn maxmin_of_rows(rows: &[Vec<f64>]) -> Option<Guarantee> {
    let mut problem = Problem::new(OptimizationDirection::Maximize);
    let parts: Vec<Variable> = rows.iter().map(|_| problem.add_var(0.0, (0.0, 1.0))).collect();
    let value = problem.add_var(1.0, (f64::NEG_INFINITY, f64::INFINITY));
    problem.add_constraint(sum(&parts), ComparisonOp::Eq, 1.0);
    for column in 0..rows[0].len() {
        let least = rows.iter().zip(&parts).map(|(row, &part)| (part, row[column]));
        let least: LinearExpr = least.chain([(value, -1.0)]).collect();
        problem.add_constraint(least, ComparisonOp::Ge, 0.0);
    }
    let mixed = solve(problem, &parts)?;
    // The guarantee of the normalized mix, which may differ a little from the program's objective.
    let worth = |column: usize| rows.iter().zip(&mixed).map(|(row, part)| part * row[column]).sum();
    let value = (0..rows[0].len()).map(worth).fold(f64::INFINITY, f64::min);
    Some(Guarantee { mixed, value })
}

/// Solves a program and returns the values of `parts`, scaled to sum to 1.
fn solve(mut problem: Problem, parts: &[Variable]) -> Option<Vec<f64>> {
    problem.set_time_limit(MAX_TIME);
    let solution = problem.solve().ok()?.into_solution().ok()?;
    let mut mixed: Vec<f64> = parts.iter().map(|&part| solution.var_value(part).max(0.0)).collect();
    let total: f64 = mixed.iter().sum();
    mixed.iter_mut().for_each(|part| *part /= total);
    (total > 0.5).then_some(mixed)
}

fn sum(parts: &[Variable]) -> LinearExpr {
    parts.iter().map(|&part| (part, 1.0)).collect()
}

fn pure(choice: usize, size: usize) -> Vec<f64> {
    let mut mixed = vec![0.0; size];
    mixed[choice] = 1.0;
    mixed
}

fn with_pure(profile: &[Vec<f64>], role: usize, choice: usize, size: usize) -> Vec<Vec<f64>> {
    let mut changed = profile.to_vec();
    changed[role] = pure(choice, size);
    changed
}

/// Returns the sets of `size` of the first `n` numbers, at most [`MAX_SUPPORTS`] of them.
fn subsets(n: usize, size: usize) -> Vec<Vec<usize>> {
    let mut found = Vec::new();
    let mut set: Vec<usize> = (0..size).collect();
    while found.len() < MAX_SUPPORTS {
        found.push(set.clone());
        let Some(idx) = (0..size).rev().find(|&idx| set[idx] < n - size + idx) else {
            break;
        };
        set[idx] += 1;
        for later in idx + 1..size {
            set[later] = set[later - 1] + 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;

    /// A game of two roles from a table of pairs of payoffs.
    fn table<const N: usize>(rows: &[[(f64, f64); N]]) -> NormalForm {
        let payoffs = rows.iter().flatten().flat_map(|&(first, second)| [first, second]);
        NormalForm::new(&[rows.len(), N], payoffs.collect())
    }

    fn assert_near(found: &[f64], expected: &[f64]) {
        assert_eq!(found.len(), expected.len());
        let is_near = found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-5);
        assert!(is_near, "{found:?} for {expected:?}");
    }

    /// [000 Ex 1.2, Table 1.2]
    #[test]
    fn the_table_of_the_example_has_two_pure_equilibria() {
        let game =
            table(&[[(5.0, 2.0), (4.0, 4.0), (5.0, 4.0)], [(3.0, 1.0), (2.0, 0.0), (6.0, 2.0)]]);
        assert_eq!(game.pure_equilibria(&Deadline::never()), [vec![0, 1], vec![1, 2]]);
        assert_eq!(game.payoff(&[1, 2], 0), 6.0);
        let profile = [pure(0, 2), pure(1, 3)];
        assert_eq!(game.best_responses(&profile, 0), [0]);
        assert_eq!(game.best_responses(&profile, 1), [1, 2]);
        assert_eq!(game.largest_gain(&game.equilibrium().expect("a pure one")), 0.0);
    }

    #[test]
    fn pennies_and_roshambo_are_mixed_evenly() {
        let pennies = table(&[[(1.0, 0.0), (0.0, 1.0)], [(0.0, 1.0), (1.0, 0.0)]]);
        assert!(pennies.pure_equilibria(&Deadline::never()).is_empty());
        let found = pennies.equilibrium().expect("there is one");
        assert_near(&found[0], &[0.5, 0.5]);
        assert_near(&found[1], &[0.5, 0.5]);
        let (w, l, d) = ((1.0, -1.0), (-1.0, 1.0), (0.0, 0.0));
        let roshambo = table(&[[d, l, w], [w, d, l], [l, w, d]]);
        let third = [1.0 / 3.0; 3];
        for mixed in roshambo.equilibrium().expect("there is one") {
            assert_near(&mixed, &third);
        }
        assert!(roshambo.maxmin(0).expect("solved").value.abs() < 1e-6);
    }

    /// One role wants to meet, the other to avoid it: the only equilibrium is mixed.
    #[test]
    fn supports_find_equilibria_of_general_sum_games() {
        let chase = table(&[[(3.0, 0.0), (0.0, 2.0)], [(0.0, 1.0), (1.0, 0.0)]]);
        assert!(chase.pure_equilibria(&Deadline::never()).is_empty() && !chase.is_constant_sum());
        let found = chase.equilibrium().expect("there is one");
        // The second role is indifferent at 1/3, the first at 1/4.
        assert_near(&found[0], &[1.0 / 3.0, 2.0 / 3.0]);
        assert_near(&found[1], &[0.25, 0.75]);
    }

    #[test]
    fn three_roles_have_pure_equilibria_and_guarantees() {
        // The minority wins; nobody wins if all choose the same.
        let mut payoffs = Vec::new();
        for at in 0..8 {
            let choices = [at >> 2 & 1, at >> 1 & 1, at & 1];
            let n_ones: usize = choices.iter().sum();
            payoffs.extend(choices.map(|own| {
                let n_like = if own == 1 { n_ones } else { 3 - n_ones };
                if n_like == 1 { 1.0 } else { 0.0 }
            }));
        }
        let game = NormalForm::new(&[2, 2, 2], payoffs);
        assert_eq!(game.pure_equilibria(&Deadline::never()).len(), 6);
        assert!(game.maxmin(0).expect("solved").value.abs() < 1e-6);
        assert!(game.minmax(0).expect("solved").value.abs() < 1e-6);
    }

    /// In constant-sum games the guarantees of both roles meet; in no game does a role gain by a
    /// change.
    #[test]
    fn random_games_have_equilibria() {
        let mut rng = Seed(5).rng();
        for n in 0..300 {
            let sizes = [1 + rng.below(5), 1 + rng.below(5)];
            let is_constant = n % 2 == 0;
            let mut payoffs = Vec::new();
            for _ in 0..sizes[0] * sizes[1] {
                let first = rng.below(11) as f64 / 10.0;
                payoffs.push(first);
                payoffs.push(if is_constant { 1.0 - first } else { rng.below(11) as f64 / 10.0 });
            }
            let game = NormalForm::new(&sizes, payoffs);
            for role in 0..2 {
                let (most, least) = (game.maxmin(role), game.minmax(role));
                let (most, least) = (most.expect("solved").value, least.expect("solved").value);
                assert!((most - least).abs() < 1e-5, "game {n}: {most} {least}");
            }
            match game.equilibrium() {
                Some(profile) => assert!(game.largest_gain(&profile) < 1e-5, "game {n}"),
                // Degenerate games may have equilibria with supports of different sizes only.
                None => assert!(!is_constant, "game {n}"),
            }
        }
    }
}
