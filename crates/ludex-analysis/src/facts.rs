//! Counters, boards and pieces: what families of fluents represent.
//!
//! A family consists of all fluents of one name. Which of them are never true together shows what
//! its arguments are:
//!
//! - If an argument runs along an [`Order`] and has one value at a time, the family is a *counter*,
//!   or several counters, one for each value of the other arguments. A counter that advances in
//!   every step is a *clock*.
//! - If an argument has one value at a time for each value of the others, and is not ordered, it is
//!   the *content* of a *board*, and the others are its coordinates, ordered or not.
//! - If each value of an unordered argument is at one place of the others at a time, it is a piece,
//!   and again the family is a board.
//! - A family with coordinates and nothing else marks the cells of a board.
//!
//! A *piece* is a possible content of a cell. It belongs to a role if it appeared only when that
//! role had a choice.
//!
//! Mutual exclusion, clocks and owners are observed in random games, so they are not certain.
//! [`Board::is_proved`] and [`Counter::is_proved`] say whether `ludex-encode` proved the exclusion.

use std::fmt::Write as _;

use ludex_base::{BitSet, Deadline, FluentId, RoleId, Seed, Symbol};
use ludex_circuit::Circuit;
use ludex_encode::{Group, GroupEffort, find_groups};
use ludex_game::Game;
use ludex_gdl::TermId;
use ludex_ground::Vocabulary;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::orders::{Order, find_orders, order_of};
use crate::watch::{Step, watch};

/// The structure found in a game.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Facts {
    /// The chains of successor relations.
    pub orders: Vec<Order>,
    /// Ordered fluents of which one is true at a time.
    pub counters: Vec<Counter>,
    /// Families with coordinates.
    pub boards: Vec<Board>,
}

/// Fluents along an order, of which at most one is true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counter {
    /// The fluents of the family, with `?` for the argument that counts: `(heap a ?)`.
    pub name: String,
    /// Index of its order in [`Facts::orders`].
    pub order: usize,
    /// Each fluent with the index of its value in the order, ascending.
    pub values: Vec<(i32, FluentId)>,
    /// Whether it advanced by one value in every observed step.
    pub is_clock: bool,
    /// Whether it is proved that at most one fluent is true.
    pub is_proved: bool,
}

/// A family with coordinates.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Board {
    /// The name of the family.
    pub name: Symbol,
    /// The arguments that name a cell.
    pub coordinates: Vec<Coordinate>,
    /// The arguments that name the content, ascending; empty if fluents only mark cells.
    pub content: Vec<usize>,
    /// Whether a cell has at most one content.
    pub is_exclusive: bool,
    /// Whether it is proved that a cell has at most one content, or a piece at most one cell.
    pub is_proved: bool,
    /// The possible contents of cells.
    pub pieces: Vec<Piece>,
}

/// An argument of a board that names a coordinate.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Coordinate {
    /// Index of the argument.
    pub argument: usize,
    /// Index of the order of its values in [`Facts::orders`], if any.
    pub order: Option<usize>,
    /// Number of values.
    pub n_values: usize,
}

/// A possible content of a cell.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Piece {
    /// The content, one term for each argument of [`Board::content`].
    pub content: Vec<TermId>,
    /// The owner, if observed.
    pub owner: Option<RoleId>,
    /// Whether it was ever placed on a cell.
    pub comes: bool,
    /// Whether it was ever removed from a cell.
    pub goes: bool,
    /// Its possible cells: each fluent, with its index along each ordered coordinate.
    pub cells: Vec<(FluentId, Vec<Option<i32>>)>,
}

/// Limits of the search for facts.
#[derive(Clone, Debug)]
pub struct Effort {
    /// Steps of random games to observe.
    pub n_steps: usize,
    /// Effort to prove mutual exclusion; by default none.
    pub proof: GroupEffort,
    /// Seed of the random games.
    pub seed: Seed,
    /// Deadline of observing and proving; once it passes, nothing is proved.
    pub deadline: Deadline,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            n_steps: 2_000,
            proof: GroupEffort { proof_steps: 0, ..GroupEffort::default() },
            seed: Seed(1),
            deadline: Deadline::never(),
        }
    }
}

/// Smallest number of cells of a board.
const MIN_CELLS: usize = 4;
/// Families with more arguments are skipped.
const MAX_ARGUMENTS: usize = 8;

/// Finds the structure of a game, given its circuit.
pub fn find_facts<G: Game>(game: &G, circuit: &Circuit, effort: &Effort) -> Facts {
    let vocabulary = &*circuit.vocabulary;
    let orders = find_orders(vocabulary);
    let mut families = families(vocabulary, &orders);
    let mut seen = Seen::new(vocabulary.fluents.len());
    let n_seen = watch(game, effort.n_steps, effort.seed, &effort.deadline, |step| {
        if seen.n_steps == 0 {
            families.iter_mut().for_each(|family| family.look(step.before));
        }
        families.iter_mut().for_each(|family| family.look(step.after));
        seen.look(&step);
    });
    if n_seen == 0 {
        return Facts { orders, ..Facts::default() };
    }
    let proved = find_groups(circuit, &effort.proof, &effort.deadline).unwrap_or_default();
    let mut facts = Facts { orders, ..Facts::default() };
    for family in &families {
        facts.add(family, vocabulary, &seen, &proved);
    }
    facts.find_clocks(game, effort);
    facts
}

/// The fluents of one name and number of arguments.
struct Family {
    name: Symbol,
    fluents: Vec<FluentId>,
    arguments: Vec<Argument>,
    /// Sets of arguments, as bits, for which at most one fluent was true per value of the others.
    single: Vec<Single>,
}

struct Argument {
    n_values: usize,
    order: Option<usize>,
}

/// A hypothesis: for each value of the other arguments, at most one fluent is true.
struct Single {
    free: u32,
    /// For each fluent of the family, in ascending order, its number and that of its group.
    group_of: Vec<(u32, u32)>,
    /// By group, the number of the last state in which one of its fluents was true.
    last_seen: Vec<u32>,
    n_states: u32,
    is_refuted: bool,
}

/// Returns the families of a game.
fn families(vocabulary: &Vocabulary, orders: &[Order]) -> Vec<Family> {
    let terms = &vocabulary.terms;
    let mut numbers: FxHashMap<(Symbol, usize), usize> = FxHashMap::default();
    let mut lists: Vec<(Symbol, Vec<FluentId>)> = Vec::new();
    for (idx, &fluent) in vocabulary.fluents.iter().enumerate() {
        let key = (terms.name(fluent), terms.args(fluent).len());
        let at = *numbers.entry(key).or_insert(lists.len());
        if at == lists.len() {
            lists.push((key.0, Vec::new()));
        }
        lists[at].1.push(FluentId::new(idx));
    }
    let args = |fluent: FluentId| terms.args(vocabulary.fluents[fluent.index()]);
    let in_reach = |fluents: &[FluentId]| (1..=MAX_ARGUMENTS).contains(&args(fluents[0]).len());
    let family = |(name, fluents): (Symbol, Vec<FluentId>)| {
        let n_arguments = args(fluents[0]).len();
        let argument = |at: usize| {
            let values: FxHashSet<TermId> = fluents.iter().map(|&it| args(it)[at]).collect();
            Argument { n_values: values.len(), order: order_of(orders, &values) }
        };
        let arguments: Vec<Argument> = (0..n_arguments).map(argument).collect();
        let single = guesses(&arguments)
            .into_iter()
            .map(|free| Single::new(free, &fluents, |fluent| args(fluent)))
            .collect();
        Family { name, fluents, arguments, single }
    };
    lists.into_iter().filter(|(_, fluents)| in_reach(fluents)).map(family).collect()
}

/// Returns the sets of arguments to test: each alone, all, all ordered ones, and any two unordered
/// ones.
fn guesses(arguments: &[Argument]) -> Vec<u32> {
    let all = (1_u32 << arguments.len()) - 1;
    let bits = 0..arguments.len();
    let ordered = bits.clone().filter(|&at| arguments[at].order.is_some()).map(|at| 1_u32 << at);
    let ordered: u32 = ordered.sum();
    let mut sets: Vec<u32> = bits.clone().map(|at| 1 << at).chain([all, ordered]).collect();
    let pairs = bits.clone().flat_map(|a| bits.clone().map(move |b| (1_u32 << a) | (1 << b)));
    sets.extend(pairs.filter(|pair| pair & ordered == 0));
    sets.sort_unstable();
    sets.dedup();
    sets.retain(|&set| set != 0);
    sets
}

impl Single {
    fn new<'a>(free: u32, fluents: &[FluentId], args: impl Fn(FluentId) -> &'a [TermId]) -> Self {
        let mut groups: FxHashMap<Vec<TermId>, u32> = FxHashMap::default();
        let group = |&fluent: &FluentId| {
            let bound = args(fluent).iter().enumerate().filter(|(at, _)| free & (1 << at) == 0);
            let next = groups.len() as u32;
            let group = *groups.entry(bound.map(|(_, &term)| term).collect()).or_insert(next);
            (fluent.index() as u32, group)
        };
        let group_of: Vec<(u32, u32)> = fluents.iter().map(group).collect();
        let last_seen = vec![0; groups.len()];
        Self { free, group_of, last_seen, n_states: 0, is_refuted: false }
    }

    fn look(&mut self, state: &BitSet) {
        if self.is_refuted {
            return;
        }
        self.n_states += 1;
        for &(fluent, group) in &self.group_of {
            if state.contains(fluent as usize) {
                let last = std::mem::replace(&mut self.last_seen[group as usize], self.n_states);
                self.is_refuted |= last == self.n_states;
            }
        }
    }

    /// The fluents of each group.
    fn groups(&self) -> Vec<Vec<FluentId>> {
        let mut groups = vec![Vec::new(); self.last_seen.len()];
        for &(fluent, group) in &self.group_of {
            groups[group as usize].push(FluentId::new(fluent as usize));
        }
        groups
    }

    fn is_proved(&self, proved: &[Group]) -> bool {
        let within = |group: &Vec<FluentId>| {
            let has_all = |larger: &Group| {
                group.iter().all(|fluent| larger.fluents.binary_search(fluent).is_ok())
            };
            group.len() < 2 || proved.iter().any(has_all)
        };
        self.groups().iter().all(within)
    }
}

impl Family {
    fn look(&mut self, state: &BitSet) {
        self.single.iter_mut().for_each(|single| single.look(state));
    }

    fn single(&self, free: u32) -> Option<&Single> {
        self.single.iter().find(|it| it.free == free && !it.is_refuted)
    }

    fn all(&self) -> u32 {
        (1 << self.arguments.len()) - 1
    }
}

/// Observations about which role makes fluents true.
struct Seen {
    n_steps: u64,
    /// By fluent: which role had a choice when it became true, and whether it became false.
    comes: Vec<Comes>,
    goes: Vec<bool>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Comes {
    Never,
    By(RoleId),
    ByAnybody,
}

impl Comes {
    fn and(self, other: Comes) -> Comes {
        match (self, other) {
            (Comes::Never, it) | (it, Comes::Never) => it,
            (Comes::By(a), Comes::By(b)) if a == b => self,
            _ => Comes::ByAnybody,
        }
    }
}

impl Seen {
    fn new(n_fluents: usize) -> Self {
        Self { n_steps: 0, comes: vec![Comes::Never; n_fluents], goes: vec![false; n_fluents] }
    }

    fn look(&mut self, step: &Step<'_>) {
        self.n_steps += 1;
        let by = match *step.choosers {
            // A forced change says nothing about the owner.
            [] => Comes::Never,
            [role] => Comes::By(role),
            _ => Comes::ByAnybody,
        };
        for fluent in step.after.iter().filter(|&it| !step.before.contains(it)) {
            self.comes[fluent] = self.comes[fluent].and(by);
        }
        for fluent in step.before.iter().filter(|&it| !step.after.contains(it)) {
            self.goes[fluent] = true;
        }
    }
}

impl Facts {
    fn add(&mut self, family: &Family, vocabulary: &Vocabulary, seen: &Seen, proved: &[Group]) {
        let is_ordered = |at: &usize| family.arguments[*at].order.is_some();
        let arguments = 0..family.arguments.len();
        let of_one =
            |at: &usize| family.arguments[*at].n_values > 1 && family.single(1 << *at).is_some();
        // The content is the last such argument, as in most rulesheets, and another next to it if
        // that has one value at a time too: `(cell ?x ?y ?role ?piece)`.
        let n_cells = |free: u32| family.single(free).map_or(0, |single| single.last_seen.len());
        let is_content =
            |at: &usize| !is_ordered(at) && of_one(at) && n_cells(1 << at) >= MIN_CELLS;
        if let Some(last) = arguments.clone().rev().find(is_content) {
            let goes_with = |at: &usize| {
                *at != last && !is_ordered(at) && n_cells(1 << last | 1 << at) >= MIN_CELLS
            };
            let mut content: Vec<usize> =
                arguments.clone().rev().find(goes_with).into_iter().collect();
            content.push(last);
            content.sort_unstable();
            let free = content.iter().map(|at| 1_u32 << at).sum();
            let is_proved = family.single(free).is_some_and(|single| single.is_proved(proved));
            self.add_board(family, vocabulary, seen, &content, true, is_proved);
            return;
        }
        let whole = family.single(family.all());
        let ordered: Vec<usize> = arguments.clone().filter(is_ordered).collect();
        // A single marker with two or more coordinates is on a board.
        if whole.is_some() && ordered.len() > 1 {
            let is_proved = whole.is_some_and(|single| single.is_proved(proved));
            self.add_board(family, vocabulary, seen, &[], true, is_proved);
            return;
        }
        let unordered: Vec<usize> = arguments.filter(|at| !is_ordered(at)).collect();
        let only: &[usize] = if unordered.len() == 1 { &unordered } else { &[] };
        // Each piece is at one place at a time.
        let ordered_bits = ordered.iter().map(|at| 1_u32 << at).sum();
        if let Some(single) = family.single(ordered_bits)
            && ordered.len() > 1
            && !only.is_empty()
        {
            let is_proved = single.is_proved(proved);
            self.add_board(family, vocabulary, seen, only, false, is_proved);
            return;
        }
        if let Some(&counting) = ordered.iter().rev().find(|at| of_one(at)) {
            self.add_counters(family, vocabulary, counting, proved);
            return;
        }
        if !ordered.is_empty() && family.fluents.len() >= MIN_CELLS {
            self.add_board(family, vocabulary, seen, only, false, false);
        }
    }

    fn add_counters(
        &mut self,
        family: &Family,
        vocabulary: &Vocabulary,
        counting: usize,
        proved: &[Group],
    ) {
        let single = family.single(1 << counting).expect("it has one value at a time");
        let is_proved = single.is_proved(proved);
        let order = family.arguments[counting].order.expect("it is in an order");
        let indices = self.orders[order].indices();
        let args = |fluent: FluentId| vocabulary.terms.args(vocabulary.fluents[fluent.index()]);
        for group in single.groups().into_iter().filter(|group| group.len() > 1) {
            let indexed = |&fluent: &FluentId| (indices[&args(fluent)[counting]], fluent);
            let mut values: Vec<(i32, FluentId)> = group.iter().map(indexed).collect();
            values.sort_unstable();
            let mut name = format!("({}", vocabulary.terms.symbols().name(family.name));
            for (at, &term) in args(group[0]).iter().enumerate() {
                let _ = if at == counting {
                    write!(name, " ?")
                } else {
                    write!(name, " {}", vocabulary.terms.display(term))
                };
            }
            name.push(')');
            self.counters.push(Counter { name, order, values, is_clock: false, is_proved });
        }
    }

    fn add_board(
        &mut self,
        family: &Family,
        vocabulary: &Vocabulary,
        seen: &Seen,
        content: &[usize],
        is_exclusive: bool,
        is_proved: bool,
    ) {
        let coordinates: Vec<Coordinate> = (0..family.arguments.len())
            .filter(|at| !content.contains(at))
            .map(|argument| {
                let Argument { n_values, order } = family.arguments[argument];
                Coordinate { argument, order, n_values }
            })
            .collect();
        let indices: Vec<Option<FxHashMap<TermId, i32>>> =
            coordinates.iter().map(|it| it.order.map(|at| self.orders[at].indices())).collect();
        let mut pieces: Vec<Piece> = Vec::new();
        let mut owners: Vec<Comes> = Vec::new();
        for &fluent in &family.fluents {
            let args = vocabulary.terms.args(vocabulary.fluents[fluent.index()]);
            let content: Vec<TermId> = content.iter().map(|&at| args[at]).collect();
            let at = pieces.iter().position(|it| it.content == content).unwrap_or_else(|| {
                pieces.push(Piece {
                    content: content.clone(),
                    owner: None,
                    comes: false,
                    goes: false,
                    cells: Vec::new(),
                });
                owners.push(Comes::Never);
                pieces.len() - 1
            });
            let index = |(it, indices): (&Coordinate, &Option<FxHashMap<TermId, i32>>)| {
                indices.as_ref().map(|indices| indices[&args[it.argument]])
            };
            let cell = coordinates.iter().zip(&indices).map(index).collect();
            pieces[at].cells.push((fluent, cell));
            pieces[at].goes |= seen.goes[fluent.index()];
            owners[at] = owners[at].and(seen.comes[fluent.index()]);
        }
        for (piece, comes) in pieces.iter_mut().zip(owners) {
            piece.comes = comes != Comes::Never;
            piece.owner = if let Comes::By(role) = comes { Some(role) } else { None };
        }
        let (name, content) = (family.name, content.to_vec());
        self.boards.push(Board { name, coordinates, content, is_exclusive, is_proved, pieces });
    }

    /// Observes more games to find the counters that always advance.
    fn find_clocks<G: Game>(&mut self, game: &G, effort: &Effort) {
        let value = |counter: &Counter, state: &BitSet| {
            let is_true = |(_, fluent): &&(i32, FluentId)| state.contains(fluent.index());
            counter.values.iter().find(is_true).map(|value| value.0)
        };
        // By how much each counter moved in every step so far; `None` if it is not a clock.
        let mut moves: Vec<Option<i32>> = Vec::new();
        watch(game, effort.n_steps / 4, effort.seed.child(1), &effort.deadline, |step| {
            let moved = self.counters.iter().map(|counter| {
                let both = value(counter, step.before).zip(value(counter, step.after));
                both.map(|(before, after)| after - before).filter(|by| by.abs() == 1)
            });
            if moves.is_empty() {
                moves = moved.collect();
            } else {
                moves
                    .iter_mut()
                    .zip(moved)
                    .for_each(|(all, now)| *all = all.filter(|_| *all == now));
            }
        });
        for (counter, moved) in self.counters.iter_mut().zip(moves) {
            counter.is_clock = moved.is_some();
        }
    }

    /// Describes the facts, one line each, for people and tests.
    pub fn lines(&self, vocabulary: &Vocabulary) -> Vec<String> {
        let terms = &vocabulary.terms;
        let name = |symbol: Symbol| terms.symbols().name(symbol);
        let order = |it: &Order| {
            let [first, .., last] = &it.terms[..] else { return String::new() };
            let (first, last) = (terms.display(*first), terms.display(*last));
            format!("order {}: {first} to {last}, {} terms", name(it.relation), it.terms.len())
        };
        let counter = |it: &Counter| {
            let kind = if it.is_clock { "clock" } else { "counter" };
            format!("{kind} {}: {} values", it.name, it.values.len())
        };
        let board = |it: &Board| {
            let size = |it: &Coordinate| {
                format!("{}{}", it.n_values, if it.order.is_some() { "" } else { "?" })
            };
            let sizes: Vec<String> = it.coordinates.iter().map(size).collect();
            let piece = |it: &Piece| {
                let content = in_words(vocabulary, &it.content);
                let owner = it.owner.map(|role| format!(" of {}", vocabulary.role_text(role)));
                content + &owner.unwrap_or_default()
            };
            let pieces: Vec<String> = it.pieces.iter().map(piece).collect();
            let each = if it.is_exclusive { "" } else { ", several a cell" };
            format!("board {} {}{each}: {}", name(it.name), sizes.join(" by "), pieces.join(", "))
        };
        let orders = self.orders.iter().map(order);
        let counters = self.counters.iter().map(counter);
        orders.chain(counters).chain(self.boards.iter().map(board)).collect()
    }
}

/// Describes the content of a cell.
pub(crate) fn in_words(vocabulary: &Vocabulary, content: &[TermId]) -> String {
    let words: Vec<String> =
        content.iter().map(|&it| vocabulary.terms.display(it).to_string()).collect();
    if words.is_empty() { "mark".into() } else { words.join(" ") }
}
