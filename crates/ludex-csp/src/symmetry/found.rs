//! The automorphisms of a micro-structure, as permutations of literals.

use ludex_automorphism::{Orbits, PermutationGroup, SparsePermutation, automorphisms};
use ludex_base::{Deadline, Seed, StopReason};
use num_bigint::BigUint;

use super::structure::{Extra, Microstructure, StructureError, StructureLimits};
use crate::Value;
use crate::domains::VarId;
use crate::network::Network;

/// A group of symmetries of a network: permutations of literals that take solutions to solutions,
/// and keep the objective.
#[derive(Clone, Debug)]
pub struct NetworkSymmetries {
    /// The literals, by variable, then by value. Generators are permutations of their numbers.
    pub literals: Vec<(VarId, Value)>,
    /// Generate the group.
    pub generators: Vec<SparsePermutation>,
    /// How many symmetries there are, the identity included.
    pub order: BigUint,
    /// Whether these are all automorphisms of the graph: no deadline ended the search. If not, the
    /// order is a lower bound.
    pub is_complete: bool,
}

/// Finds the symmetries of a network.
///
/// # Errors
/// When the graph of the network is too large, or the deadline is reached before it is made.
pub fn find_symmetries(
    network: &Network,
    limits: &StructureLimits,
    deadline: &Deadline,
) -> Result<NetworkSymmetries, StructureError> {
    Ok(Microstructure::new(network, &Extra::default(), limits, deadline)?.symmetries(deadline))
}

impl Microstructure {
    /// Finds the automorphisms of the graph. Each generator was compared with the graph arc by arc.
    pub fn symmetries(&self, deadline: &Deadline) -> NetworkSymmetries {
        let found = automorphisms(&self.graph, deadline);
        let n_literals = self.literals.len();
        let mut generators = Vec::new();
        // Vertices that are no literals are known by their literals, so none of them moves alone.
        let mut is_order_known = true;
        for generator in &found.generators {
            let on_literals: Vec<(u32, u32)> = (generator.moves().iter().copied())
                .filter(|&(from, _)| (from as usize) < n_literals)
                .collect();
            let permutation = SparsePermutation::new(on_literals).expect("literals stay literals");
            is_order_known &= !permutation.is_identity();
            if !permutation.is_identity() && self.graph.is_automorphism(generator) {
                generators.push(permutation);
            }
        }
        let mut symmetries = NetworkSymmetries {
            literals: self.literals.clone(),
            generators,
            order: found.order,
            is_complete: found.is_complete,
        };
        if !is_order_known {
            match symmetries.group(deadline) {
                Ok(group) => symmetries.order = group.order(),
                Err(_) => {
                    symmetries.order = BigUint::from(1_u32);
                    symmetries.is_complete = false;
                }
            }
        }
        symmetries
    }
}

impl NetworkSymmetries {
    /// Whether there is none but the identity.
    pub fn is_trivial(&self) -> bool {
        self.generators.is_empty()
    }

    /// Which literals the symmetries take to each other.
    pub fn orbits(&self) -> Orbits {
        Orbits::of(self.literals.len(), self.generators.iter())
    }

    /// The group, for questions about membership and stabilizers.
    ///
    /// # Errors
    /// When the deadline is reached.
    pub fn group(&self, deadline: &Deadline) -> Result<PermutationGroup, StopReason> {
        PermutationGroup::new(self.literals.len(), &self.generators, Seed(1), deadline)
    }

    /// The number of a literal.
    pub fn literal(&self, x: VarId, value: Value) -> Option<u32> {
        self.literals.binary_search(&(x, value)).ok().map(|place| place as u32)
    }

    /// The image of an assignment, a value for each variable; `None` if a value is in no domain.
    pub fn image(&self, symmetry: &SparsePermutation, assignment: &[Value]) -> Option<Vec<Value>> {
        let mut image = assignment.to_vec();
        for (idx, &value) in assignment.iter().enumerate() {
            let literal = self.literal(VarId::new(idx), value)?;
            let (x, value) = self.literals[symmetry.image(literal) as usize];
            image[x.index()] = value;
        }
        Some(image)
    }

    /// If a symmetry takes each variable as a whole to a variable: where each variable goes, and
    /// where its values go.
    pub fn by_variable(&self, symmetry: &SparsePermutation) -> Option<Vec<VariableImage>> {
        let mut images: Vec<VariableImage> = Vec::new();
        for (literal, &(x, value)) in (0..).zip(&self.literals) {
            let (to, image) = self.literals[symmetry.image(literal) as usize];
            match images.last_mut() {
                Some(last) if last.variable == x => {
                    if last.to != to {
                        return None;
                    }
                    last.values.push((value, image));
                }
                _ => images.push(VariableImage { variable: x, to, values: vec![(value, image)] }),
            }
        }
        Some(images)
    }

    /// A symmetry in words: variables that are exchanged as they are, values, or literals.
    pub fn in_words(&self, symmetry: &SparsePermutation, network: &Network) -> String {
        let keeps_values = |image: &VariableImage| image.values.iter().all(|(a, b)| a == b);
        let name = |x: VarId| network.variable(x).name.clone();
        if let Some(images) = self.by_variable(symmetry)
            && images.iter().all(keeps_values)
        {
            let moves = images.iter().filter(|image| image.variable != image.to);
            let moves = moves.map(|image| (image.variable.index() as u32, image.to.index() as u32));
            let permutation = SparsePermutation::new(moves.collect()).expect("variables permute");
            let text = |x: &u32| name(VarId::new(*x as usize));
            return cycles_in_words(&permutation, &text);
        }
        let text = |literal: &u32| {
            let (x, value) = self.literals[*literal as usize];
            format!("{}={}", name(x), network.label(x, value))
        };
        cycles_in_words(symmetry, &text)
    }
}

/// Where a symmetry takes a variable and its values.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VariableImage {
    /// The variable.
    pub variable: VarId,
    /// Its image.
    pub to: VarId,
    /// Each value with its image.
    pub values: Vec<(Value, Value)>,
}

/// Cycles that are written before the rest is counted.
const MAX_CYCLES: usize = 12;

fn cycles_in_words(permutation: &SparsePermutation, text: &dyn Fn(&u32) -> String) -> String {
    let cycles = permutation.cycles();
    let listed = cycles.iter().take(MAX_CYCLES).map(|cycle| {
        let points: Vec<String> = cycle.iter().map(text).collect();
        format!("({})", points.join(" "))
    });
    let mut words = listed.collect::<Vec<_>>().join(" ");
    if cycles.len() > MAX_CYCLES {
        words += &format!(" and {} more cycles", cycles.len() - MAX_CYCLES);
    }
    words
}
