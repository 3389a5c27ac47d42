//! Cases of the terminal condition that one legal move refutes.
//!
//! "The role whose turn it is can't move" is a case that depends on all conditions of its moves,
//! often in another form than the conditions of the moves themselves. If each move that needs the
//! guard of the role refutes the case, one legal move found in the planes is enough, and the case
//! need not be evaluated.

use std::ops::Range;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::net::conjunctions::{Conjunctions, Literal};
use crate::net::split::Guard;

/// A proof for a move looks at this many literals on average at most, and goes at most this deep.
const MAX_LOOKS: usize = 256;
const MAX_DEPTH: usize = 16;

/// Finds a role whose guard a case needs, and of which each legal move that needs the guard refutes
/// the case. `planes` are the conditions of the moves besides the guard.
pub(crate) fn refuting_role(
    table: &Conjunctions,
    case: Literal,
    planes: &[Vec<Literal>],
    moves_of: &[Range<usize>],
    guards: &[Guard],
) -> Option<usize> {
    let parts = all_parts(table, &[case]);
    let mut refuter = Refuter::new(table, &parts);
    (0..guards.len()).find(|&role| {
        let moves = moves_of[role].clone();
        refuter.n_looks = MAX_LOOKS * moves.len();
        let guard = &guards[role];
        let mut guarded = moves.clone().filter(|played| guard.is_needed(played - moves.start));
        parts.contains(&guard.literal) && guarded.all(|played| refuter.refutes(&planes[played]))
    })
}

/// Returns some literals, the literals that they are conjunctions of, and so on.
fn all_parts(table: &Conjunctions, literals: &[Literal]) -> FxHashSet<Literal> {
    let mut parts = FxHashSet::default();
    let mut open = literals.to_vec();
    while let Some(literal) = open.pop() {
        if parts.insert(literal) && !literal.is_negated() {
            open.extend(table.literals(literal.node()));
        }
    }
    parts
}

/// Searches for a part of a case that is false.
struct Refuter<'a> {
    table: &'a Conjunctions,
    /// The parts of the case.
    parts: &'a FxHashSet<Literal>,
    /// Nodes that refute the case, by a fluent that each of them needs.
    nodes: FxHashMap<Literal, Vec<Literal>>,
    /// Nodes that refute the case and need no fluent.
    others: Vec<Literal>,
    /// How many literals may still be looked at.
    n_looks: usize,
}

impl<'a> Refuter<'a> {
    fn new(table: &'a Conjunctions, parts: &'a FxHashSet<Literal>) -> Self {
        let mut refuter =
            Self { table, parts, nodes: FxHashMap::default(), others: Vec::new(), n_looks: 0 };
        for part in parts.iter().filter(|it| it.is_negated()) {
            let node = part.negated();
            let needs = all_parts(table, &[node]);
            let is_fluent =
                |it: &&Literal| !it.is_negated() && table.literals(it.node()).is_empty();
            match needs.iter().filter(is_fluent).min() {
                Some(&fluent) => refuter.nodes.entry(fluent).or_default().push(node),
                None => refuter.others.push(node),
            }
        }
        refuter
    }

    /// Returns whether the case is false if these literals are true.
    fn refutes(&mut self, literals: &[Literal]) -> bool {
        let known = all_parts(self.table, literals);
        let mut nodes: Vec<Literal> =
            known.iter().filter_map(|it| self.nodes.get(it)).flatten().copied().collect();
        nodes.extend(&self.others);
        known.iter().any(|it| self.parts.contains(&it.negated()))
            || nodes.into_iter().any(|node| self.follows(&known, node, 0))
    }

    /// Returns whether a literal follows from others; false if that takes too long.
    fn follows(&mut self, known: &FxHashSet<Literal>, literal: Literal, depth: usize) -> bool {
        if self.n_looks == 0 || depth == MAX_DEPTH {
            return false;
        }
        self.n_looks -= 1;
        let table = self.table;
        let mut parts = table.literals(literal.node()).iter();
        known.contains(&literal)
            || match literal.is_negated() {
                _ if parts.len() == 0 => false,
                false => parts.all(|&part| self.follows(known, part, depth + 1)),
                true => parts.any(|part| self.follows(known, part.negated(), depth + 1)),
            }
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::{Pace, RoleId};
    use ludex_game::{Cursor, Game};

    use crate::Machine;
    use crate::net::counters::Net;
    use crate::tests::{check, circuit};

    /// Two roles take three free cells from a line of eighty, one of them neighbours, the other
    /// with a gap; a player who can't has lost. `can_move` says when a player can.
    fn rules(can_move: &str) -> String {
        let succ: String = (1..80).map(|n| format!("(succ {n} {}) ", n + 1)).collect();
        format!(
            "(role a) (role b) {succ} (init (turn a))
            (<= (cell ?x) (succ ?x ?y)) (<= (cell ?y) (succ ?x ?y)) (<= (init (free ?x)) (cell ?x))
            (<= (three a ?x ?y ?z) (succ ?x ?y) (succ ?y ?z))
            (<= (three b ?x ?y ?z) (succ ?x ?y) (succ ?y ?w) (succ ?w ?z))
            (<= (row ?r ?x) (three ?r ?x ?y ?z) (true (free ?x)) (true (free ?y)) (true (free ?z)))
            (<= (legal ?r (take ?x)) (true (turn ?r)) (row ?r ?x))
            (<= (legal ?r wait) (role ?r) (not (true (turn ?r))))
            (<= (takes ?x) (does ?r (take ?x)))
            (<= (takes ?y) (does ?r (take ?x)) (three ?r ?x ?y ?z))
            (<= (takes ?z) (does ?r (take ?x)) (three ?r ?x ?y ?z))
            (<= (next (free ?x)) (true (free ?x)) (not (takes ?x)))
            (<= (next (turn a)) (true (turn b))) (<= (next (turn b)) (true (turn a)))
            {can_move} (<= terminal (true (turn ?r)) (not (can_move ?r)))
            (<= (goal ?r 0) (true (turn ?r))) (<= (goal ?r 100) (role ?r) (not (true (turn ?r))))"
        )
    }

    fn refuting_roles(rules: &str) -> Vec<Option<usize>> {
        let net = Net::new(&circuit(rules).optimized(), &Pace::unlimited());
        let net = net.expect("nothing stops it").expect("there are no loops");
        net.endings.iter().map(|ending| ending.refuting_role).collect()
    }

    #[test]
    fn a_legal_move_refutes_that_nobody_can_move() {
        let rules = rules("(<= (can_move ?r) (row ?r ?x))");
        assert_eq!(refuting_roles(&rules), [Some(0), Some(1)]);
        check("rows", &rules, 400);
        // Play to the end, which is found although no legal move refutes it any more.
        let machine = Machine::new(circuit(&rules));
        let mut cursor = machine.cursor();
        while !cursor.is_terminal() {
            let joint = [0, 1].map(|role| cursor.legal_moves(RoleId::new(role))[0]);
            cursor.play(&joint);
        }
        let n_moves = [0, 1].map(|role| cursor.legal_moves(RoleId::new(role)).len());
        assert_eq!(n_moves.iter().sum::<usize>(), 1, "one waits, the other can't move");
    }

    #[test]
    fn moves_that_leave_the_end_open_refute_nothing() {
        // One row does not count, so the game may be over although a move is legal.
        let rules = rules("(<= (can_move ?r) (row ?r ?x) (distinct ?x 40))");
        assert_eq!(refuting_roles(&rules), [None, None]);
        check("rows but one", &rules, 400);
    }
}
