//! Depth-first proof-number search: proves what takes the fewest states to prove.
//!
//! A state has two numbers: about how many states must still be decided to prove that the role can
//! force the goal, and how many to refute it. Where one move is enough, the smallest number of the
//! successors counts. Where all moves matter, the largest counts, and one for each other move that
//! is open. Adding them up would count states that several moves lead to again and again. The search
//! goes to the state that decides most, and stays below it until another one looks better.
//!
//! Play that returns to a state of its path forces nothing. What follows from that depends on the
//! path, so it is passed back to the states before, but not stored. If the path returns only to a
//! state or to states below it, the refutation holds whatever came before; it is stored, marked as
//! one by play without end.
//!
//! Meant for two roles without chance, of whom one chooses at a time; best for few goals, long
//! forced lines and states with few moves.
//!
//! After Nagai, *Df-pn algorithm for searching AND/OR trees and its applications*, 2002, and Ueda,
//! Hashimoto, Hashimoto and Iida, *Weak proof-number search*, 2008.

use ludex_base::{Deadline, Goal, RoleId, StopReason};
use ludex_game::{Cursor, Describe, Game, StateOf};
use rustc_hash::FxHashMap;

use super::buckets::Buckets;
use super::questions::{MAX_DEPTH, Oracle, Questions, choices, with_stack};
use super::transpositions::{Fingerprint, Sums};
use crate::folded::Folded;
use crate::method::Method;
use crate::portfolio::SolveOptions;
use crate::problem::Problem;
use crate::progress::Progress;

/// The deadline is checked after this many moves.
const N_UNCHECKED: u64 = 256;
/// The largest table, in bytes.
const MAX_TABLE_BYTES: u64 = 2 << 30;
/// A number that no proof reaches.
const NEVER: u32 = u32::MAX / 2;

/// Asks for the value of each role, as far as the limits allow.
///
/// Returns why it stopped before everything was known.
pub(crate) fn search<G: Describe>(
    problem: &Problem<'_, G>,
    options: &SolveOptions,
    progress: &Progress,
) -> Option<StopReason> {
    let Some(questions) = Questions::of(Method::ProofNumber, problem, options) else {
        return Some(StopReason::Count);
    };
    let oracle = |role| Search::of(problem, role, options);
    with_stack(|| questions.ask_all(progress, oracle).err()).unwrap_or(Some(StopReason::Memory))
}

/// The two numbers of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Numbers {
    proof: u32,
    disproof: u32,
}

impl Numbers {
    const NEW: Numbers = Numbers { proof: 1, disproof: 1 };

    fn decided(answer: bool) -> Self {
        let (proof, disproof) = if answer { (0, NEVER) } else { (NEVER, 0) };
        Self { proof, disproof }
    }

    fn answer(self) -> Option<bool> {
        match self {
            Numbers { proof: 0, .. } => Some(true),
            Numbers { disproof: 0, .. } => Some(false),
            _ => None,
        }
    }

    /// Returns the number of the role that chooses, and that of the other.
    fn seen_by(self, is_own: bool) -> (u32, u32) {
        if is_own { (self.proof, self.disproof) } else { (self.disproof, self.proof) }
    }

    /// Returns the numbers of a state from those of its successors.
    fn of_successors<S>(children: &[Child<S>], is_own: bool) -> Self {
        let (mut least, mut most, mut n_open) = (NEVER, 0, 0);
        for child in children {
            let (chooser, other) = child.numbers.seen_by(is_own);
            least = least.min(chooser);
            most = most.max(other);
            n_open += u32::from(other > 0);
        }
        let other = if most >= NEVER { NEVER } else { (most + n_open.max(1) - 1).min(NEVER - 1) };
        let other = if least == 0 { NEVER } else { other };
        let (proof, disproof) = if is_own { (least, other) } else { (other, least) };
        Self { proof, disproof }
    }
}

/// How far a refutation depends on the path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Loops {
    /// The least depth of a state that the path returns to; [`NO_LOOP`] if it does not matter.
    depth: usize,
    /// Whether play without end is a part of it.
    is_endless: bool,
}

const NO_LOOP: usize = usize::MAX;

impl Loops {
    const NONE: Loops = Loops { depth: NO_LOOP, is_endless: false };

    fn with(self, other: Loops) -> Self {
        Self { depth: self.depth.min(other.depth), is_endless: self.is_endless || other.is_endless }
    }
}

/// A successor.
struct Child<S> {
    state: S,
    key: Fingerprint,
    place: usize,
    numbers: Numbers,
    loops: Loops,
}

/// Whether the role itself chooses in a state, and the successors.
type Successors<S> = (bool, Vec<Child<S>>);

/// What is stored about a state.
#[derive(Clone, Copy, Debug)]
struct Entry {
    numbers: Numbers,
    is_endless: bool,
    /// The move that decided, if it is not too large.
    best: u16,
}

const NO_PLACE: u16 = u16::MAX;

/// The questions about one role and what their answers have shown.
struct Search<'a, G: Game> {
    /// The game to search.
    game: &'a G,
    folded: Option<&'a Folded<G>>,
    cursor: G::Cursor,
    role: RoleId,
    deadline: Deadline,
    table: Buckets<Entry>,
    table_bytes: u64,
    /// The goal that the table is about.
    goal: Option<Goal>,
    sums: Sums,
    /// The depth of each state of the path.
    path: FxHashMap<Fingerprint, usize>,
    max_nodes: u64,
    n_nodes: u64,
    n_moves: u64,
    n_unreported: u64,
}

impl<'a, G: Game> Search<'a, G> {
    fn of(problem: &Problem<'a, G>, role: RoleId, options: &SolveOptions) -> Self {
        let game = problem.searched();
        let table_bytes = (options.limits.max_bytes / 2).min(MAX_TABLE_BYTES);
        Self {
            cursor: game.cursor(),
            game,
            folded: problem.folded,
            role,
            deadline: options.limits.deadline.clone(),
            table: Buckets::within(table_bytes),
            table_bytes,
            goal: None,
            sums: Sums::default(),
            path: FxHashMap::default(),
            max_nodes: options.max_nodes,
            n_nodes: 0,
            n_moves: 0,
            n_unreported: 0,
        }
    }

    /// Searches a state until one of its numbers reaches a limit. Returns its numbers, and what they
    /// depend on if they refute.
    fn widen(
        &mut self,
        state: &StateOf<G>,
        key: Fingerprint,
        goal: Goal,
        limits: Numbers,
        depth: usize,
    ) -> Result<(Numbers, Loops), StopReason> {
        // Step 1. Stop at the limits.
        self.n_nodes += 1;
        self.n_unreported += 1;
        let n_before = self.n_nodes;
        if depth > MAX_DEPTH || self.n_nodes > self.max_nodes {
            return Err(StopReason::Count);
        }

        // Step 2. Find out who chooses, and list the successors with what is known about them.
        self.path.insert(key, depth);
        let (is_own, mut children) = self.children(state, goal)?;

        // Step 3. Go to the most promising successor again and again.
        let (limit, other_limit) = limits.seen_by(is_own);
        let numbers = loop {
            let numbers = Numbers::of_successors(&children, is_own);
            let (chooser, other) = numbers.seen_by(is_own);
            if chooser >= limit || other >= other_limit || numbers.answer().is_some() {
                break numbers;
            }
            let rank = |child: &Child<StateOf<G>>| child.numbers.seen_by(is_own);
            let (mut best, mut second) = (0, NEVER);
            for idx in 1..children.len() {
                if rank(&children[idx]) < rank(&children[best]) {
                    second = rank(&children[best]).0;
                    best = idx;
                } else {
                    second = second.min(rank(&children[idx]).0);
                }
            }
            // A little more than the second best, so that the search does not go to and fro.
            let own = limit.min(second.saturating_add(1 + second / 4)).min(NEVER);
            let n_open = children.iter().filter(|it| it.numbers.seen_by(is_own).1 > 0).count();
            let rest = other_limit.saturating_sub(n_open as u32 - 1);
            let (proof, disproof) = if is_own { (own, rest) } else { (rest, own) };
            let child = &children[best];
            let found =
                self.widen(&child.state, child.key, goal, Numbers { proof, disproof }, depth + 1)?;
            (children[best].numbers, children[best].loops) = found;
        };
        self.path.remove(&key);

        // Step 4. Remember the numbers, unless they depend on the path.
        let decider = children.iter().find(|child| {
            numbers.answer() == Some(is_own) && child.numbers.answer() == Some(is_own)
        });
        let mut loops = match (numbers.answer(), decider) {
            (Some(false), Some(decider)) => decider.loops,
            (Some(false), None) => {
                children.iter().fold(Loops::NONE, |loops, child| loops.with(child.loops))
            }
            _ => Loops::NONE,
        };
        if loops.depth < depth {
            return Ok((numbers, loops));
        }
        loops.depth = NO_LOOP;
        let best = decider.and_then(|it| u16::try_from(it.place).ok()).unwrap_or(NO_PLACE);
        let entry = Entry { numbers, is_endless: loops.is_endless, best };
        self.table.store(key, entry, self.n_nodes - n_before + 1);
        Ok((numbers, loops))
    }

    /// Returns whether the role itself chooses in a state, and the successors of the state.
    fn children(
        &mut self,
        state: &StateOf<G>,
        goal: Goal,
    ) -> Result<Successors<StateOf<G>>, StopReason> {
        self.cursor.set_state(state);
        let (chooser, moves, mut joint) = choices(self.game, &mut self.cursor)?;
        let is_own = chooser == self.role;
        let mut children = Vec::with_capacity(moves.len());
        for (place, &chosen) in moves.iter().enumerate() {
            if place > 0 {
                self.cursor.set_state(state);
            }
            joint[chooser.index()] = chosen;
            self.cursor.play(&joint);
            self.n_moves += 1;
            if self.n_moves.is_multiple_of(N_UNCHECKED)
                && let Some(stop) = self.deadline.stop_reason()
            {
                return Err(stop);
            }
            let key = Fingerprint::of(self.cursor.state());
            // Play must not return to a state of the path, unless that state is decided.
            let repeated = self.path.get(&key).copied();
            let stored = self.table.find(key);
            let stored = stored.filter(|it| repeated.is_none() || it.numbers.answer().is_some());
            let (numbers, loops) = match (stored, repeated) {
                (Some(entry), _) => {
                    (entry.numbers, Loops { depth: NO_LOOP, is_endless: entry.is_endless })
                }
                (None, Some(depth)) => (Numbers::decided(false), Loops { depth, is_endless: true }),
                (None, None) if self.cursor.is_terminal() => {
                    (Numbers::decided(self.end() >= goal), Loops::NONE)
                }
                (None, None) => (Numbers::NEW, Loops::NONE),
            };
            if self.cursor.has_fault() {
                return Err(StopReason::Fault);
            }
            let is_last = numbers.answer() == Some(is_own);
            let state = self.cursor.state().clone();
            children.push(Child { state, key, place, numbers, loops });
            if is_last {
                break;
            }
        }
        Ok((is_own, children))
    }

    /// Returns the goal of the role in the cursor's state, which is terminal.
    fn end(&mut self) -> Goal {
        let rival = RoleId::new(1 - self.role.index());
        let (own, other) = (self.cursor.goal(self.role), self.cursor.goal(rival));
        self.sums.note(own, other);
        own
    }
}

impl<G: Game> Oracle<StateOf<G>> for Search<'_, G> {
    fn ask(&mut self, state: &StateOf<G>, goal: Goal) -> Result<Option<bool>, StopReason> {
        let canonical = self.folded.map(|folded| folded.canonical(state));
        let state = canonical.as_ref().unwrap_or(state);
        self.path.clear();
        if self.goal != Some(goal) {
            self.table = Buckets::within(self.table_bytes);
            self.goal = Some(goal);
        }
        self.cursor.set_state(state);
        if self.cursor.is_terminal() {
            return Ok(Some(self.end() >= goal));
        }
        let key = Fingerprint::of(state);
        let known = self.table.find(key).filter(|entry| entry.numbers.answer().is_some());
        let (numbers, is_endless) = match known {
            Some(entry) => (entry.numbers, entry.is_endless),
            None => {
                let limits = Numbers { proof: NEVER, disproof: NEVER };
                let (numbers, loops) = self.widen(state, key, goal, limits, 0)?;
                (numbers, loops.is_endless)
            }
        };
        match numbers.answer() {
            Some(false) if is_endless => Ok(None),
            Some(answer) => Ok(Some(answer)),
            // The numbers have grown beyond all measure.
            None => Err(StopReason::Count),
        }
    }

    fn best(&self, state: &StateOf<G>) -> Option<usize> {
        if self.folded.is_some() {
            // The places of moves in a canonical state are others.
            return None;
        }
        let entry = self.table.find(Fingerprint::of(state))?;
        (entry.best != NO_PLACE).then_some(usize::from(entry.best))
    }

    fn sum(&self) -> Option<u8> {
        self.sums.only()
    }

    fn take_nodes(&mut self) -> u64 {
        std::mem::take(&mut self.n_unreported)
    }
}
