//! Checks of definitions: relations that are missing, undefined, unused, or have several arities.

use std::collections::BTreeMap;

use ludex_base::{Diagnostic, Severity, Span, Symbol};

use super::Outcome;
use super::survey::{N_SIMILAR, Survey, n_arguments, similar};
use crate::codes;
use crate::keyword::Keyword;
use crate::report::Report;

pub(super) fn check(survey: &Survey<'_>, report: &mut Report) -> Outcome {
    missing(survey, report);
    arities(survey, report)?;
    undefined(survey, report)?;
    unused(survey, report)
}

/// The keywords that a game needs, with the severity, code and consequence if they are missing.
const NEEDED: [(Keyword, Severity, &str, &str); 6] = [
    (Keyword::Role, Severity::Fatal, codes::MISSING_ROLE, "nobody takes part"),
    (Keyword::Legal, Severity::Tolerated, codes::MISSING_LEGAL, "nobody can move"),
    (Keyword::Terminal, Severity::Tolerated, codes::MISSING_TERMINAL, "the game never ends"),
    (Keyword::Goal, Severity::Tolerated, codes::MISSING_GOAL, "every outcome is worth 0"),
    (Keyword::Init, Severity::Warning, codes::MISSING_INIT, "nothing is true at the beginning"),
    (Keyword::Next, Severity::Warning, codes::MISSING_NEXT, "nothing is true after a move"),
];

fn missing(survey: &Survey<'_>, report: &mut Report) {
    for (keyword, severity, code, consequence) in NEEDED {
        if survey.is_defined(keyword) {
            continue;
        }
        let name = keyword.name();
        let message = format!("no clause has `{name}` in its head: {consequence}");
        let mut diagnostic = Diagnostic::new(severity, code, Span::default(), message);
        let relations = survey.relations.iter().filter(|it| it.keyword.is_none());
        let names = relations.filter(|it| !it.heads.is_empty());
        let names = names.map(|it| survey.sheet.symbols.name(it.name));
        diagnostic = match similar(name, names) {
            Some(other) => diagnostic.with_help(format!("is `{other}` a misspelling of it?")),
            None => diagnostic.with_help(format!("add a fact or a rule for `{name}`")),
        };
        report.push(diagnostic);
    }
}

/// Groups the relations by name, except keywords.
fn by_name(survey: &Survey<'_>) -> BTreeMap<Symbol, Vec<usize>> {
    let mut by_name: BTreeMap<Symbol, Vec<usize>> = BTreeMap::new();
    for (idx, relation) in survey.relations.iter().enumerate() {
        if relation.keyword.is_none() {
            by_name.entry(relation.name).or_default().push(idx);
        }
    }
    by_name
}

fn arities(survey: &Survey<'_>, report: &mut Report) -> Outcome {
    for relations in by_name(survey).into_values().filter(|relations| relations.len() > 1) {
        let n_places = |idx: usize| {
            let relation = &survey.relations[idx];
            relation.heads.len() + relation.uses.len()
        };
        let first_place = |idx: usize| {
            let relation = &survey.relations[idx];
            relation.heads.iter().chain(&relation.uses).min().copied().unwrap_or_default()
        };
        // The most frequent number of arguments is taken as the right one; in a tie, the first.
        let usual = relations
            .iter()
            .copied()
            .max_by_key(|&idx| (n_places(idx), std::cmp::Reverse(first_place(idx))))
            .expect("a name has a relation");
        let as_here = first_place(usual);
        for &idx in relations.iter().filter(|&&idx| idx != usual) {
            let relation = &survey.relations[idx];
            for &span in relation.heads.iter().chain(&relation.uses) {
                survey.pace.step()?;
                if !report.has_room(codes::ARITY_CLASH, Severity::Tolerated) {
                    return Ok(());
                }
                let message = format!(
                    "`{}` has {} here and {} elsewhere",
                    survey.name(relation.name),
                    n_arguments(relation.arity),
                    survey.relations[usual].arity
                );
                report.push(
                    Diagnostic::new(Severity::Tolerated, codes::ARITY_CLASH, span, message)
                        .with_label(as_here, "as here")
                        .with_help("give it the same number everywhere, or use two names"),
                );
            }
        }
    }
    Ok(())
}

fn undefined(survey: &Survey<'_>, report: &mut Report) -> Outcome {
    let defined_elsewhere = [
        Keyword::Role,
        Keyword::True,
        Keyword::Does,
        Keyword::Legal,
        Keyword::Terminal,
        Keyword::Goal,
        Keyword::Init,
        Keyword::Next,
    ];
    let mut is_defined: BTreeMap<Symbol, (bool, Option<Span>)> = BTreeMap::new();
    for relation in &survey.relations {
        survey.pace.steps(1 + relation.uses.len())?;
        if relation.keyword.is_some_and(|keyword| defined_elsewhere.contains(&keyword)) {
            continue;
        }
        let entry = is_defined.entry(relation.name).or_default();
        entry.0 |= !relation.heads.is_empty();
        entry.1 = entry.1.into_iter().chain(relation.uses.iter().copied()).min();
    }
    let known: Vec<&str> = survey
        .relations
        .iter()
        .filter(|it| !it.heads.is_empty())
        .map(|it| survey.sheet.symbols.name(it.name))
        .chain(Keyword::ALL.iter().map(|keyword| keyword.name()))
        .collect();
    for (name, (has_clause, first_use)) in is_defined {
        let (false, Some(span)) = (has_clause, first_use) else { continue };
        survey.pace.steps(N_SIMILAR)?;
        if !report.has_room(codes::UNDEFINED_RELATION, Severity::Warning) {
            break;
        }
        let message = format!("no clause defines `{}`: it never holds", survey.name(name));
        let help = match similar(survey.sheet.symbols.name(name), known.iter().copied()) {
            Some(other) => format!("did you mean `{other}`?"),
            None => "add a fact or a rule for it, or remove the condition".to_owned(),
        };
        let code = codes::UNDEFINED_RELATION;
        report.push(Diagnostic::new(Severity::Warning, code, span, message).with_help(help));
    }
    Ok(())
}

/// Reports unused names: those that no keyword depends on.
fn unused(survey: &Survey<'_>, report: &mut Report) -> Outcome {
    let by_name = by_name(survey);
    let mut is_used = vec![false; survey.relations.len()];
    let mut uses_of = vec![Vec::new(); survey.relations.len()];
    for (head, uses) in &survey.clauses {
        survey.pace.steps(1 + uses.len())?;
        uses_of[*head].extend(uses.iter().map(|it| it.relation));
    }
    let mut open: Vec<usize> =
        (0..survey.relations.len()).filter(|&id| survey.relations[id].keyword.is_some()).collect();
    while let Some(relation) = open.pop() {
        survey.pace.step()?;
        if !std::mem::replace(&mut is_used[relation], true) {
            open.extend(&uses_of[relation]);
        }
    }
    for (name, relations) in by_name {
        let first = relations.iter().flat_map(|&id| &survey.relations[id].heads).min();
        let (Some(&span), false) = (first, relations.iter().any(|&id| is_used[id])) else {
            continue;
        };
        if !report.has_room(codes::UNUSED_RELATION, Severity::Warning) {
            break;
        }
        let message = format!("nothing in the game depends on `{}`", survey.name(name));
        let keywords = Keyword::ALL.iter().map(|keyword| keyword.name());
        let help = match similar(survey.sheet.symbols.name(name), keywords) {
            Some(keyword) => format!("did you mean `{keyword}`?"),
            None => "use it in a rule, or remove it".to_owned(),
        };
        report.push(
            Diagnostic::new(Severity::Warning, codes::UNUSED_RELATION, span, message)
                .with_help(help),
        );
    }
    Ok(())
}
