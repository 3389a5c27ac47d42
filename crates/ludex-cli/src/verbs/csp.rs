//! `ludex csp solve`: a constraint network from an XCSP3 file.
//!
//! It prints the answer in the lines of the XCSP3 competition, or as JSON. A watchdog enforces the
//! limits, also while a large file is read and posted: if the worker does not stop soon after a
//! limit, the command reports the best known answer without waiting for it.

use std::panic;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use indicatif::ProgressBar;
use ludex_base::{Deadline, StopReason};
use ludex_csp::{Goal, PostConfig, SearchConfig, SearchMethod, SolveOptions, Value};
use ludex_formats::FormatError;
use ludex_formats::xcsp3::{self, Answer, Instance, Status};
use ludex_pipeline::LoadOptions;
use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use crate::args::{Common, CspSolve};
use crate::failure::{DONE, Failure, LIMIT};
use crate::{input, output};

/// How often the watchdog checks the clock and the memory.
const WATCH_INTERVAL: Duration = Duration::from_millis(20);
/// How long the worker may take to stop after a limit.
const GRACE: Duration = Duration::from_millis(500);
/// Stack size of the worker: files may contain deeply nested expressions.
pub(super) const STACK_BYTES: usize = 64 << 20;

/// Solves the instance in a file.
pub fn run(args: &CspSolve, common: &Common) -> Result<u8, Failure> {
    let start = Instant::now();
    let deadline = common.deadline();
    let options = solve_options(args, common, deadline.clone());
    check_call(args, &options)?;
    let bar = output::spinner(format!("solving {}", args.file));
    let work = Work {
        file: args.file.clone(),
        has_goal: args.all || args.count || args.limit.is_some(),
        prints_values: !common.json,
        options: options.clone(),
        max_bytes: common.memory.unwrap_or(LoadOptions::default().memory),
        known: Arc::default(),
        bar: bar.clone(),
    };
    let known = Arc::clone(&work.known);
    let (sender, receiver) = mpsc::channel();
    let worker = thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        // After a limit nobody receives the answer.
        let _ = sender.send(work.run());
    })?;
    let ended = wait(&deadline, &receiver, worker);
    let mut known = lock(&known);
    known.is_closed = true;
    bar.finish_and_clear();
    let outcome = match ended {
        Ended::Done(answer, reason) => match (*answer)? {
            Ok(answer) => Outcome::of_answer(answer, reason),
            Err(stopped) => Outcome::of_known(&known, reason.unwrap_or(stopped)),
        },
        Ended::Abandoned(reason) => Outcome::of_known(&known, reason),
    };
    outcome.report(args, start, common.json)?;
    let Some(reason) = outcome.stopped else { return Ok(DONE) };
    eprintln!("ludex: stopped by the limit of {}", StopReason::name(reason));
    Ok(LIMIT)
}

fn solve_options(args: &CspSolve, common: &Common, deadline: Deadline) -> SolveOptions {
    // Several threads find solutions in any order, but a seed promises a repeatable run.
    let n_threads = match (common.seed, common.threads) {
        (Some(_), None) => 1,
        _ => common.n_threads(),
    };
    SolveOptions {
        goal: match args.limit {
            Some(limit) => Goal::First(limit),
            None if args.all => Goal::All,
            None if args.count => Goal::Count,
            None => Goal::First(1),
        },
        method: args.search,
        order: args.order,
        breaks_symmetries: args.break_symmetries,
        search: SearchConfig {
            post: PostConfig {
                table: args.propagator,
                all_different: args.all_different,
                ..PostConfig::default()
            },
            value_order: args.values,
            branching: args.branching,
            restarts: args.restarts,
            singleton_consistency: args.sac,
            preprocesses: !args.no_preprocess,
            n_threads,
            seed: common.seed(),
            deadline,
            ..SearchConfig::default()
        },
    }
}

fn check_call(args: &CspSolve, options: &SolveOptions) -> Result<(), Failure> {
    if args.search == SearchMethod::Local && options.goal != Goal::First(1) {
        let message =
            "`--search local` finds one solution and cannot count or list all; use `--search mac`";
        return Err(Failure::Call(message.into()));
    }
    let is_known = |order| match args.search {
        SearchMethod::Mac => true,
        SearchMethod::Local => false,
        SearchMethod::Study(method) => method.knows(order),
    };
    match args.order {
        Some(order) if !is_known(order) => {
            let message = format!(
                "`--search {}` does not know `--order {}`",
                args.search.name(),
                order.name()
            );
            Err(Failure::Call(message))
        }
        _ => Ok(()),
    }
}

/// The job of the worker.
struct Work {
    file: String,
    /// Whether the call asks for a number of solutions.
    has_goal: bool,
    /// Whether to print better values as they are found.
    prints_values: bool,
    options: SolveOptions,
    max_bytes: u64,
    known: Arc<Mutex<Known>>,
    bar: ProgressBar,
}

/// The result of the worker: an answer, or the limit reached before the search began.
type Worked = Result<Result<Answer, StopReason>, Failure>;

/// The progress so far.
#[derive(Default)]
struct Known {
    instance: Option<Arc<Instance>>,
    last_solution: Option<Vec<Value>>,
    n_solutions: u64,
    value: Option<i64>,
    /// Set when the answer has been printed; nothing may follow it.
    is_closed: bool,
}

fn lock(known: &Mutex<Known>) -> MutexGuard<'_, Known> {
    known.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Work {
    fn run(&self) -> Worked {
        let text = input::read_text(&self.file, self.max_bytes)?;
        let wrong_file = |error| wrong_file(&self.file, &error);
        let instance = match xcsp3::read_by(&text, &self.options.search.deadline) {
            Ok(instance) => Arc::new(instance),
            Err(FormatError::Stopped(reason)) => return Ok(Err(reason)),
            Err(error) => return Err(wrong_file(error)),
        };
        drop(text);
        self.check_objective(&instance)?;
        lock(&self.known).instance = Some(Arc::clone(&instance));
        let mut tell = |solution: &[Value], value| self.tell(solution, value);
        let answer = xcsp3::solve_instance(instance, &self.options, &mut tell);
        answer.map(Ok).map_err(wrong_file)
    }

    fn check_objective(&self, instance: &Instance) -> Result<(), Failure> {
        let problem = match instance.network.objective() {
            Some(_) if self.has_goal => "`--all`, `--count` and `--limit` are for those without",
            Some(_) if self.options.method != SearchMethod::Mac => {
                "only `--search mac` looks at it"
            }
            _ => return Ok(()),
        };
        Err(Failure::Call(format!("`{}` has an objective: {problem}", self.file)))
    }

    fn tell(&self, solution: &[Value], value: Option<i64>) {
        let mut known = lock(&self.known);
        if known.is_closed {
            return;
        }
        known.last_solution = Some(solution.to_vec());
        known.n_solutions += 1;
        known.value = value;
        if let Some(value) = value.filter(|_| self.prints_values) {
            // When standard output is closed, the answer at the end meets the same error.
            let _ = self.bar.suspend(|| output::text(&format!("o {value}\n")));
        }
    }
}

/// An error in a file, with its line if known.
pub(super) fn wrong_file(file: &str, error: &FormatError) -> Failure {
    let code = match error {
        FormatError::Syntax { .. } => "malformed-instance",
        FormatError::Unsupported { .. } => "unsupported-element",
        _ => "wrong-network",
    };
    // The line is shown beside the path.
    let (line, message) = (error.line(), error.problem());
    Failure::File { path: input::shown_path(file).into(), code, line, message }
}

/// How the worker ended.
enum Ended {
    /// It stopped; with the limit it reached, if any.
    Done(Box<Worked>, Option<StopReason>),
    /// It is still running and was abandoned.
    Abandoned(StopReason),
}

/// Waits for the worker, and for a while after the deadline, which is also reached when memory is
/// short.
fn wait(deadline: &Deadline, receiver: &Receiver<Worked>, worker: JoinHandle<()>) -> Ended {
    let mut over: Option<(StopReason, Instant)> = None;
    loop {
        match receiver.recv_timeout(WATCH_INTERVAL) {
            Ok(answer) => return Ended::Done(answer.into(), over.map(|(reason, _)| reason)),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => {
                let panicked = worker.join().expect_err("work that ends sends its answer");
                panic::resume_unwind(panicked);
            }
        }
        match over {
            None => over = deadline.stop_reason().map(|reason| (reason, Instant::now())),
            Some((reason, since)) if since.elapsed() >= GRACE => return Ended::Abandoned(reason),
            Some(_) => {}
        }
    }
}

/// The data of the report.
struct Outcome {
    status: Status,
    last_solution: Option<Vec<Value>>,
    n_solutions: u64,
    value: Option<i64>,
    stopped: Option<StopReason>,
    instance: Option<Arc<Instance>>,
    /// The rest, if the worker stopped.
    answer: Option<Answer>,
}

impl Outcome {
    fn of_answer(mut answer: Answer, reached: Option<StopReason>) -> Self {
        // Already printed when found.
        let value = std::mem::take(&mut answer.values).pop();
        Self {
            status: answer.status,
            last_solution: answer.solutions.last().cloned(),
            n_solutions: answer.n_solutions,
            value,
            // Memory that was short when the search stopped may be free again by now.
            stopped: answer.stopped.map(|reason| reached.unwrap_or(reason)),
            instance: Some(Arc::clone(&answer.instance)),
            answer: Some(answer),
        }
    }

    fn of_known(known: &Known, reason: StopReason) -> Self {
        Self {
            status: match known.last_solution {
                Some(_) => Status::Satisfiable,
                None => Status::Unknown,
            },
            last_solution: known.last_solution.clone(),
            n_solutions: known.n_solutions,
            value: known.value,
            stopped: Some(reason),
            instance: known.instance.clone(),
            answer: None,
        }
    }

    fn report(&self, args: &CspSolve, start: Instant, json: bool) -> Result<(), Failure> {
        let text = match &self.answer {
            _ if json => return Ok(output::json(&self.to_json(args, start))?),
            Some(answer) => answer.to_string(),
            None => self.to_lines(start),
        };
        Ok(output::text(&text)?)
    }

    /// The lines of the competition, if there are no statistics.
    fn to_lines(&self, start: Instant) -> String {
        let mut text = format!("s {}\n", self.status.words());
        if let (Some(instance), Some(solution)) = (&self.instance, &self.last_solution) {
            text += &format!("v {}\n", instance.instantiation(solution));
        }
        let seconds = start.elapsed().as_secs_f64();
        text += &format!("d FOUND SOLUTIONS {}\n", self.n_solutions);
        text + &format!("d COMPLETE EXPLORATION false\nd SECONDS {seconds:.3}\n")
    }

    fn to_json(&self, args: &CspSolve, start: Instant) -> CspJson<'_> {
        let assignment =
            |solution| self.instance.as_deref().map(|instance| Assignment { instance, solution });
        let keeps_all = args.all || args.limit.is_some();
        let statistics = self.answer.as_ref().map(|answer| answer.statistics);
        let kept = match &self.answer {
            Some(answer) => &answer.solutions[..],
            None => self.last_solution.as_slice(),
        };
        CspJson {
            status: self.status.words(),
            solution: self.last_solution.as_deref().and_then(assignment),
            solutions: (keeps_all || args.count).then_some(self.n_solutions),
            assignments: keeps_all
                .then(|| kept.iter().filter_map(|solution| assignment(solution)).collect()),
            value: self.value,
            stopped: self.stopped.map(StopReason::name),
            nodes: statistics.map(|statistics| statistics.n_nodes),
            conflicts: statistics.map(|statistics| statistics.n_conflicts),
            restarts: statistics.map(|statistics| statistics.n_restarts),
            seconds: output::seconds(start.elapsed()),
        }
    }
}

#[derive(Serialize)]
struct CspJson<'a> {
    status: &'static str,
    /// The last solution found; when optimizing, the best.
    solution: Option<Assignment<'a>>,
    /// The number of solutions, if the call asked for more than one.
    #[serde(skip_serializing_if = "Option::is_none")]
    solutions: Option<u64>,
    /// All solutions, if the call asked for them and not only for their number.
    #[serde(skip_serializing_if = "Option::is_none")]
    assignments: Option<Vec<Assignment<'a>>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'static str>,
    /// `None` if the worker was abandoned.
    nodes: Option<u64>,
    conflicts: Option<u64>,
    restarts: Option<u64>,
    seconds: f64,
}

/// Values by the names of variables, in the order of the file.
struct Assignment<'a> {
    instance: &'a Instance,
    solution: &'a [Value],
}

impl Serialize for Assignment<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let network = &self.instance.network;
        let mut map = serializer.serialize_map(None)?;
        for x in self.instance.variables() {
            let (variable, value) = (network.variable(x), self.solution[x.index()]);
            match variable.labels {
                Some(_) => map.serialize_entry(&variable.name, &network.label(x, value))?,
                None => map.serialize_entry(&variable.name, &value)?,
            }
        }
        map.end()
    }
}
