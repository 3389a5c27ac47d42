//! Lower bounds of the steps to a goal, for searches for shortest lines.

use ludex_base::{BitSet, Goal};

use super::analysis::Analysis;
use super::patterns::Patterns;
use super::relaxed::Relaxation;
use crate::portfolio::SolveOptions;

/// A way to bound the number of steps to the goal from below. Each is admissible and consistent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Estimate {
    /// Parts of the state that are not as the goal needs them, if a step changes only one of them:
    /// in a sliding puzzle, the misplaced tiles.
    Misplaced,
    /// The steps that each part of the state needs, added if a step changes only one of them: in a
    /// sliding puzzle, the Manhattan distance.
    Patterns,
    /// The steps in a game in which nothing is ever lost.
    Relaxed,
    /// Patterns or the relaxed game, whichever is larger in the first state.
    Best,
}

/// The bound of one goal.
pub(super) enum Bound<'a> {
    Zero,
    Misplaced(Patterns),
    Patterns(Patterns),
    Relaxed(Box<Relaxation<'a>>),
}

impl<'a> Bound<'a> {
    /// Creates the bound that the options ask for, or that is always zero.
    pub fn of(analysis: &'a Analysis, goal: Goal, is_wanted: bool, options: &SolveOptions) -> Self {
        if !is_wanted {
            return Bound::Zero;
        }
        let patterns = || Patterns::of(analysis, goal, &options.limits.deadline);
        let Analysis { circuit, effects, clock, state, .. } = analysis;
        let relaxed = || Box::new(Relaxation::new(circuit, effects, clock, goal));
        match options.estimate {
            Estimate::Misplaced => Bound::Misplaced(patterns()),
            Estimate::Patterns => Bound::Patterns(patterns()),
            Estimate::Relaxed => Bound::Relaxed(relaxed()),
            Estimate::Best => {
                let (patterns, mut relaxed) = (patterns(), relaxed());
                // `None`, the goal cannot be reached, is the largest bound.
                let key = |bound: Option<u32>| bound.unwrap_or(u32::MAX);
                if key(patterns.at_least(state)) >= key(relaxed.at_least(state)) {
                    Bound::Patterns(patterns)
                } else {
                    Bound::Relaxed(relaxed)
                }
            }
        }
    }

    /// Returns a lower bound of the number of steps to the goal; `None` if it cannot be reached.
    pub fn at_least(&mut self, state: &BitSet) -> Option<u32> {
        match self {
            Bound::Zero => Some(0),
            Bound::Misplaced(patterns) => Some(patterns.n_misplaced(state)),
            Bound::Patterns(patterns) => patterns.at_least(state),
            Bound::Relaxed(relaxation) => relaxation.at_least(state),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::problem::Problem;
    use ludex_base::Limits;
    use ludex_game::{Cursor, Game};
    use ludex_machine::Machine;
    use rustc_hash::FxHashMap;

    use super::*;
    use crate::puzzle::puzzle_role;
    use crate::puzzle::tests::{STAIRS, library_game, machine};

    /// Three tiles on a board of two rows and columns.
    const TILES: &str = "
        (role you) (init (cell 1 1 b)) (init (cell 1 2 3)) (init (cell 2 1 2)) (init (cell 2 2 1))
        (next-to 1 1 1 2) (next-to 1 2 1 1) (next-to 2 1 2 2) (next-to 2 2 2 1)
        (next-to 1 1 2 1) (next-to 2 1 1 1) (next-to 1 2 2 2) (next-to 2 2 1 2)
        (<= (legal you (slide ?x ?y)) (true (cell ?u ?v b)) (next-to ?u ?v ?x ?y))
        (<= (next (cell ?x ?y b)) (does you (slide ?x ?y)))
        (<= (next (cell ?u ?v ?t)) (does you (slide ?x ?y)) (true (cell ?u ?v b))
            (true (cell ?x ?y ?t)))
        (<= (next (cell ?u ?v ?t)) (does you (slide ?x ?y)) (true (cell ?u ?v ?t))
            (distinct ?t b) (other ?u ?v ?x ?y))
        (<= (other ?u ?v ?x ?y) (next-to ?u ?v ?a ?b) (next-to ?x ?y ?c ?d) (distinct ?u ?x))
        (<= (other ?u ?v ?x ?y) (next-to ?u ?v ?a ?b) (next-to ?x ?y ?c ?d) (distinct ?v ?y))
        (<= done (true (cell 1 1 1)) (true (cell 1 2 2)) (true (cell 2 2 3)) (true (cell 2 1 b)))
        (<= terminal done) (<= (goal you 100) done)";

    /// Checks an estimate on every state: it is admissible (never above the true number of steps)
    /// and consistent (it falls by at most one in a step, so the sum of steps done and to come never
    /// falls). Returns the estimate of the first state and its true distance.
    fn check(game: &Machine, estimate: Estimate) -> (u32, u32) {
        let mut cursor = game.cursor();
        let start = cursor.state().clone();
        let problem = Problem::initial(game).with_circuit(game.circuit());
        let analysis = Analysis::of(&problem, &Limits::usual()).expect("the game is small");
        let best =
            analysis.circuit.goals.iter().map(|&(_, goal, _)| goal).max().expect("there are goals");
        let options = SolveOptions { estimate, ..SolveOptions::default() };
        let mut bound = Bound::of(&analysis, best, true, &options);
        let mut indexes = FxHashMap::from_iter([(start.clone(), 0)]);
        let mut states = vec![start.clone()];
        let mut edges: Vec<(usize, usize)> = Vec::new();
        let mut ends: Vec<usize> = Vec::new();
        let mut next = 0;
        while let Some(state) = states.get(next).cloned() {
            cursor.set_state(&state);
            if cursor.is_terminal() {
                ends.extend((cursor.goal(puzzle_role()) == best).then_some(next));
            } else {
                for chosen in cursor.legal_moves(puzzle_role()).to_vec() {
                    cursor.set_state(&state);
                    cursor.play(&[chosen]);
                    let after = *indexes.entry(cursor.state().clone()).or_insert_with(|| {
                        states.push(cursor.state().clone());
                        states.len() - 1
                    });
                    edges.push((next, after));
                }
            }
            next += 1;
        }
        let least: Vec<Option<u32>> = states.iter().map(|it| bound.at_least(it)).collect();
        for &(before, after) in &edges {
            if let Some(to_come) = least[after] {
                let bound = least[before].expect("what can be reached later can be reached now");
                assert!(bound <= to_come + 1, "{estimate:?}: {bound} before {to_come}");
            }
        }
        // Steps to the goal, backward from the ends.
        let mut steps = vec![u32::MAX; states.len()];
        ends.iter().for_each(|&idx| steps[idx] = 0);
        let mut has_changed = true;
        while std::mem::take(&mut has_changed) {
            for &(before, after) in &edges {
                if steps[after] != u32::MAX && steps[before] > steps[after] + 1 {
                    steps[before] = steps[after] + 1;
                    has_changed = true;
                }
            }
        }
        assert!(!ends.is_empty(), "the goal can be reached");
        for (bound, &steps) in least.iter().zip(&steps).filter(|(_, steps)| **steps != u32::MAX) {
            assert!(
                bound.is_some_and(|bound| bound <= steps),
                "{estimate:?}: {bound:?} of {steps}"
            );
        }
        (least[0].expect("the goal can be reached"), steps[0])
    }

    const ALL: [Estimate; 4] =
        [Estimate::Misplaced, Estimate::Patterns, Estimate::Relaxed, Estimate::Best];

    #[test]
    fn every_bound_is_admissible_and_consistent() {
        let names = ["buttons", "four-lights", "hanoi", "lights-on", "maze", "wolf-goat-cabbage"];
        let mut games: Vec<Machine> = names.iter().map(|name| library_game(name)).collect();
        games.push(machine(STAIRS));
        for game in &games {
            for estimate in ALL {
                let (bound, distance) = check(game, estimate);
                assert!(bound <= distance, "{estimate:?}");
            }
        }
    }

    #[test]
    fn the_patterns_of_a_sliding_puzzle_are_its_tiles() {
        let game = machine(TILES);
        // Tile 1 has two steps to go, tile 2 two, and tile 3 one.
        assert_eq!(check(&game, Estimate::Patterns).0, 5);
        assert_eq!(check(&game, Estimate::Misplaced).0, 3);
        // The blank has further to go than any tile, and a step moves it and a tile.
        let (before, after) = TILES.split_once("(init (cell 1 1 b))").expect("the blank is there");
        let (_, after) = after.split_once("(init (cell 2 2 1))").expect("tile 1 is there");
        let start =
            "(init (cell 1 1 1)) (init (cell 1 2 b)) (init (cell 2 1 3)) (init (cell 2 2 2))";
        let far = machine(&[before, start, after].concat());
        assert_eq!(check(&far, Estimate::Patterns), (2, 2));
        assert_eq!(check(&far, Estimate::Misplaced), (2, 2));
        let (best, distance) = check(&game, Estimate::Best);
        assert!((5..=distance).contains(&best), "{best} of {distance}");
    }
}
