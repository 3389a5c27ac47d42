//! Checks of fluents and moves, by their names.

use std::collections::BTreeMap;

use ludex_base::{Diagnostic, Severity, Span, StopReason, Symbol};

use super::Outcome;
use super::survey::{N_SIMILAR, Survey, n_arguments, similar};
use crate::codes;
use crate::keyword::Keyword;
use crate::report::Report;
use crate::syntax::{Clause, Term, TermKind};

pub(super) fn check(survey: &Survey<'_>, report: &mut Report) -> Outcome {
    let fluents = Sorts {
        made: heads(survey, &[Keyword::Init, Keyword::Next], Some(Keyword::True))?,
        asked: asked(survey, Keyword::True)?,
        declared: heads(survey, &[Keyword::Base], None)?,
        what: "fluent",
        declaration: "base",
        maker: "`init` or `next`",
        unreachable: codes::UNREACHABLE_FLUENT,
        disagrees: codes::BASE_DISAGREES,
    };
    let moves = Sorts {
        made: heads(survey, &[Keyword::Legal], Some(Keyword::Does))?,
        asked: asked(survey, Keyword::Does)?,
        declared: heads(survey, &[Keyword::Input], None)?,
        what: "move",
        declaration: "input",
        maker: "`legal`",
        unreachable: codes::UNREACHABLE_MOVE,
        disagrees: codes::INPUT_DISAGREES,
    };
    fluents.check(survey, report)?;
    moves.check(survey, report)
}

/// A name with a number of arguments.
type Sort = (Symbol, usize);

/// The sorts of terms in some position of some clauses, each with its first place.
struct Places {
    sorts: BTreeMap<Sort, Span>,
    /// Whether a variable occurs there, so that any term may.
    has_any: bool,
    /// Whether there are no such clauses.
    is_empty: bool,
}

impl Places {
    fn new() -> Self {
        Self { sorts: BTreeMap::new(), has_any: false, is_empty: true }
    }

    fn add(&mut self, term: &Term) {
        self.is_empty = false;
        match term.name() {
            Some(name) => {
                self.sorts.entry((name, term.args().len())).or_insert(term.span);
            }
            None => self.has_any = true,
        }
    }
}

struct Sorts {
    made: Places,
    asked: Places,
    declared: Places,
    what: &'static str,
    declaration: &'static str,
    maker: &'static str,
    unreachable: &'static str,
    disagrees: &'static str,
}

impl Sorts {
    fn check(&self, survey: &Survey<'_>, report: &mut Report) -> Outcome {
        let Sorts { what, declaration, maker, .. } = self;
        // If there is no rule at all, `definitions` reports that instead.
        if !self.made.has_any && !self.made.is_empty {
            self.report(&self.asked, &self.made, self.unreachable, survey, report, |name| {
                (
                    format!("the {what} `{name}` is used, but no {maker} derives it"),
                    format!("add a {maker} rule that derives it, or correct the name"),
                )
            })?;
        }
        if self.declared.is_empty || self.made.is_empty {
            return Ok(());
        }
        if !self.declared.has_any {
            self.report(&self.made, &self.declared, self.disagrees, survey, report, |name| {
                (
                    format!("the {what} `{name}` is missing from `{declaration}`"),
                    format!("declare it with `{declaration}`"),
                )
            })?;
        }
        if !self.made.has_any {
            self.report(&self.declared, &self.made, self.disagrees, survey, report, |name| {
                (
                    format!("`{declaration}` declares `{name}`, but no {maker} derives it"),
                    "remove the declaration, or add a rule that derives it".to_owned(),
                )
            })?;
        }
        Ok(())
    }

    /// Reports the sorts of `some` that `others` lacks.
    fn report(
        &self,
        some: &Places,
        others: &Places,
        code: &'static str,
        survey: &Survey<'_>,
        report: &mut Report,
        say: impl Fn(&str) -> (String, String),
    ) -> Outcome {
        for ((name, arity), span) in &some.sorts {
            survey.pace.step()?;
            if others.sorts.contains_key(&(*name, *arity)) {
                continue;
            }
            if !report.has_room(code, Severity::Warning) {
                break;
            }
            survey.pace.steps(N_SIMILAR)?;
            let (message, mut help) = say(&survey.name(*name));
            let symbols = &survey.sheet.symbols;
            let other_arity = others.sorts.keys().find(|(other, _)| other == name);
            if let Some((_, other_arity)) = other_arity {
                help = format!("it has {} here and {other_arity} there", n_arguments(*arity));
            } else {
                let names = others.sorts.keys().map(|&(other, _)| symbols.name(other));
                if let Some(other) = similar(symbols.name(*name), names) {
                    help = format!("did you mean `{other}`?");
                }
            }
            report.push(Diagnostic::new(Severity::Warning, code, *span, message).with_help(help));
        }
        Ok(())
    }
}

/// Collects the last arguments of the heads of some keywords. A head that only copies from
/// `source`, `(<= (next ?f) (true ?f) …)`, adds none.
fn heads(
    survey: &Survey<'_>,
    keywords: &[Keyword],
    source: Option<Keyword>,
) -> Result<Places, StopReason> {
    let mut places = Places::new();
    for (clause, (head, uses)) in survey.sheet.clauses.iter().zip(&survey.clauses) {
        survey.pace.steps(1 + uses.len())?;
        let is_one = survey.keyword(*head).is_some_and(|keyword| keywords.contains(&keyword));
        let term = clause.head.args().last().filter(|_| is_one);
        if let Some(term) = term {
            if source.is_some_and(|source| passes_on(survey, clause, term, source)) {
                places.is_empty = false;
            } else {
                places.add(term);
            }
        }
    }
    Ok(places)
}

fn passes_on(survey: &Survey<'_>, clause: &Clause, term: &Term, source: Keyword) -> bool {
    let TermKind::Variable(variable) = term.kind else { return false };
    let mut is_passed_on = false;
    clause.for_each_atom(&mut |atom, is_positive| {
        let name = atom.name().map(|name| survey.sheet.symbols.name(name));
        let is_source = name.and_then(Keyword::parse) == Some(source);
        let last = atom.args().last().map(|arg| &arg.kind);
        let has_it = matches!(last, Some(TermKind::Variable(other)) if *other == variable);
        is_passed_on |= is_positive && is_source && has_it;
    });
    is_passed_on
}

/// Collects the last arguments of the atoms of a keyword in bodies.
fn asked(survey: &Survey<'_>, keyword: Keyword) -> Result<Places, StopReason> {
    let mut places = Places::new();
    for (_, uses) in &survey.clauses {
        survey.pace.steps(1 + uses.len())?;
        for it in uses.iter().filter(|it| survey.keyword(it.relation) == Some(keyword)) {
            it.atom.args().last().into_iter().for_each(|term| places.add(term));
        }
    }
    Ok(places)
}
