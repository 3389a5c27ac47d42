//! Rulesheets from visitors, read within limits.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use ludex_base::{Deadline, Diagnostic, Limits, Seed, Severity, Source};
use ludex_board::{Table, svg};
use ludex_game::{Cursor, Describe, Game};
use ludex_pipeline::{EngineChoice, LoadError, LoadOptions, LoadedGame, load_unless, with_game};
use serde::Serialize;

/// The largest rulesheet that the page takes, in bytes.
pub const MAX_SHEET: usize = 400_000;
/// Time for reading a rulesheet and drawing its board.
const READ_TIME: Duration = Duration::from_secs(5);
/// Time for building the engine of a match.
const LOAD_TIME: Duration = Duration::from_secs(30);
/// Memory for either, in bytes.
pub(crate) const MEMORY: u64 = 500_000_000;
/// Most diagnostics that are sent.
const MAX_DIAGNOSTICS: usize = 100;

/// What the page shows of a rulesheet.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct SheetView {
    /// Whether the game can be played.
    pub is_playable: bool,
    /// Why not, if it is not for a mistake in the rules.
    pub message: Option<String>,
    /// The mistakes and remarks, in order of place.
    pub diagnostics: Vec<DiagnosticView>,
    /// The roles.
    pub roles: Vec<RoleView>,
    /// Whether roles see only a part of the state.
    pub is_hidden: bool,
    /// The initial state as an image.
    pub svg: String,
}

/// A role, as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RoleView {
    /// Its name.
    pub name: String,
    /// Whether it is the role `random`.
    pub is_random: bool,
}

/// A diagnostic, as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct DiagnosticView {
    /// Its code, which has a page in the documentation.
    pub code: &'static str,
    /// `error`, `warning` or `note`.
    pub severity: &'static str,
    /// What is wrong.
    pub message: String,
    /// What to do.
    pub help: Option<String>,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// The first character, counted in UTF-16 as browsers do.
    pub start: usize,
    /// The character after the last.
    pub end: usize,
}

/// Checks a rulesheet and draws its initial state. It stops early when the flag is set.
pub fn read(rules: &str, stopped: &Arc<AtomicBool>) -> SheetView {
    let source = Source::new("rules", rules);
    let options = LoadOptions { engine: EngineChoice::Reasoner, time: READ_TIME, memory: MEMORY };
    // The check also finds what the reasoner alone does not notice.
    let report =
        ludex_pipeline::check(&source, &LoadOptions { time: READ_TIME / 2, ..options.clone() });
    let checked = report.map(|report| report.diagnostics).unwrap_or_default();
    let mut view = SheetView {
        is_playable: false,
        message: None,
        diagnostics: diagnostics(&source, &checked),
        roles: Vec::new(),
        is_hidden: false,
        svg: String::new(),
    };
    match load_unless(source.clone(), &options, stopped) {
        Ok(loaded) => show(&loaded, &mut view),
        Err(LoadError::Rules { diagnostics: found }) if checked.is_empty() => {
            view.diagnostics = diagnostics(&source, &found);
        }
        Err(LoadError::Rules { .. }) => {}
        Err(error) => view.message = Some(error.to_string()),
    }
    view
}

fn show(loaded: &LoadedGame, view: &mut SheetView) {
    view.roles = roles(loaded);
    view.is_hidden = with_game!(&loaded.engine, |game| game.has_percepts());
    let (fluents, has_fault) = with_game!(&loaded.engine, |game| {
        let mut cursor = game.cursor();
        cursor.is_terminal();
        (game.state_texts(cursor.state()), cursor.has_fault())
    });
    view.is_playable = !has_fault && !view.roles.is_empty();
    if has_fault {
        view.message = loaded.fault();
    }
    view.svg = svg::render(&table(loaded).scene(&fluents));
}

/// Returns the same rules under other names.
///
/// # Errors
/// When the text is no rulesheet.
pub(crate) fn scramble(rules: &str, seed: u64) -> Result<String, String> {
    let source = Source::new("rules", rules);
    let limits = Limits { max_bytes: MEMORY, ..Limits::usual().until(Deadline::after(READ_TIME)) };
    let stopped = |_| "the rules could not be read in time".to_string();
    let (sheet, found) = ludex_gdl::parse_within(&source, &limits).map_err(stopped)?;
    if let Some(first) = found.iter().find(|it| it.severity.is_error()) {
        let (line, _) = source.line_column(first.span.start);
        return Err(format!("line {line}: {}", first.message));
    }
    let (scrambled, _) = ludex_gdl::scramble(&sheet, Seed(seed));
    Ok(ludex_gdl::print_kif(&scrambled))
}

/// Builds the engine that plays a match.
///
/// # Errors
/// When the rules have a mistake or a limit is reached.
pub fn load(title: &str, rules: &str, stopped: &Arc<AtomicBool>) -> Result<LoadedGame, LoadError> {
    let options = LoadOptions { engine: EngineChoice::Auto, time: LOAD_TIME, memory: MEMORY };
    load_unless(Source::new(title, rules), &options, stopped)
}

/// Returns what the rules say about drawing.
pub fn table(loaded: &LoadedGame) -> Table {
    let names: Vec<String> = roles(loaded).into_iter().map(|role| role.name).collect();
    Table::of(&loaded.program, &names)
}

/// Returns the roles of a game.
pub fn roles(loaded: &LoadedGame) -> Vec<RoleView> {
    let of =
        |role: &ludex_game::Role| RoleView { name: role.name.clone(), is_random: role.is_random };
    with_game!(&loaded.engine, |game| game.roles().iter().map(of).collect())
}

pub(crate) fn diagnostics(source: &Source, found: &[Diagnostic]) -> Vec<DiagnosticView> {
    let mut sorted: Vec<&Diagnostic> = found.iter().collect();
    sorted.sort_by_key(|it| (it.span, std::cmp::Reverse(it.severity)));
    sorted.into_iter().take(MAX_DIAGNOSTICS).map(|it| diagnostic(source, it)).collect()
}

fn diagnostic(source: &Source, found: &Diagnostic) -> DiagnosticView {
    let (line, column) = source.line_column(found.span.start);
    let units = |offset: u32| {
        let before = source.text().get(..offset as usize);
        before.unwrap_or(source.text()).encode_utf16().count()
    };
    DiagnosticView {
        code: found.code,
        severity: match found.severity {
            Severity::Fatal | Severity::Tolerated => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        },
        message: found.message.clone(),
        help: found.help.clone(),
        line,
        column,
        start: units(found.span.start),
        end: units(found.span.end),
    }
}
