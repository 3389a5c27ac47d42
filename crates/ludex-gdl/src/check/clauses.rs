//! Checks of each clause by itself: places of keywords, goal values, roles, conditions without
//! effect.

use std::collections::BTreeMap;

use ludex_base::{Diagnostic, Goal, Severity, Span, Symbol};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Outcome;
use super::survey::{Survey, n_arguments, similar};
use crate::codes;
use crate::keyword::Keyword;
use crate::report::Report;
use crate::syntax::{Clause, Formula, FormulaKind, Term, TermKind};

pub(super) fn check(survey: &Survey<'_>, report: &mut Report) -> Outcome {
    keyword_places(survey, report)?;
    goal_values(survey, report)?;
    unknown_roles(survey, report)?;
    function_arities(survey, report)?;
    duplicates(survey, report)?;
    for clause in &survey.sheet.clauses {
        survey.pace.steps(1 + clause.body.len())?;
        contradictions(survey, clause, report);
        for formula in &clause.body {
            constant_distinct(survey, formula, report);
        }
    }
    Ok(())
}

fn keyword_places(survey: &Survey<'_>, report: &mut Report) -> Outcome {
    for relation in &survey.relations {
        let Some(keyword) = relation.keyword else { continue };
        let name = keyword.name();
        if keyword.arity() != relation.arity {
            for &span in relation.heads.iter().chain(&relation.uses) {
                survey.pace.step()?;
                let message = format!(
                    "`{name}` takes {}, not {}",
                    n_arguments(keyword.arity()),
                    relation.arity
                );
                let code = codes::KEYWORD_ARITY;
                report.push(Diagnostic::new(Severity::Tolerated, code, span, message).with_help(
                    "with this number of arguments it is another relation, not the keyword",
                ));
            }
            continue;
        }
        if matches!(keyword, Keyword::True | Keyword::Does) {
            let help = match keyword {
                Keyword::True => "`init` and `next` define what is true",
                _ => "`legal` defines the legal moves; the players choose from them",
            };
            for &span in &relation.heads {
                survey.pace.step()?;
                let message = format!("`{name}` stands in a head");
                let code = codes::KEYWORD_IN_HEAD;
                report.push(
                    Diagnostic::new(Severity::Tolerated, code, span, message).with_help(help),
                );
            }
        }
        let code = match keyword {
            Keyword::Next => codes::NEXT_IN_BODY,
            Keyword::Sees => codes::SEES_IN_BODY,
            _ => continue,
        };
        for &span in &relation.uses {
            survey.pace.step()?;
            let message = format!("`{name}` stands in a body");
            let help = "define a relation for the common condition and use it in both rules";
            report.push(Diagnostic::new(Severity::Warning, code, span, message).with_help(help));
        }
    }
    Ok(())
}

fn goal_values(survey: &Survey<'_>, report: &mut Report) -> Outcome {
    for (clause, (head, _)) in survey.sheet.clauses.iter().zip(&survey.clauses) {
        survey.pace.step()?;
        if survey.keyword(*head) != Some(Keyword::Goal) {
            continue;
        }
        let value = &clause.head.args()[1];
        let is_value = match value.kind {
            TermKind::Variable(_) => true,
            TermKind::Constant(name) => Goal::parse(survey.sheet.symbols.name(name)).is_some(),
            TermKind::Compound(..) => false,
        };
        if !is_value {
            let message = format!("`{}` is not a goal value", survey.term(value));
            report.push(
                Diagnostic::new(Severity::Tolerated, codes::GOAL_VALUE, value.span, message)
                    .with_help("goal values are whole numbers from 0 to 100"),
            );
        }
    }
    Ok(())
}

/// Reports names in the place of a role. Reports nothing if rules derive the roles.
fn unknown_roles(survey: &Survey<'_>, report: &mut Report) -> Outcome {
    let mut roles: FxHashSet<Symbol> = FxHashSet::default();
    for clause in &survey.sheet.clauses {
        survey.pace.step()?;
        if clause.keyword(&survey.sheet.symbols) != Some(Keyword::Role) {
            continue;
        }
        match clause.head.args() {
            [Term { kind: TermKind::Constant(name), .. }] if clause.body.is_empty() => {
                roles.insert(*name);
            }
            _ => return Ok(()),
        }
    }
    if roles.is_empty() {
        return Ok(());
    }
    let mut names: Vec<&str> = roles.iter().map(|&role| survey.sheet.symbols.name(role)).collect();
    names.sort_unstable();
    let mut visit = |atom: &Term| {
        let symbols = &survey.sheet.symbols;
        let keyword = atom.name().and_then(|name| Keyword::parse(symbols.name(name)));
        let has_role = matches!(
            keyword,
            Some(
                Keyword::Legal
                    | Keyword::Does
                    | Keyword::Goal
                    | Keyword::Sees
                    | Keyword::Input
                    | Keyword::Role
            )
        );
        // With another number of arguments it is another relation; `keyword_places` reports that.
        let is_whole = keyword.is_some_and(|keyword| keyword.arity() == atom.args().len());
        let role = atom.args().first().filter(|_| has_role && is_whole);
        let Some(role) = role else { return };
        let TermKind::Constant(name) = role.kind else { return };
        if !roles.contains(&name) && report.has_room(codes::UNKNOWN_ROLE, Severity::Warning) {
            let message = format!("`{}` is not a role", survey.name(name));
            let help = match similar(symbols.name(name), names.iter().copied()) {
                Some(other) => format!("did you mean `{other}`?"),
                None => "declare it with `role`, or name a role".to_owned(),
            };
            let code = codes::UNKNOWN_ROLE;
            report
                .push(Diagnostic::new(Severity::Warning, code, role.span, message).with_help(help));
        }
    };
    for (clause, (_, uses)) in survey.sheet.clauses.iter().zip(&survey.clauses) {
        survey.pace.steps(1 + uses.len())?;
        visit(&clause.head);
        uses.iter().for_each(|it| visit(it.atom));
    }
    Ok(())
}

/// Reports functions with several numbers of arguments; a constant may have the name of a function.
fn function_arities(survey: &Survey<'_>, report: &mut Report) -> Outcome {
    let mut functions: FxHashMap<Symbol, BTreeMap<usize, (usize, Span)>> = FxHashMap::default();
    let mut order: Vec<Symbol> = Vec::new();
    let mut visit = |term: &Term| {
        if let TermKind::Compound(name, args) = &term.kind {
            let arities = functions.entry(*name).or_insert_with(|| {
                order.push(*name);
                BTreeMap::new()
            });
            arities.entry(args.len()).or_insert((0, term.span)).0 += 1;
        }
    };
    for clause in &survey.sheet.clauses {
        survey.pace.steps(1 + clause.body.len())?;
        clause.head.args().iter().for_each(|arg| arg.for_each_subterm(&mut visit));
        clause.body.iter().for_each(|formula| formula.for_each_term(&mut visit));
    }
    for name in order {
        let arities = &functions[&name];
        let usual = arities
            .iter()
            .max_by_key(|&(_, &(n_places, span))| (n_places, std::cmp::Reverse(span)))
            .expect("a function has an arity");
        for (arity, (_, span)) in arities.iter().filter(|(arity, _)| *arity != usual.0) {
            let message = format!(
                "the function `{}` has {} here and {} elsewhere",
                survey.name(name),
                n_arguments(*arity),
                usual.0
            );
            report.push(
                Diagnostic::new(Severity::Warning, codes::FUNCTION_ARITY, *span, message)
                    .with_label(usual.1.1, "as here")
                    .with_help("the two are never equal; if that is meant, use two names"),
            );
        }
    }
    Ok(())
}

fn duplicates(survey: &Survey<'_>, report: &mut Report) -> Outcome {
    let mut seen: FxHashMap<String, Span> = FxHashMap::default();
    for clause in &survey.sheet.clauses {
        survey.pace.steps(1 + clause.body.len())?;
        let text = clause_text(survey, clause);
        match seen.get(&text) {
            None => {
                seen.insert(text, clause.span);
            }
            Some(&first) => report.push(
                Diagnostic::new(
                    Severity::Warning,
                    codes::DUPLICATE_CLAUSE,
                    clause.span,
                    "this clause repeats an earlier one",
                )
                .with_label(first, "here")
                .with_help("remove one of them"),
            ),
        }
    }
    Ok(())
}

fn clause_text(survey: &Survey<'_>, clause: &Clause) -> String {
    let mut text = survey.term(&clause.head);
    for formula in &clause.body {
        text.push(' ');
        text.push_str(&survey.formula(formula));
    }
    text
}

fn contradictions(survey: &Survey<'_>, clause: &Clause, report: &mut Report) {
    let has_negation = |it: &&Formula| matches!(it.kind, FormulaKind::Not(_));
    let negations: Vec<&Formula> = clause.body.iter().filter(has_negation).collect();
    if negations.is_empty() {
        return;
    }
    let asked: FxHashMap<String, Span> =
        clause.body.iter().map(|formula| (survey.formula(formula), formula.span)).collect();
    for negation in negations {
        let FormulaKind::Not(inner) = &negation.kind else { continue };
        if let Some(&span) = asked.get(&survey.formula(inner)) {
            let message = "this condition contradicts another: the rule never applies";
            report.push(
                Diagnostic::new(Severity::Warning, codes::CONTRADICTION, negation.span, message)
                    .with_label(span, "the other condition")
                    .with_help("remove one of the two, or the rule"),
            );
        }
    }
}

fn constant_distinct(survey: &Survey<'_>, formula: &Formula, report: &mut Report) {
    match &formula.kind {
        FormulaKind::Atom(_) => {}
        FormulaKind::Not(inner) => constant_distinct(survey, inner, report),
        FormulaKind::And(parts) | FormulaKind::Or(parts) => {
            parts.iter().for_each(|part| constant_distinct(survey, part, report));
        }
        FormulaKind::Distinct(left, right) => {
            let mut has_variables = false;
            left.for_each_variable(&mut |_, _| has_variables = true);
            right.for_each_variable(&mut |_, _| has_variables = true);
            let is_same = survey.term(left) == survey.term(right);
            if has_variables && !is_same {
                return;
            }
            let message = if is_same {
                "this `distinct` never holds: both sides are the same"
            } else {
                "this `distinct` always holds: the sides are different names"
            };
            let code = codes::CONSTANT_DISTINCT;
            report.push(
                Diagnostic::new(Severity::Warning, code, formula.span, message)
                    .with_help("compare variables, or remove it"),
            );
        }
    }
}
