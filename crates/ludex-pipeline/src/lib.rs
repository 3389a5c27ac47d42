//! All stages in one readable function: from rulesheet text to a game that is ready to play.
//!
//! [`load`] is the entry point for play; [`check`] reports what is wrong with a rulesheet. Both use
//! only the crates before this one. Everything that plays, solves or shows games starts from a
//! [`LoadedGame`].

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use ludex_base::limits::USUAL_BYTES;
use ludex_base::{
    Deadline, Diagnostic, Limits, Pace, RoleId, Severity, Sizes, Source, Span, StopReason,
};
use ludex_gdl::{Found, Keyword, Program, Rule, RulePlace, TermId, codes};
use ludex_ground::{Declared, GroundError, GroundProgram};
use ludex_machine::{Machine, PlayoutStyle};
use ludex_reasoner::{Reasoner, ReasonerError};

/// Reads, checks, grounds and compiles a rulesheet.
///
/// If a game can't be grounded within the limits, the reasoner plays it, unless the options require
/// a circuit; [`LoadedGame::fallback`] gives the reason.
///
/// # Errors
/// When the rulesheet has a fatal mistake, or a limit prevents building the requested engine.
pub fn load(source: Source, options: &LoadOptions) -> Result<LoadedGame, LoadError> {
    load_within(source, options.engine, &options.limits())
}

/// Does the same as [`load`], but stops when the flag is set: between two stages, and within the
/// stages that check a deadline.
///
/// # Errors
/// As [`load`], and when the flag is set.
pub fn load_unless(
    source: Source,
    options: &LoadOptions,
    stopped: &Arc<AtomicBool>,
) -> Result<LoadedGame, LoadError> {
    let limits = options.limits();
    let deadline = limits.deadline.clone().or_when(Arc::clone(stopped));
    let loaded = load_within(source, options.engine, &limits.until(deadline));
    match loaded {
        Err(LoadError::Limit { .. }) if stopped.load(Ordering::Relaxed) => {
            Err(LoadError::Limit { reason: "loading was stopped".into() })
        }
        loaded => loaded,
    }
}

/// Part of the time for grounding and compiling, if the reasoner is to play a game for which that
/// is not enough.
const GROUNDING_SHARE: f64 = 0.75;

/// Does the same as [`load`] within limits that the caller has made. All stages share them.
///
/// # Errors
/// As [`load`].
pub fn load_within(
    source: Source,
    engine: EngineChoice,
    limits: &Limits,
) -> Result<LoadedGame, LoadError> {
    // Text to program; this reports all mistakes at once.
    let checked = ludex_gdl::check_source_within(&source, limits)
        .map_err(|stop| LoadError::Limit { reason: stop_reason("reading the rules", stop) })?;
    let diagnostics = checked.diagnostics;
    let Some(program) = checked.program else {
        return Err(LoadError::Rules { diagnostics });
    };
    let rules = Checked { source, diagnostics, program };
    let fallback = match engine {
        EngineChoice::Reasoner => None,
        EngineChoice::Circuit | EngineChoice::Wide => {
            return match machine(&rules, engine, limits) {
                Ok((machine, sizes)) => Ok(rules.loaded(Engine::Machine(machine), Some(sizes))),
                Err(Unground::Meaningless(diagnostic)) => Err(rules.refused(diagnostic)),
                Err(Unground::Limit(reason)) => Err(LoadError::Limit { reason }),
            };
        }
        EngineChoice::Auto => {
            let part = limits.clone().until(limits.deadline.part(GROUNDING_SHARE));
            match machine(&rules, engine, &part) {
                Ok((machine, sizes)) => {
                    return Ok(rules.loaded(Engine::Machine(machine), Some(sizes)));
                }
                Err(Unground::Meaningless(diagnostic)) => return Err(rules.refused(diagnostic)),
                Err(Unground::Limit(reason)) => Some(reason),
            }
        }
    };

    // Program to reasoner.
    match Reasoner::new(&rules.program, limits) {
        Ok(reasoner) => {
            Ok(LoadedGame { fallback, ..rules.loaded(Engine::Reasoner(reasoner), None) })
        }
        Err(error) => match no_meaning(&rules.program, &error) {
            Some(diagnostic) => Err(rules.refused(diagnostic)),
            None => {
                let reason = at_rule(&rules.source, error.rule(), &error);
                let reason = match fallback {
                    Some(first) => format!("{first}; and the reasoner can't play it: {reason}"),
                    None => reason,
                };
                Err(LoadError::Limit { reason })
            }
        },
    }
}

/// A rulesheet that has a meaning.
struct Checked {
    source: Source,
    diagnostics: Vec<Diagnostic>,
    program: Program,
}

impl Checked {
    fn loaded(self, engine: Engine, sizes: Option<GameSizes>) -> LoadedGame {
        let Self { source, diagnostics, program } = self;
        let program = Arc::new(program);
        LoadedGame { source, diagnostics, program, engine, sizes, fallback: None }
    }

    /// Returns the error for a mistake that a later stage found.
    fn refused(self, diagnostic: Diagnostic) -> LoadError {
        let mut diagnostics = self.diagnostics;
        diagnostics.push(diagnostic);
        LoadError::Rules { diagnostics }
    }
}

/// Why there is no machine.
enum Unground {
    /// The rules have no meaning.
    Meaningless(Diagnostic),
    /// A limit was reached.
    Limit(String),
}

/// Program to ground program, to circuit, to machine.
fn machine(
    rules: &Checked,
    engine: EngineChoice,
    limits: &Limits,
) -> Result<(Machine, GameSizes), Unground> {
    let ground_program = ludex_ground::ground(&rules.program, limits)
        .map_err(|error| unground(&rules.source, &error))?;
    let sizes = GameSizes::of(&ground_program);
    let stopped = |stop| Unground::Limit(stop_reason("compiling the ground rules", stop));
    let circuit = ludex_circuit::compile_within(&ground_program, limits).map_err(stopped)?;
    drop(ground_program);
    let (gates, edges) = (circuit.n_gates(), circuit.n_edges());
    let machine = Machine::within(circuit, limits).map_err(stopped)?;
    let machine = styled(machine, engine, limits).map_err(stopped)?;
    let sizes = GameSizes {
        gates,
        edges,
        optimized_gates: machine.circuit().n_gates(),
        optimized_edges: machine.circuit().n_edges(),
        ..sizes
    };
    Ok((machine, sizes))
}

fn unground(source: &Source, error: &GroundError) -> Unground {
    match meaningless(error) {
        Some(diagnostic) => Unground::Meaningless(diagnostic),
        None => Unground::Limit(at_rule(source, error.rule(), error)),
    }
}

/// Checks a rulesheet, including what only grounding shows: negative cycles between ground atoms,
/// terms that grow without end, too many roles, and incomplete `base` and `input`.
///
/// It grounds the rules only if they may have one of these mistakes, because grounding can take
/// long.
///
/// # Errors
/// When a limit of time or memory stops the work before the rules are read and checked. If it stops
/// grounding, [`CheckReport::unchecked`] gives the reason.
pub fn check(source: &Source, options: &LoadOptions) -> Result<CheckReport, LoadError> {
    check_within(source, &options.limits())
}

/// Does the same as [`check`] within limits that the caller has made.
///
/// # Errors
/// As [`check`].
pub fn check_within(source: &Source, limits: &Limits) -> Result<CheckReport, LoadError> {
    let checked = ludex_gdl::check_source_within(source, limits)
        .map_err(|stop| LoadError::Limit { reason: stop_reason("checking the rules", stop) })?;
    let mut report =
        CheckReport { diagnostics: checked.diagnostics, is_playable: true, unchecked: None };
    let Some(program) = checked.program else {
        return Ok(CheckReport { is_playable: false, ..report });
    };
    let open = Open::of(&program);
    if open.is_nothing() {
        return Ok(report);
    }
    let part = if open.may_have_errors() { 1.0 } else { DECLARATIONS_PART };
    let limits = &limits.clone().until(limits.deadline.part(part));
    let ground = ludex_ground::ground(&program, limits);
    if let Some(warning) = ground.as_ref().err().and_then(growth) {
        report.diagnostics.push(warning);
        return Ok(report);
    }
    match ground.map_err(|error| unground(source, &error)) {
        Ok(ground_program) => {
            report.diagnostics.extend(declarations(&program, &ground_program, limits));
        }
        Err(Unground::Meaningless(diagnostic)) => {
            report.diagnostics.push(diagnostic);
            report.is_playable = false;
        }
        Err(Unground::Limit(reason)) => {
            report.unchecked = Some(Unchecked {
                what: open.texts().join(", "),
                may_have_errors: open.may_have_errors(),
                reason,
            });
        }
    }
    Ok(report)
}

/// Part of the time for grounding that can only show whether `base` and `input` are complete.
const DECLARATIONS_PART: f64 = 0.5;

/// What only grounding shows about some rules.
struct Open {
    /// Negative cycles between ground atoms.
    cycles: bool,
    /// Terms that grow without end or become huge.
    growth: bool,
    /// Roles that rules derive, perhaps too many.
    roles: bool,
    /// Whether `base` and `input` are complete.
    declarations: bool,
}

impl Open {
    fn of(program: &Program) -> Self {
        let derives = |keyword: Keyword, has_body: bool| {
            let is_one = |rule: &Rule| {
                rule.head.relation == keyword.into() && (!has_body || !rule.body.is_empty())
            };
            program.rules.iter().any(is_one)
        };
        Self {
            // Answers on demand through a negation can make cycles that the rules do not show.
            cycles: !program.on_demand.is_empty()
                || program.components().iter().any(|it| it.has_inner_negation),
            growth: program.may_grow(),
            roles: derives(Keyword::Role, true),
            declarations: derives(Keyword::Base, false) || derives(Keyword::Input, false),
        }
    }

    fn is_nothing(&self) -> bool {
        !self.may_have_errors() && !self.declarations
    }

    /// `base` and `input` are only informative.
    fn may_have_errors(&self) -> bool {
        self.cycles || self.growth || self.roles
    }

    fn texts(&self) -> Vec<&'static str> {
        let all = [
            (self.cycles, "negative cycles between ground atoms"),
            (self.growth, "terms that grow without end"),
            (self.roles, "the number of roles"),
            (self.declarations, "whether `base` and `input` are complete"),
        ];
        all.into_iter().filter(|it| it.0).map(|it| it.1).collect()
    }
}

/// Compares `base` and `input` with what may occur. They are only informative: if that takes too
/// long, they are not compared.
fn declarations(program: &Program, ground: &GroundProgram, limits: &Limits) -> Vec<Diagnostic> {
    if !Open::of(program).declarations {
        return Vec::new();
    }
    let pace = Pace::new(&limits.deadline, TEXTS_PER_CHECK);
    let declared = ludex_ground::declared(program, limits).ok();
    match declared.and_then(|declared| found(ground, declared, &pace).ok()) {
        Some(found) => ludex_gdl::check_declarations(program, &found),
        None => Vec::new(),
    }
}

/// Fluents and moves written out between two checks of the deadline.
const TEXTS_PER_CHECK: usize = 1 << 10;

/// The result of [`check`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CheckReport {
    /// All diagnostics.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the rulesheet has a meaning, perhaps in spite of errors.
    pub is_playable: bool,
    /// What a limit left unchecked.
    pub unchecked: Option<Unchecked>,
}

/// What a check could not find out within its limits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unchecked {
    /// What was not checked, as a list.
    pub what: String,
    /// Whether the check could have found errors; otherwise only warnings are missing.
    pub may_have_errors: bool,
    /// The limit and the progress so far.
    pub reason: String,
}

impl CheckReport {
    /// Returns whether the rulesheet has no errors; it may have warnings and notes.
    pub fn is_ok(&self) -> bool {
        !self.diagnostics.iter().any(|diagnostic| diagnostic.severity.is_error())
    }
}

/// Sets the playout style to the requested one, or to the faster one. If there is no time to build
/// what batches need, playouts run one by one.
fn styled(machine: Machine, choice: EngineChoice, limits: &Limits) -> Result<Machine, StopReason> {
    match choice {
        EngineChoice::Circuit => Ok(machine.with_playouts(PlayoutStyle::OneByOne)),
        EngineChoice::Wide => {
            machine.prepare_batches(limits)?;
            Ok(machine.with_playouts(PlayoutStyle::Wide))
        }
        EngineChoice::Auto | EngineChoice::Reasoner => Ok(match machine.prepare_batches(limits) {
            Ok(()) => machine.with_measured_playouts(),
            Err(_) => machine.with_playouts(PlayoutStyle::OneByOne),
        }),
    }
}

/// Lists what may occur in a game, and what is declared.
fn found(
    program: &GroundProgram,
    declared: Declared,
    pace: &Pace<'_>,
) -> Result<Found, StopReason> {
    let vocabulary = &program.vocabulary;
    let display = |term| vocabulary.terms.display(term);
    let fluent = |&fluent: &TermId| pace.step().map(|()| display(fluent).to_string());
    let with_role = |&(role, term): &(RoleId, TermId)| {
        let text = || format!("({} {})", display(vocabulary.roles[role.index()]), display(term));
        pace.step().map(|()| text())
    };
    Ok(Found {
        fluents: vocabulary.fluents.iter().map(fluent).collect::<Result<_, _>>()?,
        base: declared.base,
        moves: vocabulary.moves.iter().map(with_role).collect::<Result<_, _>>()?,
        input: declared.input,
    })
}

/// Options of [`load`].
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// The engine to build.
    pub engine: EngineChoice,
    /// Time limit of all stages together.
    pub time: Duration,
    /// Memory limit of what a stage builds, in bytes.
    pub memory: u64,
}

impl LoadOptions {
    /// Returns the limits of a call that begins now, with the usual sizes.
    pub fn limits(&self) -> Limits {
        Limits {
            deadline: Deadline::after(self.time),
            max_bytes: self.memory,
            sizes: Sizes::default(),
        }
    }
}

impl Default for LoadOptions {
    /// The fastest engine, within 60 seconds and 4 GB.
    fn default() -> Self {
        Self { engine: EngineChoice::Auto, time: Duration::from_secs(60), memory: USUAL_BYTES }
    }
}

/// The engine to build.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum EngineChoice {
    /// The fastest engine that can be built within the limits.
    Auto,
    /// The machine on a circuit, with playouts one after the other.
    Circuit,
    /// The machine on a circuit, with playouts side by side in the bits of words.
    Wide,
    /// The reasoner.
    Reasoner,
}

/// A game that is ready to play.
#[derive(Debug)]
pub struct LoadedGame {
    /// The text of the rulesheet.
    pub source: Source,
    /// The diagnostics of the rulesheet; none is fatal.
    pub diagnostics: Vec<Diagnostic>,
    /// The rules.
    pub program: Arc<Program>,
    /// The engine that plays it.
    pub engine: Engine,
    /// The sizes of the ground game; `None` if it was not grounded.
    pub sizes: Option<GameSizes>,
    /// Why the reasoner plays although a machine was preferred.
    pub fallback: Option<String>,
}

impl LoadedGame {
    /// Returns why the rules could not be evaluated in some state, with the place of the rule;
    /// `None` if there was no such state so far.
    pub fn fault(&self) -> Option<String> {
        match &self.engine {
            Engine::Machine(_) => None,
            Engine::Reasoner(reasoner) => {
                reasoner.last_fault().map(|fault| at_rule(&self.source, fault.rule(), &fault))
            }
        }
    }
}

/// The sizes of a ground game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GameSizes {
    /// Fluents.
    pub fluents: usize,
    /// Moves of all roles.
    pub moves: usize,
    /// Ground rules.
    pub rules: usize,
    /// Gates of the circuit, inputs included.
    pub gates: usize,
    /// Inputs of all gates together.
    pub edges: usize,
    /// Gates of the optimised circuit, which the machine evaluates.
    pub optimized_gates: usize,
    /// Inputs of all gates of the optimised circuit.
    pub optimized_edges: usize,
}

impl GameSizes {
    fn of(program: &GroundProgram) -> Self {
        let (fluents, moves) = (program.vocabulary.fluents.len(), program.vocabulary.moves.len());
        Self {
            fluents,
            moves,
            rules: program.n_rules(),
            gates: 0,
            edges: 0,
            optimized_gates: 0,
            optimized_edges: 0,
        }
    }
}

/// The engine of a game. Use [`with_game!`] to run generic code on either kind.
#[derive(Debug)]
pub enum Engine {
    /// The fast engine.
    Machine(Machine),
    /// The slow engine, for games that can't be grounded.
    Reasoner(Reasoner),
}

impl Engine {
    /// Returns its name in reports about playouts.
    pub fn playout_name(&self) -> &'static str {
        match self {
            Engine::Machine(machine) if machine.playout_style() != PlayoutStyle::OneByOne => "wide",
            _ => self.name(),
        }
    }

    /// Returns its name in reports.
    pub fn name(&self) -> &'static str {
        match self {
            Engine::Machine(_) => "circuit",
            Engine::Reasoner(_) => "reasoner",
        }
    }
}

/// Runs generic code on the game of an [`Engine`], of either kind.
///
/// ```
/// use ludex_game::Game;
/// use ludex_pipeline::{LoadOptions, load, with_game};
///
/// let rules = "(role me) (init a) (legal me wait) (<= terminal (true a)) (goal me 100)";
/// let source = ludex_base::Source::new("example", rules);
/// let loaded = load(source, &LoadOptions::default()).expect("the rules are fine");
/// assert_eq!(with_game!(&loaded.engine, |game| game.roles().len()), 1);
/// ```
#[macro_export]
macro_rules! with_game {
    ($engine:expr, |$game:ident| $body:expr) => {
        match $engine {
            $crate::Engine::Machine($game) => $body,
            $crate::Engine::Reasoner($game) => $body,
        }
    };
}

/// Why a game could not be loaded.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum LoadError {
    /// The rulesheet has a fatal mistake.
    Rules {
        /// All diagnostics, fatal or not.
        diagnostics: Vec<Diagnostic>,
    },
    /// A limit was reached.
    Limit {
        /// The limit, the progress so far and the remedy.
        reason: String,
    },
}

impl fmt::Display for LoadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            LoadError::Rules { diagnostics } => {
                let mut errors = diagnostics.iter().filter(|it| it.severity.is_error());
                let first = errors.next().map_or("no message", |it| it.message.as_str());
                match errors.count() {
                    0 => write!(f, "the rulesheet has an error: {first}")?,
                    n => write!(f, "the rulesheet has {} errors, the first: {first}", n + 1)?,
                }
                f.write_str("; `ludex check` shows where")
            }
            LoadError::Limit { reason } => f.write_str(reason),
        }
    }
}

impl std::error::Error for LoadError {}

/// Returns the diagnostic for rules without a meaning, or beyond a limit that no larger budget
/// lifts; `None` if time or memory was not enough.
fn meaningless(error: &GroundError) -> Option<Diagnostic> {
    let fatal = |code, rule: &RulePlace, help: &str| {
        Diagnostic::new(Severity::Fatal, code, rule.span, error.to_string()).with_help(help)
    };
    match error {
        GroundError::NegativeCycle { atom, rule } => Some(negative_cycle(rule.span, atom)),
        GroundError::HugeTerm { rule, .. } => Some(fatal(codes::HUGE_TERM, rule, HUGE_TERM_HELP)),
        GroundError::TooManyRoles { rule, .. } => {
            Some(fatal(codes::TOO_MANY_ROLES, rule, ROLES_HELP))
        }
        _ => None,
    }
}

/// Returns the warning for terms that grow in grounding; they need not grow in play, which the reasoner
/// decides state by state.
fn growth(error: &GroundError) -> Option<Diagnostic> {
    let GroundError::Unbounded { rule, .. } = error else { return None };
    let message = format!("{error}; the reasoner plays the game, much slower");
    let help = "bound the terms by a condition on facts, such as `(succ ?n ?m)`";
    let code = codes::ENDLESS_GROUNDING;
    Some(Diagnostic::new(Severity::Warning, code, rule.span, message).with_help(help))
}

/// Returns the same diagnostics for errors of the reasoner.
fn no_meaning(program: &Program, error: &ReasonerError) -> Option<Diagnostic> {
    let fatal = |code, span, help: &str| {
        Diagnostic::new(Severity::Fatal, code, span, error.to_string()).with_help(help)
    };
    match error {
        ReasonerError::NegativeCycle { relation, name } => {
            let rule = program.negating_rule(*relation);
            Some(negative_cycle(rule.map_or_else(Span::default, |it| it.span), name))
        }
        ReasonerError::TermTooLarge { rule, .. } => {
            let span = rule.as_ref().map_or_else(Span::default, |rule| rule.span);
            Some(fatal(codes::HUGE_TERM, span, HUGE_TERM_HELP))
        }
        ReasonerError::TooManyRoles { .. } => {
            let of_role = |rule: &&Rule| rule.head.relation == Keyword::Role.into();
            let has_body = |rule: &&Rule| of_role(rule) && !rule.body.is_empty();
            let rules = || program.rules.iter();
            let rule = rules().find(has_body).or_else(|| rules().find(of_role));
            let span = rule.map_or_else(Span::default, |rule| rule.span);
            Some(fatal(codes::TOO_MANY_ROLES, span, ROLES_HELP))
        }
        _ => None,
    }
}

const HUGE_TERM_HELP: &str = "a term that contains another twice doubles with every rule that \
    builds one of it; keep the parts in separate fluents";

const ROLES_HELP: &str = "a role is a seat for a player; use fluents for other things";

fn negative_cycle(span: Span, atom: &str) -> Diagnostic {
    let message = format!("`{atom}` depends on its own negation");
    Diagnostic::new(Severity::Fatal, codes::NEGATIVE_CYCLE, span, message)
        .with_help("break the cycle: a rule must not derive an atom from its own negation")
}

/// Says that a limit stopped a stage, and what to do.
fn stop_reason(stage: &str, stop: StopReason) -> String {
    match stop {
        StopReason::Memory => format!("{stage} ran out of memory; allow more memory"),
        _ => format!("{stage} ran out of time; allow more time"),
    }
}

/// Describes an error, with the place of the rule that it is about if there is one.
fn at_rule(source: &Source, rule: Option<&RulePlace>, error: &dyn fmt::Display) -> String {
    let Some(rule) = rule else { return error.to_string() };
    let (line, column) = source.line_column(rule.span.start);
    format!("{}:{line}:{column}: {error}", source.name())
}
