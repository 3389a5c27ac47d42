//! The first step: fluents that never change are read from `init`.
//!
//! A maze is often written as fluents, `(init (wall 3 4 north))`, with a frame rule that keeps them:
//! `(<= (next (wall ?x ?y ?z)) (true (wall ?x ?y ?z)))`. If no other rule derives such a fluent for the
//! next state, it holds in every state that play reaches, or in none. So a condition on it is a
//! condition on `init`, which does not depend on the state, and neither does what follows from it.
//!
//! The frame rule itself stays as it is: the fluents are still in every state.

use std::borrow::Cow;

use ludex_base::Symbol;
use ludex_gdl::{Atom, Keyword, Literal, Pattern, Program, RelationId, Rule, Stage, Terms};
use rustc_hash::FxHashMap;

/// Rules of `next` for fluents of one name that are compared with each condition; with more of them,
/// the fluents count as changing.
const MAX_RULES: usize = 64;

/// Returns the program in which conditions on fluents that never change are conditions on `init`.
pub(crate) fn resolve(program: &Program) -> Cow<'_, Program> {
    let frames = Frames::of(program);
    // There is no state before the beginning: what `init` and `role` depend on is left alone.
    let is_before = before_play(program);
    let true_id = RelationId::from(Keyword::True);
    let is_rigid = |rule: &Rule, atom: &Atom| {
        atom.relation == true_id
            && !is_before[rule.head.relation.index()]
            && !is_frame(rule)
            && frames.keep(&atom.args[0], &program.terms)
    };
    let mut changed: Option<Program> = None;
    for (rule_idx, rule) in program.rules.iter().enumerate() {
        for (literal_idx, literal) in rule.body.iter().enumerate() {
            let (Literal::Positive(atom) | Literal::Negative(atom)) = literal else { continue };
            if is_rigid(rule, atom) {
                let changed = changed.get_or_insert_with(|| program.clone());
                let (Literal::Positive(atom) | Literal::Negative(atom)) =
                    &mut changed.rules[rule_idx].body[literal_idx]
                else {
                    continue;
                };
                atom.relation = Keyword::Init.into();
            }
        }
    }
    match changed {
        None => Cow::Borrowed(program),
        Some(mut changed) => {
            changed.set_stages();
            let init = RelationId::from(Keyword::Init);
            match changed.relation(init).stage {
                Stage::Static => Cow::Owned(changed),
                Stage::State | Stage::Transition => Cow::Borrowed(program),
            }
        }
    }
}

/// Returns for each relation whether `init` or `role` depends on it.
fn before_play(program: &Program) -> Vec<bool> {
    let mut bodies = vec![Vec::new(); program.relations.len()];
    for rule in &program.rules {
        bodies[rule.head.relation.index()].extend(rule.dependencies().map(|(id, _)| id));
    }
    let mut is_before = vec![false; program.relations.len()];
    let mut open = [Keyword::Init, Keyword::Role].map(RelationId::from).to_vec();
    while let Some(id) = open.pop() {
        if !std::mem::replace(&mut is_before[id.index()], true) {
            open.extend(&bodies[id.index()]);
        }
    }
    is_before
}

/// Returns whether a rule keeps a fluent, whatever happens.
fn is_frame(rule: &Rule) -> bool {
    rule.head.relation == Keyword::Next.into()
        && matches!(&*rule.body, [Literal::Positive(atom)]
            if atom.relation == Keyword::True.into() && atom.args == rule.head.args)
}

/// The rules of `next`, by the fluents they derive.
struct Frames<'a> {
    /// The rules for fluents of a name with a number of arguments.
    by_name: FxHashMap<(Symbol, usize), Vec<&'a Rule>>,
    /// Whether a rule derives fluents of any name.
    has_any: bool,
}

impl<'a> Frames<'a> {
    fn of(program: &'a Program) -> Self {
        let mut frames = Self { by_name: FxHashMap::default(), has_any: false };
        for rule in program.rules.iter().filter(|it| it.head.relation == Keyword::Next.into()) {
            match name_of(&rule.head.args[0], &program.terms) {
                Some(name) => frames.by_name.entry(name).or_default().push(rule),
                None => frames.has_any = true,
            }
        }
        frames
    }

    /// Returns whether each fluent of this form has the same value in all states.
    fn keep(&self, fluent: &Pattern, terms: &Terms) -> bool {
        let Some(name) = name_of(fluent, terms) else { return false };
        let rules = self.by_name.get(&name).map_or(&[][..], Vec::as_slice);
        if self.has_any || rules.len() > MAX_RULES {
            return false;
        }
        let mut is_kept = false;
        for rule in rules {
            let head = &rule.head.args[0];
            if is_frame(rule) {
                is_kept |= covers(head, fluent, terms, &mut FxHashMap::default());
            } else if may_meet(head, fluent, terms) {
                return false;
            }
        }
        is_kept
    }
}

/// Returns the name and the number of arguments of a term; `None` for a variable.
fn name_of(pattern: &Pattern, terms: &Terms) -> Option<(Symbol, usize)> {
    match pattern {
        Pattern::Variable(_) => None,
        Pattern::Ground(term) => Some((terms.name(*term), terms.args(*term).len())),
        Pattern::Compound(name, args) => Some((*name, args.len())),
    }
}

/// The arguments of a term that is not a variable.
fn parts(pattern: &Pattern, terms: &Terms) -> Vec<Pattern> {
    match pattern {
        Pattern::Variable(_) => Vec::new(),
        Pattern::Ground(term) => {
            terms.args(*term).iter().map(|&arg| Pattern::Ground(arg)).collect()
        }
        Pattern::Compound(_, args) => args.to_vec(),
    }
}

/// Returns whether some term has both forms; it may be wrong where a variable occurs twice, and says
/// yes then.
fn may_meet(left: &Pattern, right: &Pattern, terms: &Terms) -> bool {
    match (left, right) {
        (Pattern::Variable(_), _) | (_, Pattern::Variable(_)) => true,
        (Pattern::Ground(left), Pattern::Ground(right)) => left == right,
        _ => {
            name_of(left, terms) == name_of(right, terms)
                && (parts(left, terms).iter().zip(&parts(right, terms)))
                    .all(|(left, right)| may_meet(left, right, terms))
        }
    }
}

/// Returns whether every term of the form `inner` has the form `outer`.
fn covers(
    outer: &Pattern,
    inner: &Pattern,
    terms: &Terms,
    values: &mut FxHashMap<u32, Pattern>,
) -> bool {
    match outer {
        Pattern::Variable(variable) => match values.get(variable) {
            Some(value) => value == inner,
            None => {
                values.insert(*variable, inner.clone());
                true
            }
        },
        Pattern::Ground(term) => matches!(inner, Pattern::Ground(other) if other == term),
        Pattern::Compound(..) => {
            name_of(outer, terms) == name_of(inner, terms)
                && (parts(outer, terms).into_iter().zip(parts(inner, terms)))
                    .all(|(outer, inner)| covers(&outer, &inner, terms, values))
        }
    }
}
