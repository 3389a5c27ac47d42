//! `ludex solve`: the exact value of a game, with a line that reaches it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use ludex_analysis::Layout;
use ludex_base::{BitSet, Deadline, Limits, MoveId, StopReason};
use ludex_game::{Cursor, Describe, Game, StateOf};
use ludex_machine::Machine;
use ludex_pipeline::Engine;
use ludex_player::Playable as _;
use ludex_solve::duel::draw as draw_graph;
use ludex_solve::{
    Bounds, Evidence, Folded, Method, Problem, Progress, Saved, Solution, SolveOptions, TOLERANCE,
    points, solve,
};
use ludex_verify::{Certificate, Claim, Proof, rules_hash};
use serde::Serialize;

use crate::args::{Common, SolveArgs};
use crate::board::{draw, in_columns};
use crate::failure::{DONE, Failure, LIMIT};
use crate::load::{self, Loaded, load};
use crate::state_file::StateFile;
use crate::{input, interrupt, output};

/// Time without `--budget` and `--time`.
const DEFAULT_BUDGET: Duration = Duration::from_secs(60);

/// Solves a game and prints what is known when it is solved or a limit is reached.
pub fn run(args: &SolveArgs, common: &Common) -> Result<u8, Failure> {
    // `--time` bounds the call, loading included; `--budget` only the solving.
    let call = common.deadline();
    let input = input::read(&args.rules.rules)?;
    let loaded = load(&input, args.engine.choice(), common)?;
    let state = args.state.as_deref().map(StateFile::read).transpose()?;
    let report = match &loaded.engine {
        Engine::Machine(game) => {
            let budget = call.no_later_than(Instant::now() + args.budget.unwrap_or(DEFAULT_BUDGET));
            let folded =
                if args.no_symmetries { None } else { folded(game, &budget.part(FOLDING_PART)) };
            let mut problem =
                Problem::initial(game).with_circuit(game.circuit()).with_folded(folded.as_ref());
            if let Some(state) = &state {
                problem = problem.at(state.for_machine(game)?);
            }
            report(&problem, &loaded, args, common, &call)?
        }
        Engine::Reasoner(game) => {
            let mut problem = Problem::initial(game);
            if let Some(state) = &state {
                problem = problem.at(state.for_reasoner(game)?);
            }
            report(&problem, &loaded, args, common, &call)?
        }
    };
    let code = if report.solved { DONE } else { LIMIT };
    if common.json {
        output::json(&report)?;
        return Ok(code);
    }
    output::text(&report.text(&Layout::of(&loaded.program)))?;
    match report.stopped {
        Some(reason) => {
            eprintln!("ludex: stopped by the limit of {reason}; the value is within the bounds");
        }
        None if !report.solved => {
            eprintln!("ludex: no method found the value; it is within the bounds");
        }
        None => {}
    }
    Ok(code)
}

/// The part of the time for finding symmetries.
const FOLDING_PART: f64 = 0.1;

/// Returns a game folded by the symmetries that are found in time; `None` if there are none.
fn folded(game: &Machine, deadline: &Deadline) -> Option<Folded<Machine>> {
    let (game, folding) = game.folded(deadline)?;
    let canonical = move |state: &BitSet| {
        let mut canonical = state.clone();
        folding.canonical(state, &mut canonical);
        canonical
    };
    Some(Folded::new(game, canonical))
}

fn report<G: Game + Describe>(
    problem: &Problem<'_, G>,
    loaded: &Loaded,
    args: &SolveArgs,
    common: &Common,
    call: &Deadline,
) -> Result<SolveJson, Failure> {
    let budget = match (args.budget, call.remaining()) {
        (None, Some(_)) => None,
        (budget, _) => Some(budget.unwrap_or(DEFAULT_BUDGET)),
    };
    let within = |budget: Option<Duration>| {
        budget.map_or_else(|| call.clone(), |time| call.no_later_than(Instant::now() + time))
    };
    let deadline = within(budget).or_when(interrupt::flag());
    let max_bytes = load::options(args.engine.choice(), common).memory;
    let options = SolveOptions {
        limits: Limits { deadline, max_bytes, ..Limits::usual() },
        methods: args.method.clone(),
        wants_shortest: args.shortest,
        n_threads: common.n_threads(),
        wants_proofs: args.certificate.is_some() || args.save.is_some(),
        ..SolveOptions::default()
    };
    let bar = output::spinner("solving");
    let progress = shown_on(&bar);
    let solution = solve(problem, &options, &progress);
    bar.finish_and_clear();
    let mut report = SolveJson::of(problem, &solution, loaded);
    if let Some(file) = &args.certificate {
        let start = args.state.is_some().then(|| problem.game.state_texts(&problem.state));
        match certificate(problem, &solution, loaded, start) {
            Some(certificate) => {
                write_whole(file, &certificate.to_string())?;
                report.certificate = Some(file.display().to_string());
            }
            None => output::say("ludex: no certificate: nothing was proved that it could say"),
        }
    }
    if let Some(file) = &args.save {
        let mut saved = Saved::of(problem, &solution, loaded.source.text());
        for role in saved.shrink_to(MAX_SAVED) {
            output::say(&format!("ludex: the strategy of `{role}` is too large to save"));
        }
        if saved.is_empty() {
            output::say("ludex: nothing saved: no strategy was found");
        } else {
            write_whole(file, &saved.to_text())?;
        }
    }
    if let Some(file) = &args.graph {
        let limits = Limits { max_bytes, ..Limits::usual().until(within(budget)) };
        let Some(picture) = draw_graph(problem, MAX_DRAWN, &limits) else {
            let message = format!("the game graph has more than {MAX_DRAWN} states to draw");
            return Err(Failure::Limit(message));
        };
        let is_svg = file.extension().is_some_and(|ending| ending == "svg");
        write_whole(file, &if is_svg { picture.to_svg() } else { picture.to_dot() })?;
    }
    Ok(report)
}

/// The largest file of saved strategies, in bytes.
const MAX_SAVED: usize = 256 << 20;

/// The most states that are drawn.
const MAX_DRAWN: usize = 2_000;

/// Returns the certificate of a solution; `None` if there is nothing to claim.
///
/// For a puzzle it is the line, and the bound if the checker can visit every state as the solver did.
fn certificate<G: Describe>(
    problem: &Problem<'_, G>,
    solution: &Solution,
    loaded: &Loaded,
    start: Option<Vec<String>>,
) -> Option<Certificate> {
    let game = problem.game;
    let mut proofs = solution.proofs.to_vec();
    if proofs.is_empty()
        && let ([role], [bounds]) = (game.roles(), &solution.bounds[..])
        && ends_after(problem, &solution.line)
    {
        let claim = Claim::Plan(role.name.clone(), bounds.lower.into());
        let evidence = solution.line.iter().map(|joint| game.move_text(joint[0])).collect();
        proofs.push(Proof { claim, evidence });
        if solution.evidence == Evidence::Enumeration {
            let claim = Claim::AtMost(role.name.clone(), bounds.upper.into());
            proofs.push(Proof { claim, evidence: Vec::new() });
        }
    }
    let rules_hash = rules_hash(loaded.source.text());
    (!proofs.is_empty()).then_some(Certificate { rules_hash, start, proofs })
}

/// Returns whether a line leads to an end; without a move it does if the first state is one.
fn ends_after<G: Game>(problem: &Problem<'_, G>, line: &[Vec<MoveId>]) -> bool {
    let mut cursor = problem.game.cursor();
    cursor.set_state(&last_state(problem, line));
    cursor.is_terminal()
}

/// Writes a file under another name first, so that a reader never sees a part of it.
fn write_whole(file: &Path, text: &str) -> Result<(), Failure> {
    let mut partial = file.as_os_str().to_owned();
    partial.push(".partial");
    fs::write(&partial, text)?;
    fs::rename(&partial, file)?;
    Ok(())
}

/// Returns a record of progress that shows its bounds on a bar.
fn shown_on(bar: &ProgressBar) -> Progress {
    let bar = bar.clone();
    Progress::with_listener(move |solution: &Solution| {
        let bounds: Vec<String> = solution.bounds.iter().map(|it| bounds_text(*it)).collect();
        let method = solution.method.map_or("", Method::name);
        let (states, nodes) = (solution.n_states, solution.n_nodes);
        bar.set_message(format!(
            "solving: {} {method}, {states} states, {nodes} nodes",
            bounds.join(" ")
        ));
    })
}

/// What is known about a game.
#[derive(Serialize)]
struct SolveJson {
    solved: bool,
    /// The value of each role, if all are known.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<Vec<u8>>,
    roles: Vec<String>,
    lower: Vec<u8>,
    upper: Vec<u8>,
    /// Closer bounds for each role, if its value is a mean and not a goal.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    means: Vec<(f64, f64)>,
    /// The file of the certificate, if one was written.
    certificate: Option<String>,
    /// What proves the upper bounds.
    evidence: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    /// The joint moves, as the rulesheet writes them.
    line: Vec<Vec<String>>,
    shortest: bool,
    /// The fluents that are true after the line.
    last_state: Vec<String>,
    states: u64,
    nodes: u64,
    seconds: f64,
    machine: &'static str,
    /// Whether symmetric states counted as one.
    folded: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
    #[serde(skip)]
    proof: &'static str,
}

impl SolveJson {
    fn of<G: Game + Describe>(
        problem: &Problem<'_, G>,
        solution: &Solution,
        loaded: &Loaded,
    ) -> Self {
        let game = problem.game;
        let text = |joint: &Vec<MoveId>| joint.iter().map(|&it| game.move_text(it)).collect();
        let values: Option<Vec<u8>> =
            solution.bounds.iter().map(|bounds| Some(bounds.value()?.value())).collect();
        Self {
            solved: solution.is_solved(),
            value: values,
            roles: game.roles().iter().map(|role| role.name.clone()).collect(),
            lower: solution.bounds.iter().map(|bounds| bounds.lower.value()).collect(),
            upper: solution.bounds.iter().map(|bounds| bounds.upper.value()).collect(),
            means: solution.means.iter().map(|it| (points(it.0), points(it.1))).collect(),
            certificate: None,
            evidence: solution.evidence.name(),
            method: solution.method.map(Method::name),
            line: solution.line.iter().map(text).collect(),
            shortest: solution.is_shortest,
            last_state: game.state_texts(&last_state(problem, &solution.line)),
            states: solution.n_states,
            nodes: solution.n_nodes,
            seconds: output::seconds(solution.time),
            machine: loaded.engine_name(),
            folded: problem.folded.is_some(),
            stopped: solution.stopped.map(StopReason::name),
            proof: proof_text(solution),
        }
    }

    fn text(&self, layout: &Layout) -> String {
        let mut text = String::new();
        for (idx, role) in self.roles.iter().enumerate() {
            let (lower, upper) = (self.lower[idx], self.upper[idx]);
            let value = match self.means.get(idx) {
                _ if lower == upper => lower.to_string(),
                Some(&(low, high)) if high - low <= TOLERANCE => {
                    format!("{:.6}", (low + high) / 2.0)
                }
                Some(&(low, high)) => format!("{low:.6} to {high:.6}"),
                None => format!("{lower} to {upper}"),
            };
            line(&mut text, format_args!("{role}: {value}"));
        }
        if !self.line.is_empty() {
            let shortest = if self.shortest { ", a shortest line" } else { "" };
            line(&mut text, format_args!("\nline of {} steps{shortest}:", self.line.len()));
            let steps: Vec<String> = self.line.iter().map(|joint| joint.join(" ")).collect();
            text.push_str(&in_columns(&steps, output::width()));
            line(&mut text, format_args!("\nlast state:"));
            text.push_str(&draw(&layout.picture(&self.last_state), output::width()));
        }
        line(&mut text, format_args!("\n{}", self.proof));
        let Self { states, nodes, seconds, .. } = self;
        let method = self.method.unwrap_or("no method");
        line(
            &mut text,
            format_args!("{method}: {states} states, {nodes} nodes, {seconds} seconds"),
        );
        text
    }
}

/// Returns the state after a line.
fn last_state<G: Game>(problem: &Problem<'_, G>, line: &[Vec<MoveId>]) -> StateOf<G> {
    let mut cursor = problem.game.cursor();
    cursor.set_state(&problem.state);
    line.iter().for_each(|joint| cursor.play(joint));
    cursor.state().clone()
}

fn bounds_text(bounds: Bounds) -> String {
    match bounds.value() {
        Some(value) => value.value().to_string(),
        None => format!("{} to {}", bounds.lower.value(), bounds.upper.value()),
    }
}

/// Says what proves the upper bounds.
fn proof_text(solution: &Solution) -> &'static str {
    match solution.evidence {
        Evidence::Rules if solution.is_solved() => {
            "proof: the line reaches the largest goal of the rules"
        }
        Evidence::Rules => "no proof beyond the goals of the rules",
        Evidence::Enumeration => "proof: every state that can be reached was visited",
        Evidence::Constraints => {
            "proof: no final state with a larger goal satisfies the constraints"
        }
        Evidence::Parts => "proof: each part was explored alone, and together they allow no more",
        Evidence::Strategy => "proof: each role has a strategy that gives it its value",
    }
}

fn line(text: &mut String, words: std::fmt::Arguments<'_>) {
    writeln!(text, "{words}").expect("writing to a string");
}
