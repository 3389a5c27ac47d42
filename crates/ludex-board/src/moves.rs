//! Which arguments of a move name a cell or a piece.
//!
//! A rule that uses one variable both as the column of a fluent and as an argument of a move says
//! that this argument is a column: `(<= (next (cell ?x ?y x)) (does ?p (mark ?x ?y)))`. Relations
//! between the two are followed.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::discriminant;

use ludex_analysis::layout::{FluentShape, LeafMeaning};
use ludex_gdl::{Atom, Keyword, Pattern, Program, RelationId, Rule, Stage};

use crate::graph::Graph;
use crate::patterns::{Leaf, atoms, fluents, moves, text};

/// What an argument of a move means.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Meaning {
    /// A column of a board.
    Column(usize),
    /// A row of a board.
    Row(usize),
    /// A cell of a board whose cells have names.
    Cell(usize),
    /// One of several grids of a board.
    Selector(usize),
    /// A cell of the graph.
    Node,
    /// A piece on a board.
    Piece(usize),
}

/// The meanings of the leaves of each move, by its function and its number of leaves.
pub(crate) type MoveMeanings = BTreeMap<(String, usize), Vec<Option<Meaning>>>;

/// Finds what the arguments of moves mean: for each, what most rules say.
pub(crate) fn find_meanings(
    program: &Program,
    shapes: &[FluentShape],
    graph: Option<&Graph>,
) -> MoveMeanings {
    let helpers = helper_meanings(program, shapes, graph);
    let mut votes: BTreeMap<(String, usize), Vec<Votes>> = BTreeMap::new();
    for rule in &program.rules {
        let moves = moves(program, rule);
        if moves.is_empty() {
            continue;
        }
        let variables = variables_of(program, rule, shapes, graph, &helpers);
        for (_, found) in moves {
            let key = (text(program, found.name), found.leaves.len());
            let votes = votes.entry(key).or_insert_with(|| vec![Votes::new(); found.leaves.len()]);
            for (leaf, votes) in found.leaves.iter().zip(votes) {
                if let Leaf::Variable(variable) = leaf
                    && let Some(meaning) = variables.get(variable)
                {
                    *votes.entry(*meaning).or_default() += 1;
                }
            }
        }
    }
    let winner = |votes: Votes| {
        let most = votes.values().copied().max()?;
        votes.into_iter().find(|(_, n)| *n == most).map(|(meaning, _)| meaning)
    };
    votes.into_iter().map(|(key, votes)| (key, votes.into_iter().map(winner).collect())).collect()
}

/// How many rules say what.
type Votes = BTreeMap<Meaning, usize>;

/// What the arguments of relations between moves and fluents mean.
type Helpers = BTreeMap<(RelationId, usize), Meaning>;

/// Chains of relations between a move and a fluent that are followed, at most.
const MAX_CHAIN: usize = 4;

/// Finds what the arguments of relations mean that depend on the state or the moves, such as
/// `(<= (lands ?t) (does ?p (move ?s ?t)))`: what all rules say that use them.
fn helper_meanings(program: &Program, shapes: &[FluentShape], graph: Option<&Graph>) -> Helpers {
    let is_helper = |atom: &Atom| {
        program.relation(atom.relation).stage != Stage::Static
            && !Keyword::ALL.iter().any(|&it| atom.relation == it.into())
    };
    let mut helpers = Helpers::new();
    for _ in 0..MAX_CHAIN {
        let mut found: BTreeMap<(RelationId, usize), BTreeSet<Meaning>> = BTreeMap::new();
        for rule in &program.rules {
            let variables = variables_of(program, rule, shapes, graph, &helpers);
            for atom in atoms(rule).filter(|atom| is_helper(atom)) {
                for (idx, arg) in atom.args.iter().enumerate() {
                    if let Pattern::Variable(variable) = arg
                        && let Some(meaning) = variables.get(variable)
                    {
                        found.entry((atom.relation, idx)).or_default().insert(*meaning);
                    }
                }
            }
        }
        let n_before = helpers.len();
        for (key, meanings) in found {
            let first = *meanings.first().expect("something was found");
            // Where rules disagree, an argument is sometimes this and sometimes that.
            if meanings.iter().all(|it| discriminant(it) == discriminant(&first)) {
                helpers.entry(key).or_insert(first);
            }
        }
        if helpers.len() == n_before {
            break;
        }
    }
    helpers
}

/// Returns what the variables of a rule mean.
fn variables_of(
    program: &Program,
    rule: &Rule,
    shapes: &[FluentShape],
    graph: Option<&Graph>,
    helpers: &Helpers,
) -> BTreeMap<u32, Meaning> {
    let mut variables: BTreeMap<u32, Meaning> = BTreeMap::new();
    for fluent in fluents(program, rule) {
        let name = text(program, fluent.name);
        let meanings = meanings_of(&name, fluent.leaves.len(), shapes, graph);
        for (leaf, meaning) in fluent.leaves.iter().zip(meanings) {
            if let (Leaf::Variable(variable), Some(meaning)) = (leaf, meaning) {
                // A coordinate says more than a piece.
                let before = variables.entry(*variable).or_insert(meaning);
                *before = meaning.min(*before);
            }
        }
    }
    for atom in atoms(rule) {
        for (idx, arg) in atom.args.iter().enumerate() {
            if let Pattern::Variable(variable) = arg
                && let Some(meaning) = helpers.get(&(atom.relation, idx))
            {
                variables.entry(*variable).or_insert(*meaning);
            }
        }
    }
    variables
}

/// Returns the meanings of the leaves of a fluent.
fn meanings_of(
    name: &str,
    n_leaves: usize,
    shapes: &[FluentShape],
    graph: Option<&Graph>,
) -> Vec<Option<Meaning>> {
    let is_its = |shape: &&FluentShape| shape.name == name && shape.leaves.len() == n_leaves;
    if let Some(shape) = shapes.iter().find(is_its) {
        let meaning = |leaf: &LeafMeaning| match leaf {
            LeafMeaning::Column => Meaning::Column(shape.board),
            LeafMeaning::Row => Meaning::Row(shape.board),
            LeafMeaning::Cell(_) => Meaning::Cell(shape.board),
            LeafMeaning::Selector => Meaning::Selector(shape.board),
            LeafMeaning::Piece => Meaning::Piece(shape.board),
        };
        return shape.leaves.iter().map(|leaf| Some(meaning(leaf))).collect();
    }
    let cell = graph.and_then(|graph| graph.families.get(&(name.to_string(), n_leaves)));
    (0..n_leaves).map(|leaf| cell.filter(|&&it| it == leaf).map(|_| Meaning::Node)).collect()
}
