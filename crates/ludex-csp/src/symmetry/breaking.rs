//! Constraints that leave one of several symmetric solutions: the lex leader of Crawford, Ginsberg,
//! Luks and Roy, *Symmetry-Breaking Predicates for Search Problems*, 1996.
//!
//! Assignments are compared by the values of their variables, in the order of the network. Each
//! constraint says that an assignment does not come after its image under one symmetry. The first
//! assignment of each orbit satisfies all of them, whichever symmetries are taken, so none is lost;
//! if all elements of the group are taken, no other is left.

use std::collections::VecDeque;

use ludex_automorphism::SparsePermutation;
use rustc_hash::FxHashSet;

use super::found::{NetworkSymmetries, VariableImage};
use crate::Value;
use crate::constraint::Constraint;
use crate::expr::Expr;
use crate::network::Network;

/// What was added to a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Breaking {
    /// How many constraints.
    pub n_constraints: usize,
    /// Whether exactly one solution of each orbit is left. Otherwise at least one is.
    pub is_full: bool,
}

/// Up to this many symmetries each get a constraint. Of a larger group only some do.
pub const MAX_ELEMENTS: usize = 512;

/// The maximal number of terms of all constraints.
const MAX_TERMS: usize = 400_000;

/// Adds constraints that leave at least one solution of each orbit: one for each element of a group
/// of at most `max_elements`, otherwise for its generators and products of two of them.
pub fn break_symmetries(
    network: &mut Network,
    symmetries: &NetworkSymmetries,
    max_elements: usize,
) -> Breaking {
    let (elements, mut is_full) = elements(symmetries, max_elements);
    let mut n_terms = 0;
    let mut n_constraints = 0;
    for element in &elements {
        let (own, image) = lists(symmetries, element);
        n_terms += own.len();
        if n_terms > MAX_TERMS && n_constraints > 0 {
            is_full = false;
            break;
        }
        network.add(Constraint::Lex { lists: vec![own, image], is_strict: false });
        n_constraints += 1;
    }
    Breaking { n_constraints, is_full: is_full && symmetries.is_complete }
}

/// All elements of a small group but the identity, and whether these are all; those reached by the
/// fewest generators come first.
fn elements(symmetries: &NetworkSymmetries, max: usize) -> (Vec<SparsePermutation>, bool) {
    let mut steps: Vec<SparsePermutation> = symmetries.generators.clone();
    steps.extend(symmetries.generators.iter().map(SparsePermutation::inverse));
    let mut known: FxHashSet<SparsePermutation> = FxHashSet::default();
    known.insert(SparsePermutation::identity());
    let mut elements = Vec::new();
    let mut queue = VecDeque::from([SparsePermutation::identity()]);
    // Generators come first, whatever the bound.
    let max = max.max(steps.len());
    while let Some(from) = queue.pop_front() {
        for step in &steps {
            let element = from.then(step);
            if known.contains(&element) {
                continue;
            }
            if elements.len() == max {
                return (elements, false);
            }
            known.insert(element.clone());
            elements.push(element.clone());
            queue.push_back(element);
        }
    }
    (elements, true)
}

/// Two lists of which the first must not come after the second.
fn lists(symmetries: &NetworkSymmetries, element: &SparsePermutation) -> (Vec<Expr>, Vec<Expr>) {
    if let Some(lists) = lists_of_values(symmetries, element) {
        return lists;
    }
    // A literal is true in the image if its preimage is true. The assignment that comes first has
    // its first true literal earlier, so that it is the larger list of truths.
    let inverse = element.inverse();
    let truth = |literal: u32| {
        let (x, value) = symmetries.literals[literal as usize];
        x.equals(value)
    };
    let moved = inverse.moves();
    let image = moved.iter().map(|&(_, preimage)| truth(preimage)).collect();
    let own = moved.iter().map(|&(literal, _)| truth(literal)).collect();
    (image, own)
}

/// The same by values, if every variable goes to a variable and its values are kept, shifted or
/// reflected.
fn lists_of_values(
    symmetries: &NetworkSymmetries,
    element: &SparsePermutation,
) -> Option<(Vec<Expr>, Vec<Expr>)> {
    let mut images = symmetries.by_variable(element)?;
    images.retain(|image| image.variable != image.to || image.values.iter().any(|(a, b)| a != b));
    images.sort_by_key(|image| image.to);
    let own = images.iter().map(|image| Expr::Var(image.to)).collect();
    let image = images.iter().map(value_of_image).collect::<Option<Vec<Expr>>>()?;
    Some((own, image))
}

/// What a variable gets from its preimage.
fn value_of_image(image: &VariableImage) -> Option<Expr> {
    let &(first, to) = image.values.first()?;
    let offset = i64::from(to) - i64::from(first);
    let total = i64::from(to) + i64::from(first);
    let all = |holds: &dyn Fn(i64, i64) -> bool| {
        image.values.iter().all(|&(a, b): &(Value, Value)| holds(i64::from(a), i64::from(b)))
    };
    let own = Expr::Var(image.variable);
    if all(&|a, b| b - a == offset) {
        return Some(if offset == 0 { own } else { own + Expr::Constant(offset) });
    }
    all(&|a, b| a + b == total).then(|| Expr::Constant(total) - own)
}
