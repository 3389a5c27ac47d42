//! Boards whose cells are joined by a relation of the rules and have no coordinates.
//!
//! A static relation of facts, of two arguments or of three with the first two as the cells, is a
//! graph of cells if fluents name its cells and it is neither an order nor too dense to draw. The
//! cells are placed so that their distances on paper are like those along the lines.
//!
//! After Gansner, Koren and North, *Graph Drawing by Stress Majorization*, 2004.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use ludex_analysis::orders::stated_orders;
use ludex_gdl::{Atom, Keyword, Pattern, Program, RelationId, Rule, Stage};

use crate::patterns::{Leaf, atoms, constant, fluents, text};

/// A graph of cells.
#[derive(Clone, Debug)]
pub(crate) struct Graph {
    /// The names of the cells, sorted.
    pub(crate) nodes: Vec<String>,
    /// The place of each cell.
    pub(crate) places: Vec<(f64, f64)>,
    /// Joined cells, each pair once.
    pub(crate) edges: Vec<(usize, usize)>,
    /// For functions of fluents with their numbers of leaves, the leaf that is a cell.
    pub(crate) families: BTreeMap<(String, usize), usize>,
}

/// More cells are too many to draw.
const MAX_NODES: usize = 120;
/// More neighbors of a cell, on average, are too many to draw.
const MAX_LINES_PER_NODE: usize = 6;
/// Rounds of placing.
const N_ROUNDS: usize = 150;

/// Returns the largest graph of cells.
pub(crate) fn find_graph(program: &Program) -> Option<Graph> {
    let name = |term| text(program, program.terms.name(term));
    let orders: Vec<BTreeSet<String>> = stated_orders(program)
        .iter()
        .map(|order| order.terms.iter().map(|&term| name(term)).collect())
        .collect();
    let candidates = edges_of(program).into_iter().filter_map(|(relation, edges)| {
        let nodes: BTreeSet<String> =
            edges.iter().flat_map(|(from, to)| [from.clone(), to.clone()]).collect();
        if !is_drawable(&nodes, &edges, &orders) {
            return None;
        }
        let families = families(program, relation, &nodes);
        (!families.is_empty()).then_some((nodes, edges, families))
    });
    let (nodes, edges, families) = candidates.max_by_key(|(nodes, ..)| nodes.len())?;
    let nodes: Vec<String> = nodes.into_iter().collect();
    let index = |name: &String| nodes.binary_search(name).expect("an end of a line is a cell");
    let mut pairs: Vec<(usize, usize)> = edges
        .iter()
        .map(|(from, to)| (index(from), index(to)))
        .map(|(from, to)| (from.min(to), from.max(to)))
        .filter(|(from, to)| from != to)
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let places = place(nodes.len(), &pairs);
    Some(Graph { nodes, places, edges: pairs, families })
}

/// Whether the lines make a board that is worth drawing.
fn is_drawable(nodes: &BTreeSet<String>, edges: &Edges, orders: &[BTreeSet<String>]) -> bool {
    let mut neighbors: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for (from, to) in edges.iter().filter(|(from, to)| from != to) {
        neighbors.entry(from).or_default().insert(to);
        neighbors.entry(to).or_default().insert(from);
    }
    let n_ends: usize = neighbors.values().map(BTreeSet::len).sum();
    let is_ring = neighbors.values().all(|it| it.len() == 2);
    // Pairs of numbers are arithmetic, unless they go around; so are pairs of ordered names.
    let is_most =
        |order: &BTreeSet<String>| 4 * nodes.intersection(order).count() >= 3 * nodes.len();
    let are_numbers =
        nodes.iter().all(|name| name.parse::<i64>().is_ok()) || orders.iter().any(is_most);
    let is_branched = neighbors.values().any(|it| it.len() > 2) && !are_numbers;
    let is_sparse = n_ends <= MAX_LINES_PER_NODE * nodes.len() && 2 * n_ends <= nodes.len().pow(2);
    (6..=MAX_NODES).contains(&nodes.len()) && is_sparse && (is_ring || is_branched)
}

/// Pairs of joined cells.
pub(crate) type Edges = Vec<(String, String)>;

/// Returns the pairs of each static relation of facts. A relation of three cells in a row gives two
/// pairs; a third argument that is no cell is ignored.
pub(crate) fn edges_of(program: &Program) -> BTreeMap<RelationId, Edges> {
    let mut facts: BTreeMap<RelationId, Vec<Vec<String>>> = BTreeMap::new();
    for rule in program.rules.iter().filter(|rule| rule.body.is_empty()) {
        let relation = rule.head.relation;
        let is_keyword = Keyword::ALL.iter().any(|&it| relation == it.into());
        let is_static = program.relation(relation).stage == Stage::Static;
        let names = rule.head.args.iter().map(|arg| Some(text(program, constant(program, arg)?)));
        let names: Option<Vec<String>> = names.collect();
        if let Some(names) = names
            && !is_keyword
            && is_static
            && (2..=3).contains(&names.len())
        {
            facts.entry(relation).or_default().push(names);
        }
    }
    let edges = |facts: Vec<Vec<String>>| {
        let ends: BTreeSet<String> = facts.iter().flat_map(|it| it[..2].to_vec()).collect();
        let in_a_row = facts.iter().all(|it| it.get(2).is_some_and(|it| ends.contains(it)));
        let mut edges = Edges::new();
        for fact in facts {
            edges.push((fact[0].clone(), fact[1].clone()));
            if in_a_row {
                edges.push((fact[1].clone(), fact[2].clone()));
            }
        }
        edges
    };
    facts.into_iter().map(|(relation, facts)| (relation, edges(facts))).collect()
}

/// Returns the fluents that name cells: by a constant, or by a variable that a rule shares between
/// the fluent and the relation, or a relation that is derived from it.
fn families(
    program: &Program,
    relation: RelationId,
    nodes: &BTreeSet<String>,
) -> BTreeMap<(String, usize), usize> {
    let cells = cell_arguments(program, relation);
    let mut families = BTreeMap::new();
    for rule in &program.rules {
        let variables = cell_variables(rule, &cells);
        let is_init = rule.head.relation == Keyword::Init.into();
        for fluent in fluents(program, rule) {
            let is_cell = |leaf: &Leaf| match leaf {
                Leaf::Variable(variable) => variables.contains(variable),
                Leaf::Constant(symbol) => is_init && nodes.contains(&text(program, *symbol)),
            };
            if let Some(leaf) = fluent.leaves.iter().position(is_cell) {
                let family = (text(program, fluent.name), fluent.leaves.len());
                families.entry(family).or_insert(leaf);
            }
        }
    }
    families
}

/// Returns the arguments of static relations that are cells: those of the relation itself, and those
/// that rules derive from them.
fn cell_arguments(program: &Program, relation: RelationId) -> BTreeSet<(RelationId, usize)> {
    let mut cells: BTreeSet<(RelationId, usize)> = [(relation, 0), (relation, 1)].into();
    loop {
        let n_before = cells.len();
        for rule in &program.rules {
            let head = &rule.head;
            if rule.body.is_empty() || program.relation(head.relation).stage != Stage::Static {
                continue;
            }
            let variables = cell_variables(rule, &cells);
            for (idx, arg) in head.args.iter().enumerate() {
                if matches!(arg, Pattern::Variable(it) if variables.contains(it)) {
                    cells.insert((head.relation, idx));
                }
            }
        }
        if cells.len() == n_before {
            return cells;
        }
    }
}

/// Returns the variables of a rule that are cells, according to its body.
fn cell_variables(rule: &Rule, cells: &BTreeSet<(RelationId, usize)>) -> BTreeSet<u32> {
    let of_atom = |atom: &Atom| {
        let args = atom.args.iter().enumerate();
        let args = args.filter(|(idx, _)| cells.contains(&(atom.relation, *idx)));
        args.filter_map(|(_, arg)| match arg {
            Pattern::Variable(variable) => Some(*variable),
            _ => None,
        })
        .collect::<Vec<_>>()
    };
    atoms(rule).skip(1).flat_map(of_atom).collect()
}

/// Places cells in the plane.
fn place(n_nodes: usize, edges: &[(usize, usize)]) -> Vec<(f64, f64)> {
    let distances = distances(n_nodes, edges);
    let turn = std::f64::consts::TAU / n_nodes as f64;
    let radius = n_nodes as f64 / 4.0;
    let on_circle = |idx: usize| {
        let angle = turn * idx as f64;
        (radius * angle.cos(), radius * angle.sin())
    };
    let mut places: Vec<(f64, f64)> = (0..n_nodes).map(on_circle).collect();
    for _ in 0..N_ROUNDS {
        for node in 0..n_nodes {
            let (mut x, mut y, mut total) = (0.0, 0.0, 0.0);
            for other in (0..n_nodes).filter(|&other| other != node) {
                let wanted = distances[node][other];
                let weight = 1.0 / (wanted * wanted);
                let (dx, dy) = (places[node].0 - places[other].0, places[node].1 - places[other].1);
                let stretch = wanted / dx.hypot(dy).max(1e-6);
                x += weight * (places[other].0 + dx * stretch);
                y += weight * (places[other].1 + dy * stretch);
                total += weight;
            }
            places[node] = (x / total, y / total);
        }
    }
    spread(&mut places);
    places
}

/// The number of lines between each two cells; cells in different parts are far apart.
fn distances(n_nodes: usize, edges: &[(usize, usize)]) -> Vec<Vec<f64>> {
    let mut neighbors = vec![Vec::new(); n_nodes];
    for &(from, to) in edges {
        neighbors[from].push(to);
        neighbors[to].push(from);
    }
    let far = (n_nodes as f64).sqrt() + 1.0;
    let from_one = |start: usize| {
        let mut row = vec![far; n_nodes];
        let mut seen = vec![false; n_nodes];
        (row[start], seen[start]) = (0.0, true);
        let mut open = VecDeque::from([start]);
        while let Some(node) = open.pop_front() {
            for &next in &neighbors[node] {
                if !std::mem::replace(&mut seen[next], true) {
                    row[next] = row[node] + 1.0;
                    open.push_back(next);
                }
            }
        }
        row
    };
    (0..n_nodes).map(from_one).collect()
}

/// Scales places so that the closest cells do not overlap, and moves them to the top left.
fn spread(places: &mut [(f64, f64)]) {
    let mut closest = f64::MAX;
    for (idx, a) in places.iter().enumerate() {
        for b in &places[..idx] {
            closest = closest.min((a.0 - b.0).hypot(a.1 - b.1));
        }
    }
    let scale = (1.2 / closest.max(0.2)).max(1.0);
    let least = |of: fn(&(f64, f64)) -> f64| places.iter().map(of).fold(f64::MAX, f64::min);
    let (left, top) = (least(|it| it.0), least(|it| it.1));
    for place in places {
        *place = ((place.0 - left) * scale, (place.1 - top) * scale);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_cells_are_close_and_no_two_overlap() {
        let ring: Vec<(usize, usize)> = (0..8).map(|idx| (idx, (idx + 1) % 8)).collect();
        let places = place(8, &ring);
        let distance =
            |a: usize, b: usize| (places[a].0 - places[b].0).hypot(places[a].1 - places[b].1);
        for (from, to) in ring {
            assert!(distance(from, to) >= 1.0 && distance(from, to) < distance(from, from ^ 4));
        }
    }
}
