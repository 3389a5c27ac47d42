//! Hexagonal boards: grids on which a relation of the rules joins each cell with six neighbors.
//!
//! A rule that derives a relation of two cells, `(r ?x ?y ?x2 ?y2)`, from relations that order the
//! coordinates says how far apart the cells are. Six such offsets, the four sides and one diagonal,
//! make hexagons.

use std::collections::{BTreeMap, BTreeSet};

use ludex_analysis::orders::stated_orders;
use ludex_base::Symbol;
use ludex_gdl::{Atom, Literal, Pattern, Program, RelationId, Rule};

/// The diagonal that joins cells of a hexagonal board.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Slant {
    /// Right and up are neighbors.
    Rising,
    /// Right and down are neighbors.
    Falling,
}

/// Returns how the cells of a hexagonal board lean, if some relation makes hexagons.
pub(crate) fn find_slant(program: &Program) -> Option<Slant> {
    let orders: BTreeSet<Symbol> = stated_orders(program).iter().map(|it| it.relation).collect();
    let is_order = |atom: &Atom| {
        atom.args.len() == 2 && orders.contains(&program.relation(atom.relation).name)
    };
    let mut offsets: BTreeMap<RelationId, BTreeSet<(i32, i32)>> = BTreeMap::new();
    for rule in program.rules.iter().filter(|rule| rule.head.args.len() == 4) {
        if let Some((dx, dy)) = offset(rule, &is_order) {
            let offsets = offsets.entry(rule.head.relation).or_default();
            offsets.extend([(dx, dy), (-dx, -dy)]);
        }
    }
    let sides = [(1, 0), (-1, 0), (0, 1), (0, -1)];
    let slant = |offsets: &BTreeSet<(i32, i32)>| {
        let has_sides = sides.iter().all(|side| offsets.contains(side));
        match (offsets.contains(&(1, 1)), offsets.contains(&(1, -1))) {
            _ if !has_sides || offsets.len() != 6 => None,
            (true, false) => Some(Slant::Rising),
            (false, true) => Some(Slant::Falling),
            _ => None,
        }
    };
    offsets.values().find_map(slant)
}

/// Returns the offset between the two cells in the head of a rule, at most one in each coordinate.
fn offset(rule: &Rule, is_order: &dyn Fn(&Atom) -> bool) -> Option<(i32, i32)> {
    let variable = |idx: usize| match rule.head.args[idx] {
        Pattern::Variable(variable) => Some(variable),
        _ => None,
    };
    let step = |from: u32, to: u32| -> Option<i32> {
        if from == to {
            return Some(0);
        }
        rule.body.iter().find_map(|literal| match literal {
            Literal::Positive(atom) if is_order(atom) => match atom.args[..] {
                [Pattern::Variable(a), Pattern::Variable(b)] if (a, b) == (from, to) => Some(1),
                [Pattern::Variable(a), Pattern::Variable(b)] if (a, b) == (to, from) => Some(-1),
                _ => None,
            },
            _ => None,
        })
    };
    let (dx, dy) = (step(variable(0)?, variable(2)?)?, step(variable(1)?, variable(3)?)?);
    ((dx, dy) != (0, 0)).then_some((dx, dy))
}
