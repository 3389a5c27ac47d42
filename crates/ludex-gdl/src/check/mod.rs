//! The checker: reports all mistakes of a rulesheet at once.
//!
//! Read the modules in this order: `survey` lists what the clauses define and use, `definitions`
//! checks which relations exist, `clauses` each clause by itself, `fluents` the fluents and moves,
//! `dependencies` what depends on what, and `declarations` compares `base` and `input` with the
//! result of grounding.

mod declarations;
mod definitions;
mod dependencies;
mod fluents;
mod clauses;
mod survey;

use ludex_base::{Diagnostic, Limits, Severity, Source, Span, StopReason};

use crate::codes;
use crate::limits::{Budget, MAX_MISTAKES, unstopped};
use crate::lower::lower_within;
use crate::program::Program;
use crate::read::read;
use crate::report::Report;
use crate::syntax::Rulesheet;

pub use declarations::{Found, check_declarations};
use survey::Survey;

/// The result of a check: all diagnostics, and the program if the rulesheet has a meaning.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The rules, ready for grounding or reasoning; `None` after a fatal mistake.
    pub program: Option<Program>,
    /// All diagnostics, in order of place.
    pub diagnostics: Vec<Diagnostic>,
}

impl Checked {
    /// Returns whether the rulesheet has no errors; it may have warnings and notes.
    pub fn is_ok(&self) -> bool {
        !self.diagnostics.iter().any(|diagnostic| diagnostic.severity.is_error())
    }

    /// Returns whether the rulesheet has a meaning, perhaps in spite of errors.
    pub fn is_playable(&self) -> bool {
        self.program.is_some()
    }
}

/// Checks a rulesheet that was read without mistakes.
///
/// ```
/// let source = ludex_base::Source::new("t", "(role me) (<= (legal me ?m) (true a))");
/// let (sheet, _) = ludex_gdl::parse(&source);
/// let checked = ludex_gdl::check(&sheet);
/// assert!(checked.diagnostics.iter().any(|it| it.code == "unsafe-rule"));
/// ```
pub fn check(sheet: &Rulesheet) -> Checked {
    unstopped(finish(sheet, Vec::new(), true, &Budget::unlimited()))
}

/// Reads and checks a rulesheet: the whole front end in one call.
///
/// After a mistake in reading, some clauses are missing, so it reports nothing as missing,
/// undefined or unused.
pub fn check_source(source: &Source) -> Checked {
    unstopped(read_and_check(source, &Budget::unlimited()))
}

/// Does the same as [`check_source`] within some limits.
///
/// # Errors
/// When the deadline is reached, which is checked every few thousand tokens or conditions. A text
/// that exceeds the sizes is not an error here: a diagnostic says so.
pub fn check_source_within(source: &Source, limits: &Limits) -> Result<Checked, StopReason> {
    read_and_check(source, &Budget::new(limits))
}

fn read_and_check(source: &Source, budget: &Budget<'_>) -> Result<Checked, StopReason> {
    let (sheet, diagnostics) = read(source, budget)?;
    let is_complete = !diagnostics.iter().any(|it| it.severity.is_error());
    finish(&sheet, diagnostics, is_complete, budget)
}

/// What a check returns: its findings are in the report, unless the deadline stops it.
type Outcome = Result<(), StopReason>;

fn finish(
    sheet: &Rulesheet,
    read: Vec<Diagnostic>,
    is_complete: bool,
    budget: &Budget<'_>,
) -> Result<Checked, StopReason> {
    let mut report = Report::default();
    report.extend(read);
    let survey = Survey::new(sheet, &budget.pace)?;
    if is_complete {
        definitions::check(&survey, &mut report)?;
        fluents::check(&survey, &mut report)?;
    }
    clauses::check(&survey, &mut report)?;
    dependencies::check(&survey, &mut report)?;
    drop(survey);
    let (program, unsafe_rules) = lower_within(sheet, budget)?;
    report.extend(unsafe_rules);
    let mut diagnostics = report.into_diagnostics();
    soften_declarations(sheet, &mut diagnostics);
    let is_fatal = diagnostics.iter().any(|it| it.severity == Severity::Fatal);
    if diagnostics.len() > MAX_MISTAKES {
        diagnostics.sort_by_key(|it| std::cmp::Reverse(it.severity));
        diagnostics.truncate(MAX_MISTAKES);
    }
    diagnostics.sort_by_key(|it| (it.span.start, it.code));
    Ok(Checked { program: (!is_fatal).then_some(program), diagnostics })
}

/// Makes warnings of the mistakes in clauses of `base` and `input`: nothing relies on these, unless other
/// rules use them.
fn soften_declarations(sheet: &Rulesheet, diagnostics: &mut [Diagnostic]) {
    if sheet.uses_declarations() || !diagnostics.iter().any(|it| it.severity.is_error()) {
        return;
    }
    let mut spans: Vec<Span> = (sheet.clauses.iter())
        .filter(|clause| sheet.is_declaration(clause))
        .map(|clause| clause.span)
        .collect();
    spans.sort_unstable_by_key(|span| span.start);
    // Not the limits on sizes: beyond them, other clauses are missing too.
    let of_clause = [codes::UNSAFE_RULE, codes::KEYWORD_ARITY, codes::NEGATIVE_CYCLE];
    let is_soft = |it: &&mut Diagnostic| it.severity.is_error() && of_clause.contains(&it.code);
    for diagnostic in diagnostics.iter_mut().filter(is_soft) {
        let n_before = spans.partition_point(|span| span.start <= diagnostic.span.start);
        if n_before > 0 && diagnostic.span.end <= spans[n_before - 1].end {
            diagnostic.severity = Severity::Warning;
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;
    use crate::testing::listed;

    #[track_caller]
    fn check(rules: &str, expected: Expect) {
        let source = Source::new("t", rules);
        let checked = check_source(&source);
        let mut text = listed(&source, &checked.diagnostics);
        for diagnostic in &checked.diagnostics {
            text.extend(diagnostic.help.iter().map(|help| format!("help: {help}\n")));
        }
        expected.assert_eq(&text);
    }

    const GAME: &str = "(role r) (init a) (<= (legal r m) (true a)) (<= (next b) (does r m))
        (<= terminal (true b)) (<= (goal r 100) (true b)) ";

    #[test]
    fn messages_name_the_path_to_a_forbidden_dependency() {
        let rules = "(<= p q) (<= q (not s)) (<= s (does r m)) (<= (legal r n) (not p))";
        check(
            &format!("{GAME}{rules}"),
            expect![[r#"
            2:122 tolerated[does-outside-transition]: `legal` depends on `does` by way of `p`, `q`, `s`
            help: only `next` and `sees` may depend on the moves: remember them in the state
        "#]],
        );
    }

    #[test]
    fn misspelled_names_are_guessed() {
        let rules = "(role white) (init (cell 1)) (<= (legal whtie m) (ture (cell 1))) (line a)
            (<= (nxt (cell 2)) (does white m)) (<= terminal (true (cel 2)) (lien a)) (goal white 0)";
        check(
            rules,
            expect![[r#"
            1:1 warning[missing-next]: no clause has `next` in its head: nothing is true after a move
            1:41 warning[unknown-role]: `whtie` is not a role
            1:50 warning[undefined-relation]: no clause defines `ture`: it never holds
            1:67 warning[unused-relation]: nothing in the game depends on `line`
            2:17 warning[unused-relation]: nothing in the game depends on `nxt`
            2:67 warning[unreachable-fluent]: the fluent `cel` is used, but no `init` or `next` derives it
            2:76 warning[undefined-relation]: no clause defines `lien`: it never holds
            help: is `nxt` a misspelling of it?
            help: did you mean `white`?
            help: did you mean `true`?
            help: use it in a rule, or remove it
            help: did you mean `next`?
            help: did you mean `cell`?
            help: did you mean `line`?
        "#]],
        );
    }

    #[test]
    fn messages_are_in_the_form_of_the_author() {
        check(
            "role(r). init(a). legal(r, m) :- true(a). next('B'(X)) :- does(r, m).
             terminal :- 'Line'(a). goal(r, 'N++') :- true('B'(1)).",
            expect![[r#"
                1:52 fatal[unsafe-rule]: `X` is in the head but in no positive literal of the body
                2:26 warning[undefined-relation]: no clause defines `'Line'`: it never holds
                2:45 tolerated[goal-value]: `'N++'` is not a goal value
                help: add a condition that says what `X` ranges over
                help: add a fact or a rule for it, or remove the condition
                help: goal values are whole numbers from 0 to 100
            "#]],
        );
    }

    #[test]
    fn mistakes_in_declarations_are_warnings() {
        let bad =
            "(<= (base ?x) (or)) (base (not a)) (<= (base ?y)) (input r) (<= base (distinct a))
            (<= (base b) (not (base b)))";
        let checked = check_source(&Source::new("t", format!("{GAME}{bad}")));
        assert!(checked.is_ok() && checked.is_playable(), "{:?}", checked.diagnostics);
        assert!(checked.diagnostics.len() >= 6, "{:?}", checked.diagnostics);
        // Where the game uses them, they are mistakes of the game.
        let used = "(<= (next ?x) (base ?x) (does r m))";
        let checked = check_source(&Source::new("t", format!("{GAME}{bad}{used}")));
        assert!(!checked.is_playable());
        // Ever so many of them hide no clause after them.
        let many = "(base (or a b)) ".repeat(2 * MAX_MISTAKES);
        let checked = check_source(&Source::new("t", format!("{many}{GAME}(<= (next c) (or))")));
        assert!(!checked.is_playable());
    }

    #[test]
    fn a_fatal_mistake_leaves_no_program() {
        let checked = |rules: &str| check_source(&Source::new("t", rules));
        assert!(checked(GAME).is_ok() && checked(GAME).is_playable());
        let tolerated = checked(&format!("{GAME} (true a)"));
        assert!(!tolerated.is_ok() && tolerated.is_playable());
        let fatal = checked(&format!("{GAME} (p"));
        assert!(!fatal.is_ok() && !fatal.is_playable());
    }

    #[test]
    fn checking_heeds_the_deadline() {
        // Few tokens, so that reading ends before the first check of the clock.
        let rules = format!("{GAME}{}", "(<= p q r s) ".repeat(400));
        let over = Limits::usual().until(ludex_base::Deadline::after(std::time::Duration::ZERO));
        let source = Source::new("t", rules.as_str());
        assert!(crate::read::parse_within(&source, &over).is_ok());
        assert_eq!(check_source_within(&source, &over).map(|_| ()), Err(StopReason::Time));
        assert!(check_source_within(&source, &Limits::usual()).is_ok());
    }

    #[test]
    fn the_number_of_mistakes_is_limited() {
        let unused: String = (0..3000).map(|n| format!("(unused{n} a) ")).collect();
        let checked = check_source(&Source::new("t", format!("{GAME}{unused}(role ?x)")));
        assert!(checked.diagnostics.len() <= MAX_MISTAKES + 1);
        assert!(!checked.is_playable(), "the fatal mistake is kept");
    }
}
