//! Facts needed one step before a goal is reached, learned from the ends of random games.
//!
//! Take the last state before the end and the last joint move, and remove facts one at a time. The
//! facts without which the move no longer ends the game with that goal form a conjunction:
//! offensive for the role whose goal it is, and defensive for the others. A state is graded by how
//! few facts of each conjunction it lacks.
//!
//! After Kirci, Sturtevant and Schaeffer, *A GGP Feature Learning Algorithm* (GIFL), 2011. They
//! follow features further back and use them in playouts; we use them as numbers for an evaluation.

use std::ops::ControlFlow;

use ludex_base::{BitSet, Deadline, Goal, MoveId, Rng, RoleId, Seed};
use ludex_circuit::Circuit;
use ludex_game::{Cursor, Game, Graded, PlayEnd, PlayVisitor, RandomPlay, stop_if};
use rustc_hash::FxHashSet;

/// By role, the facts needed to reach its best goal.
#[derive(Debug)]
pub struct Conjunctions {
    names: Vec<String>,
    /// By named role: lists of fluents.
    facts: Vec<Vec<Vec<u32>>>,
}

/// Larger conjunctions are too specific to be useful.
const MAX_FACTS: usize = 10;
/// Conjunctions kept per role.
const MAX_KEPT: usize = 128;
/// Random games played.
const N_GAMES: usize = 400;
/// Gates evaluated in total, and per end of a game.
const MAX_GATES: usize = 100_000_000;
const MAX_GATES_AN_END: usize = 10_000_000;
/// A conjunction that lacks more facts than this counts for nothing; each missing fact multiplies
/// its value by the factor below.
const MAX_MISSING: usize = 2;
const MISSING_FACTOR: f32 = 0.25;

impl Conjunctions {
    /// Learns from random games until the deadline; returns `None` if there was nothing to learn.
    pub fn learn<G: Game>(
        game: &G,
        circuit: &Circuit,
        seed: Seed,
        deadline: &Deadline,
    ) -> Option<Self> {
        let roles = || game.role_ids().filter(|role| !game.roles()[role.index()].is_random);
        let best = |role: RoleId| {
            circuit.goals.iter().filter(|goal| goal.0 == role).map(|goal| goal.1).max()
        };
        let mut found: Vec<FxHashSet<Vec<u32>>> = roles().map(|_| FxHashSet::default()).collect();
        let mut rng = seed.rng();
        let mut cursor = game.cursor();
        let initial = cursor.state().clone();
        let before = cursor.fluents()?.clone();
        let mut play = RandomPlay::new(game.roles().len());
        let mut last = LastState { before, deadline };
        let mut n_gates = 0;
        'games: for _ in 0..N_GAMES {
            cursor.set_state(&initial);
            let n_steps = match play.run(&mut cursor, &mut rng, &mut last) {
                PlayEnd::Terminal(n_steps) => n_steps,
                PlayEnd::NoLegalMove(_) => return None,
                PlayEnd::TooLong | PlayEnd::Stopped => break,
            };
            for (role, found) in roles().zip(&mut found) {
                let goal = cursor.goal(role);
                if n_steps == 0 || Some(goal) != best(role) || found.len() >= MAX_KEPT {
                    continue;
                }
                let cost = 2 * last.before.count() * circuit.n_gates();
                n_gates += cost;
                if cost > MAX_GATES_AN_END || n_gates > MAX_GATES || deadline.reached() {
                    break 'games;
                }
                let needed = needed(circuit, &last.before, play.last_joint(), role, goal);
                if (1..=MAX_FACTS).contains(&needed.len()) {
                    found.insert(needed);
                }
            }
        }
        let mut facts: Vec<Vec<Vec<u32>>> =
            found.into_iter().map(|found| found.into_iter().collect()).collect();
        for list in &mut facts {
            list.sort_unstable();
            leave_out_common(list);
            leave_out_parts(list);
        }
        let name = |role: RoleId| format!("conjunctions of {}", circuit.vocabulary.role_text(role));
        let names = roles().map(name).collect();
        facts.iter().any(|list| !list.is_empty()).then_some(Self { names, facts })
    }
}

/// Visitor that keeps the last state that is not terminal.
struct LastState<'a> {
    before: BitSet,
    deadline: &'a Deadline,
}

impl<C: Cursor> PlayVisitor<C> for LastState<'_> {
    fn before(&mut self, cursor: &mut C, _n_steps: usize, _rng: &mut Rng) -> ControlFlow<()> {
        self.before.copy_from(cursor.fluents().expect("the engine numbers fluents"));
        stop_if(self.deadline.reached())
    }
}

/// Returns the facts without which a joint move does not end the game with that goal.
fn needed(
    circuit: &Circuit,
    before: &BitSet,
    joint: &[MoveId],
    role: RoleId,
    goal: Goal,
) -> Vec<u32> {
    let mut state = before.clone();
    let mut is_needed = |fluent: usize| {
        state.remove(fluent);
        let ends = ends_with(circuit, &state, joint, role, goal);
        state.insert(fluent);
        !ends
    };
    before.iter().filter(|&fluent| is_needed(fluent)).map(|fluent| fluent as u32).collect()
}

/// Whether a joint move is legal and ends the game with that goal of a role.
fn ends_with(
    circuit: &Circuit,
    state: &BitSet,
    joint: &[MoveId],
    role: RoleId,
    goal: Goal,
) -> bool {
    let values = circuit.evaluate(state, joint);
    if !joint.iter().all(|played| values[circuit.legal[played.index()].index()]) {
        return false;
    }
    let mut after = BitSet::new(circuit.vocabulary.fluents.len());
    let next = circuit.next.iter().enumerate().filter(|(_, gate)| values[gate.index()]);
    next.for_each(|(fluent, _)| after.insert(fluent));
    let values = circuit.evaluate(&after, &[]);
    let reached = circuit.goals.iter().filter(|it| it.0 == role && values[it.2.index()]);
    values[circuit.terminal.index()] && reached.map(|it| it.1).max() == Some(goal)
}

/// Removes the facts common to all conjunctions, such as whose turn it is.
fn leave_out_common(list: &mut Vec<Vec<u32>>) {
    if list.len() > 1 {
        let (first, others) = list.split_first().expect("there are several");
        let mut common = first.clone();
        common.retain(|fluent| others.iter().all(|it| it.binary_search(fluent).is_ok()));
        for facts in &mut *list {
            facts.retain(|fluent| !common.contains(fluent));
        }
        list.retain(|facts| !facts.is_empty());
        list.dedup();
    }
}

/// Removes conjunctions contained in others: they arise when two lines are completed at once, so
/// that no fact of either is needed.
fn leave_out_parts(list: &mut Vec<Vec<u32>>) {
    let is_part = |facts: &Vec<u32>| {
        let has_all = |larger: &&Vec<u32>| {
            larger.len() > facts.len() && facts.iter().all(|it| larger.binary_search(it).is_ok())
        };
        list.iter().any(|larger| has_all(&larger))
    };
    let is_whole: Vec<bool> = list.iter().map(|facts| !is_part(facts)).collect();
    let mut is_whole = is_whole.into_iter();
    list.retain(|_| is_whole.next().expect("one answer each"));
}

impl Graded for Conjunctions {
    fn names(&self) -> &[String] {
        &self.names
    }

    fn grade(&self, fluents: &BitSet, _desk: &mut Vec<f32>, values: &mut Vec<f32>) {
        for list in &self.facts {
            let degree = |facts: &Vec<u32>| {
                let mut n_missing = 0;
                for &fact in facts {
                    n_missing += usize::from(!fluents.contains(fact as usize));
                    if n_missing > MAX_MISSING {
                        return 0.0;
                    }
                }
                MISSING_FACTOR.powi(n_missing as i32)
            };
            values.push(list.iter().map(degree).sum());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::library;

    /// In tic-tac-toe a win needs two marks of a line and the empty third cell; whose turn it is
    /// was removed as common to all.
    #[test]
    fn two_marks_and_an_empty_cell_win_tic_tac_toe() {
        let machine = library("tictactoe");
        let circuit = machine.circuit();
        let found = Conjunctions::learn(&machine, circuit, Seed(1), &Deadline::never());
        let found = found.expect("random games are won");
        let text = |&fluent: &u32| {
            circuit.vocabulary.fluent_text(ludex_base::FluentId::new(fluent as usize))
        };
        for (list, mark) in found.facts.iter().zip(["x", "o"]) {
            // Eight lines times three last cells; a rare combination may not have occurred.
            assert!((22..=24).contains(&list.len()), "{mark}: {}", list.len());
            for facts in list {
                let texts: Vec<String> = facts.iter().map(text).collect();
                let of = |content: &str| {
                    texts.iter().filter(|it| it.ends_with(&format!(" {content})"))).count()
                };
                assert_eq!((texts.len(), of(mark), of("b")), (3, 2, 1), "{texts:?}");
            }
        }
    }

    #[test]
    fn missing_facts_reduce_the_value() {
        let names = vec!["of r".to_string()];
        let it = Conjunctions { names, facts: vec![vec![vec![0, 1, 2], vec![3]]] };
        let value = |true_fluents: &[usize]| {
            let mut fluents = BitSet::new(4);
            true_fluents.iter().for_each(|&fluent| fluents.insert(fluent));
            let mut values = Vec::new();
            it.grade(&fluents, &mut Vec::new(), &mut values);
            values[0]
        };
        assert_eq!(value(&[]), 0.25);
        assert_eq!(value(&[0]), 0.0625 + 0.25);
        assert_eq!(value(&[0, 1, 2]), 1.25);
        assert_eq!(value(&[0, 1, 3]), 1.25);
    }
}
