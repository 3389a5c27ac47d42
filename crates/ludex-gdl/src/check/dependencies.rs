//! Checks of dependencies: forbidden uses of the state and the moves, negation, recursion.

use std::collections::VecDeque;

use ludex_base::graph::Graph;
use ludex_base::ids::narrow;
use ludex_base::{Diagnostic, Severity, StopReason};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Outcome;
use super::survey::{Survey, Use};
use crate::codes;
use crate::keyword::Keyword;
use crate::report::Report;
use crate::syntax::{Clause, Term, TermKind};

pub(super) fn check(survey: &Survey<'_>, report: &mut Report) -> Outcome {
    reach(survey, report)?;
    let component_of = components(survey)?;
    negation(survey, &component_of, report)?;
    recursion(survey, &component_of, report)
}

/// Returns what is wrong when the clauses of a keyword reach `true` or `does`.
fn verdict(head: Keyword, reached: Keyword) -> Option<(Severity, &'static str, &'static str)> {
    match (head, reached) {
        (Keyword::Role, _) => Some((
            Severity::Fatal,
            codes::ROLE_NOT_STATIC,
            "the roles must be the same in every state",
        )),
        (Keyword::Init, _) => Some((
            Severity::Fatal,
            codes::INIT_DEPENDS_ON_STATE,
            "there is no state before the first",
        )),
        (
            Keyword::Legal | Keyword::Goal | Keyword::Terminal | Keyword::Base | Keyword::Input,
            Keyword::Does,
        ) => Some((
            Severity::Tolerated,
            codes::DOES_OUTSIDE_TRANSITION,
            "only `next` and `sees` may depend on the moves: remember them in the state",
        )),
        (Keyword::Base | Keyword::Input, Keyword::True) => Some((
            Severity::Warning,
            codes::DECLARATION_DEPENDS_ON_STATE,
            "it declares what may occur in any state, so it must not depend on one",
        )),
        _ => None,
    }
}

/// Reports the first condition of each clause of a keyword that leads to a forbidden dependency.
fn reach(survey: &Survey<'_>, report: &mut Report) -> Outcome {
    let towards_does = Towards::new(survey, Keyword::Does)?;
    let towards_true = Towards::new(survey, Keyword::True)?;
    for (clause, (head, uses)) in survey.sheet.clauses.iter().zip(&survey.clauses) {
        survey.pace.steps(1 + uses.len())?;
        let Some(keyword) = survey.keyword(*head) else { continue };
        let found = [(&towards_does, Keyword::Does), (&towards_true, Keyword::True)]
            .into_iter()
            .find_map(|(towards, reached)| {
                let it = uses.iter().find(|it| towards.is_reached_from(it.relation))?;
                verdict(keyword, reached).map(|verdict| (towards, reached, it, verdict))
            });
        match found {
            Some((towards, reached, it, (severity, code, help))) => {
                let path = towards.path(survey, it.relation);
                let message = format!(
                    "`{}` depends on `{}`{}",
                    keyword.name(),
                    reached.name(),
                    if path.is_empty() { path } else { format!(" by way of {path}") }
                );
                report.push(Diagnostic::new(severity, code, it.atom.span, message).with_help(help));
            }
            None if keyword == Keyword::Role && !clause.body.is_empty() => report.push(
                Diagnostic::new(
                    Severity::Warning,
                    codes::ROLE_BY_RULE,
                    clause.head.span,
                    "a role is derived by a rule",
                )
                .with_help(
                    "state roles as facts: derived roles come last, in the order of their texts",
                ),
            ),
            None => {}
        }
    }
    Ok(())
}

/// The relations that reach a target relation, with the shortest paths.
struct Towards {
    /// For each relation, the next one on a shortest path; the target itself for the target.
    next: Vec<Option<usize>>,
}

impl Towards {
    fn new(survey: &Survey<'_>, keyword: Keyword) -> Result<Self, StopReason> {
        let mut users = vec![Vec::new(); survey.relations.len()];
        for (head, uses) in &survey.clauses {
            // Rules for `true` and `does` are not followed: nothing derives these.
            if matches!(survey.keyword(*head), Some(Keyword::True | Keyword::Does)) {
                continue;
            }
            survey.pace.steps(1 + uses.len())?;
            uses.iter().for_each(|it| users[it.relation].push(*head));
        }
        let mut next = vec![None; survey.relations.len()];
        let mut open = VecDeque::new();
        if let Some(goal) = survey.of_keyword(keyword) {
            next[goal] = Some(goal);
            open.push_back(goal);
        }
        while let Some(relation) = open.pop_front() {
            for &user in &users[relation] {
                survey.pace.step()?;
                if next[user].is_none() {
                    next[user] = Some(relation);
                    open.push_back(user);
                }
            }
        }
        Ok(Self { next })
    }

    fn is_reached_from(&self, relation: usize) -> bool {
        self.next[relation].is_some()
    }

    /// Lists the relations on the path, without the target.
    fn path(&self, survey: &Survey<'_>, mut relation: usize) -> String {
        let mut names = Vec::new();
        while let Some(next) = self.next[relation].filter(|&next| next != relation) {
            names.push(format!("`{}`", survey.relation_name(relation)));
            relation = next;
        }
        if names.len() > 4 {
            names.splice(2..names.len() - 1, ["…".to_owned()]);
        }
        names.join(", ")
    }
}

/// Returns for each relation its component: the group of relations that depend on each other.
fn components(survey: &Survey<'_>) -> Result<Vec<usize>, StopReason> {
    let mut edges: Vec<(u32, u32)> = Vec::new();
    for (head, uses) in &survey.clauses {
        survey.pace.steps(1 + uses.len())?;
        edges.extend(uses.iter().map(|it| (narrow(*head), narrow(it.relation))));
    }
    let mut component_of = vec![0; survey.relations.len()];
    let groups = Graph::new(survey.relations.len(), &edges).components();
    for (group_idx, group) in groups.into_iter().enumerate() {
        group.into_iter().for_each(|relation| component_of[relation as usize] = group_idx);
    }
    Ok(component_of)
}

/// Reports relations that depend on their own negation: as fatal if an atom clearly does, as a note
/// if only grounding can tell.
fn negation(survey: &Survey<'_>, component_of: &[usize], report: &mut Report) -> Outcome {
    let is_inner = |head: usize, it: &Use<'_>| component_of[head] == component_of[it.relation];
    let suspects: FxHashSet<usize> = survey
        .clauses
        .iter()
        .filter(|(head, uses)| uses.iter().any(|it| !it.is_positive && is_inner(*head, it)))
        .map(|(head, _)| component_of[*head])
        .collect();
    if suspects.is_empty() {
        return Ok(());
    }
    let ground = GroundAtoms::new(survey, component_of, &suspects)?;
    let mut reported = ground.report_cycles(survey, report);
    for (head, uses) in &survey.clauses {
        survey.pace.steps(1 + uses.len())?;
        for it in uses.iter().filter(|it| !it.is_positive && is_inner(*head, it)) {
            if reported.insert(component_of[*head]) {
                let message = format!(
                    "`{}` depends on the negation of `{}`, which depends on it in turn",
                    survey.relation_name(*head),
                    survey.relation_name(it.relation)
                );
                report.push(
                    Diagnostic::new(
                        Severity::Note,
                        codes::STRATIFIED_WHEN_GROUND,
                        it.atom.span,
                        message,
                    )
                    .with_help(
                        "fine unless an atom depends on its own negation; grounding decides that",
                    ),
                );
            }
        }
    }
    Ok(())
}

/// The dependencies between ground atoms, in rules that no fact can disable.
struct GroundAtoms<'a> {
    ids: FxHashMap<String, u32>,
    edges: Vec<(u32, u32)>,
    /// Edges through a negation, with the component of relations and the negated atom.
    negative: Vec<(u32, u32, usize, &'a Term)>,
}

impl<'a> GroundAtoms<'a> {
    fn new(
        survey: &Survey<'a>,
        component_of: &[usize],
        suspects: &FxHashSet<usize>,
    ) -> Result<Self, StopReason> {
        let mut atoms = Self { ids: FxHashMap::default(), edges: Vec::new(), negative: Vec::new() };
        let towards_state =
            [Towards::new(survey, Keyword::True)?, Towards::new(survey, Keyword::Does)?];
        let is_static = |it: &Use<'_>| {
            !towards_state.iter().any(|towards| towards.is_reached_from(it.relation))
        };
        for (clause, (head, uses)) in survey.sheet.clauses.iter().zip(&survey.clauses) {
            survey.pace.steps(1 + uses.len())?;
            let component = component_of[*head];
            // A static condition may be false, and then there is no such ground rule.
            let has_switch = uses.iter().any(|it| {
                it.is_positive && is_static(it) && component_of[it.relation] != component
            });
            if !suspects.contains(&component) || !is_ground(&clause.head) || has_switch {
                continue;
            }
            let from = atoms.id(survey, &clause.head);
            for it in uses.iter().filter(|it| component_of[it.relation] == component) {
                if !is_ground(it.atom) {
                    continue;
                }
                let to = atoms.id(survey, it.atom);
                atoms.edges.push((from, to));
                if !it.is_positive {
                    atoms.negative.push((from, to, component, it.atom));
                }
            }
        }
        Ok(atoms)
    }

    fn id(&mut self, survey: &Survey<'_>, atom: &Term) -> u32 {
        let next = narrow(self.ids.len());
        *self.ids.entry(survey.term(atom)).or_insert(next)
    }

    /// Reports each group of atoms that depend on their own negation; returns the components of
    /// relations that they belong to.
    fn report_cycles(&self, survey: &Survey<'_>, report: &mut Report) -> FxHashSet<usize> {
        let mut group_of = vec![0; self.ids.len()];
        let groups = Graph::new(self.ids.len(), &self.edges).components();
        for (group_idx, group) in groups.into_iter().enumerate() {
            group.into_iter().for_each(|atom| group_of[atom as usize] = group_idx);
        }
        let mut reported = FxHashSet::default();
        let mut reported_groups = FxHashSet::default();
        for &(from, to, component, atom) in &self.negative {
            let group = group_of[from as usize];
            if group == group_of[to as usize] && reported_groups.insert(group) {
                reported.insert(component);
                let message = format!("`{}` depends on its own negation", survey.term(atom));
                report.push(
                    Diagnostic::new(Severity::Fatal, codes::NEGATIVE_CYCLE, atom.span, message)
                        .with_help(
                            "break the cycle: such rules make the atom neither true nor false",
                        ),
                );
            }
        }
        reported
    }
}

fn is_ground(term: &Term) -> bool {
    let mut is_ground = true;
    term.for_each_variable(&mut |_, _| is_ground = false);
    is_ground
}

/// Checks the recursion restriction: an argument of a recursive call is ground, or an argument of
/// the head, or an argument of a condition outside the recursion.
///
/// The restriction keeps grounding finite. If the recursion builds no terms, grounding is finite
/// anyway, and a note is enough.
///
/// Definition 15 of Love, Hinrichs, Haley, Schkufza and Genesereth, *General Game Playing: Game
/// Description Language Specification*, 2008.
fn recursion(survey: &Survey<'_>, component_of: &[usize], report: &mut Report) -> Outcome {
    let mut builds_terms: FxHashSet<usize> = FxHashSet::default();
    let recursive = |head: usize, it: &Use<'_>| component_of[head] == component_of[it.relation];
    for (clause, (head, uses)) in survey.sheet.clauses.iter().zip(&survey.clauses) {
        survey.pace.steps(1 + uses.len())?;
        let is_recursive = uses.iter().any(|it| recursive(*head, it));
        if is_recursive && clause.head.args().iter().any(builds) {
            builds_terms.insert(component_of[*head]);
        }
    }
    for (clause, (head, uses)) in survey.sheet.clauses.iter().zip(&survey.clauses) {
        for it in uses.iter().filter(|it| it.is_positive && recursive(*head, it)) {
            // Each call is compared with every condition of its clause.
            survey.pace.steps(1 + uses.len())?;
            let Some(free) = free_argument(survey, component_of, clause, *head, uses, it) else {
                continue;
            };
            let is_dangerous = builds_terms.contains(&component_of[*head]);
            let severity = if is_dangerous { Severity::Warning } else { Severity::Note };
            let message = format!(
                "`{}` in the recursive call of `{}` is bound by the recursion alone",
                survey.term(free),
                survey.relation_name(it.relation)
            );
            let help = if is_dangerous {
                "bound it by a condition outside the recursion; otherwise grounding may not end"
            } else {
                "this rule builds no terms, so grounding ends; strict GDL forbids it all the same"
            };
            let code = codes::UNRESTRICTED_RECURSION;
            report.push(Diagnostic::new(severity, code, free.span, message).with_help(help));
        }
    }
    Ok(())
}

/// Returns whether a term is compound and has variables.
fn builds(term: &Term) -> bool {
    matches!(term.kind, TermKind::Compound(..)) && !is_ground(term)
}

fn free_argument<'t>(
    survey: &Survey<'_>,
    component_of: &[usize],
    clause: &Clause,
    head: usize,
    uses: &[Use<'_>],
    call: &Use<'t>,
) -> Option<&'t Term> {
    let open: Vec<&'t Term> = call.atom.args().iter().filter(|arg| !is_ground(arg)).collect();
    if open.is_empty() {
        return None;
    }
    let outside = uses
        .iter()
        .filter(|it| it.is_positive && component_of[it.relation] != component_of[head])
        .flat_map(|it| it.atom.args());
    let known: FxHashSet<String> =
        clause.head.args().iter().chain(outside).map(|arg| survey.term(arg)).collect();
    open.into_iter().find(|arg| !known.contains(&survey.term(arg)))
}
