//! Everything that is wrong with a rulesheet, at once.
//!
//! Read the modules in this order: `survey` lists what the clauses define and use,
//! `definitions` looks at what is there and what is not, `forms` at each clause by itself,
//! `fluents` at what can be true and be played, `dependencies` at what depends on what, and
//! `declarations` compares `base` and `input` with what a later stage has found.

mod declarations;
mod definitions;
mod dependencies;
mod fluents;
mod forms;
mod survey;

use ludex_base::{Diagnostic, Severity, Source};

use crate::limits::MAX_MISTAKES;
use crate::lower::lower;
use crate::program::Program;
use crate::read::parse;
use crate::report::Report;
use crate::syntax::Rulesheet;

pub use declarations::{Found, check_declarations};
use survey::Survey;

/// What a check gives: all there is to say, and the program if the rulesheet has a meaning.
#[derive(Clone, Debug)]
pub struct Checked {
    /// The rules, ready for grounding or reasoning; `None` after a fatal mistake.
    pub program: Option<Program>,
    /// All there is to say, in order of place.
    pub diagnostics: Vec<Diagnostic>,
}

impl Checked {
    /// Whether the rulesheet has no errors; it may have warnings and notes.
    pub fn is_ok(&self) -> bool {
        !self.diagnostics.iter().any(|diagnostic| diagnostic.severity.is_error())
    }

    /// Whether the rulesheet has a meaning, in spite of errors perhaps.
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
    finish(sheet, Vec::new(), true)
}

/// Reads and checks a rulesheet: the whole front end in one call.
///
/// After a mistake in reading some clauses are not there, so nothing is said about what is
/// missing, undefined or unused.
pub fn check_source(source: &Source) -> Checked {
    let (sheet, diagnostics) = parse(source);
    let is_complete = diagnostics.is_empty();
    finish(&sheet, diagnostics, is_complete)
}

fn finish(sheet: &Rulesheet, read: Vec<Diagnostic>, is_complete: bool) -> Checked {
    let mut report = Report::default();
    report.extend(read);
    let survey = Survey::new(sheet);
    if is_complete {
        definitions::check(&survey, &mut report);
        fluents::check(&survey, &mut report);
    }
    forms::check(&survey, &mut report);
    dependencies::check(&survey, &mut report);
    let (program, unsafe_rules) = lower(sheet);
    report.extend(unsafe_rules);
    let mut diagnostics = report.into_diagnostics();
    let is_fatal = diagnostics.iter().any(|it| it.severity == Severity::Fatal);
    if diagnostics.len() > MAX_MISTAKES {
        diagnostics.sort_by_key(|it| std::cmp::Reverse(it.severity));
        diagnostics.truncate(MAX_MISTAKES);
    }
    diagnostics.sort_by_key(|it| (it.span.start, it.code));
    Checked { program: (!is_fatal).then_some(program), diagnostics }
}
