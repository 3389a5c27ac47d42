//! The circuit as conjunctions of literals.
//!
//! A literal is a node or its negation. A disjunction is the negation of the conjunction of the
//! negations. So there is only one kind of gate, and negations cost nothing.

use std::hash::BuildHasher;
use std::rc::Rc;

use hashbrown::HashTable;
use ludex_base::{Pace, StopReason};
use ludex_circuit::{Circuit, Gate};
use rustc_hash::{FxBuildHasher, FxHashMap};

/// A common literal is factored out of at least this many conjunctions.
const MIN_COMMON: usize = 8;

/// Chains of pairs with more parts than this are not compared.
const MAX_CHAIN: usize = 16;

/// A node, or its negation: the number of the node, doubled, plus one for the negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Literal(u32);

impl Literal {
    /// Node 0 is always true.
    pub const TRUE: Literal = Literal(0);
    pub const FALSE: Literal = Literal(1);

    pub fn of(node: usize) -> Self {
        Literal(u32::try_from(node * 2).expect("the number of nodes must fit in 31 bits"))
    }

    #[inline]
    pub fn node(self) -> usize {
        (self.0 >> 1) as usize
    }

    #[inline]
    pub fn is_negated(self) -> bool {
        self.0 & 1 != 0
    }

    pub fn negated(self) -> Self {
        Literal(self.0 ^ 1)
    }

    pub fn negated_if(self, is_negated: bool) -> Self {
        Literal(self.0 ^ u32::from(is_negated))
    }
}

/// Conjunctions, each made once. Nodes are the constant, the fluents, the moves, then the
/// conjunctions, which read only nodes before them.
#[derive(Clone, Debug)]
pub(crate) struct Conjunctions {
    pub n_fluents: usize,
    pub n_moves: usize,
    /// The end of the literals of each conjunction.
    ends: Vec<u32>,
    literals: Vec<Literal>,
    index: HashTable<u32>,
    chains: Chains,
}

/// Chains of pairs: the literals that they join, and the node for these.
///
/// A path that is free from one end to the other is also free in the other direction, but rules
/// derive it step by step from each end. The chains make both directions one node.
#[derive(Clone, Default, Debug)]
struct Chains {
    parts: FxHashMap<u32, Rc<[Literal]>>,
    nodes: FxHashMap<Rc<[Literal]>, u32>,
}

impl Conjunctions {
    /// Converts a circuit without loops, and returns the literal of each of its gates. A step of the
    /// pace is an input of a gate.
    pub fn of_circuit(
        circuit: &Circuit,
        pace: &Pace<'_>,
    ) -> Result<(Self, Vec<Literal>), StopReason> {
        let mut table = Self {
            n_fluents: circuit.vocabulary.fluents.len(),
            n_moves: circuit.vocabulary.moves.len(),
            ends: Vec::new(),
            literals: Vec::new(),
            index: HashTable::new(),
            chains: Chains::default(),
        };
        let mut of_gates: Vec<Literal> = Vec::with_capacity(circuit.n_gates());
        let mut list = Vec::new();
        for id in circuit.gate_ids() {
            pace.steps(1 + circuit.inputs(id).len())?;
            let literal = match circuit.gate(id) {
                Gate::Constant(value) => Literal::TRUE.negated_if(!value),
                Gate::Fluent(fluent) => Literal::of(table.fluent_node(fluent.index())),
                Gate::Move(played) => Literal::of(table.move_node(played.index())),
                Gate::Feedback => unreachable!("the circuit has no loops"),
                Gate::Not(input) => of_gates[input.index()].negated(),
                Gate::And(inputs) | Gate::Or(inputs) => {
                    let is_or = matches!(circuit.gate(id), Gate::Or(_));
                    let literals = inputs.iter().map(|input| of_gates[input.index()]);
                    list.clear();
                    list.extend(literals.map(|literal| literal.negated_if(is_or)));
                    table.factor(&mut list);
                    table.and(&mut list).negated_if(is_or)
                }
            };
            of_gates.push(literal);
        }
        Ok((table, of_gates))
    }

    pub fn fluent_node(&self, fluent: usize) -> usize {
        1 + fluent
    }

    pub fn move_node(&self, played: usize) -> usize {
        1 + self.n_fluents + played
    }

    /// Returns the number of the first conjunction.
    pub fn first(&self) -> usize {
        1 + self.n_fluents + self.n_moves
    }

    /// Returns the number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.first() + self.ends.len()
    }

    /// Returns the literals of a conjunction, ascending; none for other nodes.
    pub fn literals(&self, node: usize) -> &[Literal] {
        match node.checked_sub(self.first()) {
            None => &[],
            Some(0) => &self.literals[..self.ends[0] as usize],
            Some(idx) => &self.literals[self.ends[idx - 1] as usize..self.ends[idx] as usize],
        }
    }

    /// Makes the conjunction of a list, which is sorted and simplified in place.
    pub fn and(&mut self, list: &mut Vec<Literal>) -> Literal {
        list.sort_unstable();
        list.dedup();
        if list.first() == Some(&Literal::TRUE) {
            list.remove(0);
        }
        let is_contradiction = |pair: &[Literal]| pair[0].negated() == pair[1];
        match list[..] {
            [] => return Literal::TRUE,
            [only] => return only,
            [Literal::FALSE, ..] => return Literal::FALSE,
            _ if list.windows(2).any(is_contradiction) => return Literal::FALSE,
            _ => {}
        }
        let hash = hash_of(list);
        let is_same = |&node: &u32| self.literals(node as usize) == &list[..];
        if let Some(&node) = self.index.find(hash, is_same) {
            return Literal::of(node as usize);
        }
        let node = self.n_nodes();
        if let [first, second] = &list[..] {
            let mut parts = self.chain_parts(first).to_vec();
            parts.extend(self.chain_parts(second));
            parts.sort_unstable();
            parts.dedup();
            if (3..=MAX_CHAIN).contains(&parts.len()) {
                let parts: Rc<[Literal]> = parts.into();
                match self.chains.nodes.get(&parts) {
                    Some(&same) => return Literal::of(same as usize),
                    None => self.chains.nodes.insert(Rc::clone(&parts), node as u32),
                };
                self.chains.parts.insert(node as u32, parts);
            }
        }
        self.literals.extend_from_slice(list);
        self.ends.push(
            u32::try_from(self.literals.len()).expect("the number of edges must fit in 32 bits"),
        );
        let Self { index, ends, literals, n_fluents, n_moves, .. } = self;
        let first = 1 + *n_fluents + *n_moves;
        index.insert_unique(hash, node as u32, |&node| {
            let idx = node as usize - first;
            let start = if idx == 0 { 0 } else { ends[idx - 1] as usize };
            hash_of(&literals[start..ends[idx] as usize])
        });
        Literal::of(node)
    }

    /// Returns the literals at the ends of a chain of pairs; for any other literal, the literal
    /// itself.
    fn chain_parts<'a>(&'a self, literal: &'a Literal) -> &'a [Literal] {
        let itself = std::slice::from_ref(literal);
        if literal.is_negated() {
            return itself;
        }
        match self.literals(literal.node()) {
            pair @ [_, _] => {
                self.chains.parts.get(&(literal.node() as u32)).map_or(pair, |parts| parts)
            }
            _ => itself,
        }
    }

    /// Factors out a literal that many negated conjunctions of a list have in common: "not (t and
    /// a), not (t and b)" is "not (t and (a or b))". Typically `t` says whose turn it is, and
    /// changes more often than the rest.
    fn factor(&mut self, list: &mut Vec<Literal>) {
        while list.len() >= MIN_COMMON {
            let conjunctions = list.iter().filter(|it| it.is_negated());
            let mut parts: Vec<Literal> =
                conjunctions.flat_map(|it| self.literals(it.node())).copied().collect();
            parts.sort_unstable();
            let runs = parts.chunk_by(|a, b| a == b);
            let Some(common) = runs.max_by_key(|run| run.len()) else { return };
            let (n_common, common) = (common.len(), common[0]);
            if n_common < MIN_COMMON {
                return;
            }
            let (mut rests, mut others) = (Vec::new(), Vec::new());
            let mut rest = Vec::new();
            for &literal in list.iter() {
                let parts = self.literals(literal.node());
                if literal.is_negated() && parts.binary_search(&common).is_ok() {
                    rest.clear();
                    rest.extend(parts.iter().filter(|&&it| it != common));
                    rests.push(self.and(&mut rest).negated());
                } else {
                    others.push(literal);
                }
            }
            self.factor(&mut rests);
            let one_of_rests = self.and(&mut rests).negated();
            others.push(self.and(&mut vec![common, one_of_rests]).negated());
            *list = others;
        }
    }

    /// Marks the nodes that a literal depends on.
    pub fn mark_cone(&self, literal: Literal, marks: &mut [bool]) {
        let mut open = vec![literal.node()];
        while let Some(node) = open.pop() {
            if !std::mem::replace(&mut marks[node], true) {
                open.extend(self.literals(node).iter().map(|literal| literal.node()));
            }
        }
    }
}

fn hash_of(list: &[Literal]) -> u64 {
    FxBuildHasher.hash_one(list)
}
