//! The contract: a legal move, in time, always.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ludex_base::{Deadline, MoveId, Rng, RoleId, Seed, memory};
use ludex_game::{Cursor, StateOf};
use ludex_gdl::Program;
use ludex_search::information::{Model, Patience};
use ludex_search::{Hint, SearchLimits, SearchReport};
use ludex_solve::Saved;

use crate::Playable;
use crate::attention::Attention;
use crate::backup::{BackupAnswer, BackupQuestion, backup};
use crate::interrupter::Interrupter;
use crate::knowledge::{Knowledge, Situation};
use crate::latency::{Latency, Schedule};
use crate::mind::{Broken, Mind, Minds, Opinion, turn_seed};
use crate::roster::{FLAGSHIP, PlayerSpec};
use crate::seen::Seen;
use crate::thought::{Choice, Rung, Thought};
use crate::worker::{NoAnswer, Worker};

/// The seed, resources and habits of a player.
#[derive(Clone, Debug)]
pub struct PlayerConfig {
    /// Seed of everything it draws at random.
    pub seed: Seed,
    /// Threads of its search.
    pub n_threads: usize,
    /// Bytes for trees and tables.
    pub memory: usize,
    /// Most iterations of each search; `None` is no limit. With a limit and long clocks, equal seeds
    /// give equal matches.
    pub iterations: Option<u64>,
    /// Whether it thinks during the turns of the other players.
    pub ponders: bool,
    /// Time for the answer to reach the referee, subtracted from every clock.
    pub reserve: Duration,
    /// Stops every search when set; several players can share the flag.
    pub stop: Option<Arc<AtomicBool>>,
    /// Strategies that the flagship plays; they must be for the rules of the match.
    pub saved: Option<Arc<Saved>>,
}

impl PlayerConfig {
    /// A configuration with one thread, 512 MB, no pondering, and a referee in the same process.
    pub fn new(seed: Seed) -> Self {
        Self {
            seed,
            n_threads: 1,
            memory: 512 << 20,
            iterations: None,
            ponders: false,
            reserve: Duration::ZERO,
            stop: None,
            saved: None,
        }
    }
}

/// Returns the bytes for trees and tables of each of `n_players` players in this process: equal parts
/// of what the process may still use, and no more than `most`.
///
/// A fifth of what is left stays free for everything else, so that players with full trees do not
/// make the process short of memory.
pub fn memory_of_each(n_players: usize, most: usize) -> usize {
    let share = |left: u64| usize::try_from(left / 5 * 4).unwrap_or(usize::MAX) / n_players.max(1);
    memory::left().map_or(most, |left| share(left).min(most))
}

/// Plays one role of one match.
///
/// The search runs on a thread of its own. The calling thread follows the game, knows the legal moves,
/// and answers before the clock runs out, whatever the search does. One function, `climb_down`, walks
/// down the ladder of [`Rung`]s.
///
/// # Examples
///
/// ```
/// use std::sync::Arc;
/// use std::time::{Duration, Instant};
///
/// use ludex_base::{RoleId, Seed, Source};
/// use ludex_pipeline::{LoadOptions, load, with_game};
/// use ludex_player::{Player, PlayerConfig, PlayerSpec, Seen};
///
/// let rules = "(role walker) (init fork) (legal walker left) (legal walker right)
///     (<= (next (went ?way)) (does walker ?way)) (<= terminal (not (true fork)))
///     (<= (goal walker 0) (true (went left))) (<= (goal walker 100) (true (went right)))";
/// let loaded = load(Source::new("fork", rules), &LoadOptions::default()).unwrap();
/// with_game!(&loaded.engine, |game| {
///     let spec = PlayerSpec::parse("ludex").unwrap();
///     let config = PlayerConfig::new(Seed(1));
///     let mut player = Player::new(&spec, game, Arc::clone(&loaded.program), config);
///     let soon = || Instant::now() + Duration::from_secs(1);
///     player.start(RoleId::new(0), soon());
///     assert_eq!(player.choose(Seen::Nothing, soon()).text, "right");
/// });
/// ```
pub struct Player<G: Playable> {
    minds: Minds<G>,
    /// Whether the search uses its clock; `random` does not.
    takes_time: bool,
    name: String,
    game: G,
    program: Arc<Program>,
    config: PlayerConfig,
    role: RoleId,
    knowledge: Knowledge<G>,
    /// Whether the engine panicked while following the game; from then on only the reasoner knows the state.
    is_lost: bool,
    /// Joint moves as texts, for the reasoner. Empty in a game with hidden information.
    history: Vec<Vec<String>>,
    /// A move that was legal for the role in some earlier state.
    any_move: Option<MoveId>,
    /// The last answer, until the player learns which move was played for it.
    answered: Option<MoveId>,
    turn: u64,
    rng: Rng,
    latency: Latency,
    attention: Attention,
    worker: Option<ThinkingWorker<G>>,
    interrupter: Interrupter,
    backup: Option<Worker<BackupQuestion, BackupAnswer>>,
    /// Abandoned threads that may still run.
    abandoned: Vec<JoinHandle<()>>,
}

type ThinkingWorker<G> = Worker<Question<StateOf<G>>, Thinking>;

/// A question to the thinking thread.
enum Question<S> {
    Prepare { role: RoleId, limits: SearchLimits },
    Think { situation: Situation<S>, role: RoleId, limits: SearchLimits },
}

/// The answer of the thinking thread, with its times.
struct Thinking {
    opinion: Option<Opinion>,
    started: Instant,
    ended: Instant,
}

/// Why a search gave no answer, and its best move so far.
struct Unsearched {
    why: String,
    hint: Option<MoveId>,
}

impl Unsearched {
    fn because(why: &str) -> Self {
        Self { why: why.into(), hint: None }
    }
}

/// With this many abandoned threads still running, the player starts no more.
const MAX_ABANDONED: usize = 4;
/// The part of a turn that sampling possible states may take.
pub(crate) const BELIEF_PART: f64 = 0.3;
/// The part of a turn that finding a consistent state may take while none is known.
pub(crate) const INCONSISTENT_PART: f64 = 0.6;
/// The part of the start clock in which random games teach the opponent model.
const MODEL_PART: f64 = 0.05;
/// Joint moves of the expected line in a [`Thought`].
const MAX_LINE: usize = 8;

impl<G: Playable> Player<G> {
    /// Creates a player for one match.
    pub fn new(spec: &PlayerSpec, game: &G, program: Arc<Program>, config: PlayerConfig) -> Self {
        let minds = game.minds(spec);
        let minds = match &config.saved {
            Some(saved) if spec.name() == FLAGSHIP => minds.remembering(game, saved),
            _ => minds,
        };
        Self {
            minds,
            takes_time: spec.takes_time(),
            name: spec.name().into(),
            game: game.clone(),
            program,
            role: RoleId::new(0),
            knowledge: Knowledge::unprepared(game),
            is_lost: false,
            history: Vec::new(),
            any_move: None,
            answered: None,
            turn: 0,
            rng: config.seed.rng(),
            latency: Latency::unknown(),
            attention: Attention::default(),
            worker: None,
            interrupter: Interrupter::default(),
            backup: None,
            abandoned: Vec::new(),
            config,
        }
    }

    /// Changes the name that reports show.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// Replaces the search by one that panics, for tests of code that uses players.
    #[doc(hidden)]
    pub fn breaking_down(mut self) -> Self {
        self.minds = Minds::by(|| Box::new(Broken));
        self
    }

    /// Replaces the search.
    #[cfg(test)]
    pub(crate) fn thinking_with(mut self, minds: Minds<G>) -> Self {
        self.minds = minds;
        self
    }

    /// The name that reports show.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A handle that stops the player from another thread.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// Takes a role and prepares until the deadline: measures the delays of the machine, studies the game,
    /// and searches the initial state ahead.
    pub fn start(&mut self, role: RoleId, deadline: Instant) {
        self.role = role;
        let clock = deadline.saturating_duration_since(Instant::now());
        let learn = || {
            let deadline = Deadline::after(clock.mul_f64(MODEL_PART));
            let model = if self.game.has_percepts() {
                Model::learned(&self.game, &mut self.rng, &deadline)
            } else {
                Model::uniform()
            };
            Knowledge::new(&self.game, role, model)
        };
        match catch_unwind(AssertUnwindSafe(learn)) {
            Ok(knowledge) => self.knowledge = knowledge,
            Err(_) => self.is_lost = true,
        }
        if self.takes_time {
            self.latency.measure((clock / 20).min(MEASURE_TIME), &mut self.attention);
        }
        self.attention.raise();
        let schedule = self.latency.schedule(deadline, self.config.reserve);
        let limits = self.limits(Seed::child(self.config.seed, 1), schedule.search_until);
        let interrupter = self.interrupter.clone();
        let Some(worker) = self.ready_worker(&schedule) else { return };
        worker.ask(Question::Prepare { role, limits });
        if interrupter.is_over() {
            worker.cancel();
        }
        // A late preparation is cancelled, and the first move waits for it to end.
        match worker.wait(schedule.answer_at) {
            Ok(thinking) => self.note(&schedule, &thinking),
            Err(NoAnswer::Late) => worker.cancel(),
            Err(NoAnswer::Panicked(_)) => self.worker = None,
        }
    }

    /// Chooses a move, given the role's observation of the last step.
    pub fn choose(&mut self, seen: Seen<'_>, deadline: Instant) -> Choice {
        // The priority stays raised beyond the answer, because returning to the caller is part of it.
        // Only sampling possible states computes on this thread, so it runs at normal priority.
        if self.game.has_percepts() {
            self.attention.lower()
        } else {
            self.attention.raise()
        }
        let schedule = self.latency.schedule(deadline, self.config.reserve);
        let choice = self.climb_down(seen, &schedule);
        self.answered = choice.chosen;
        self.attention.raise();
        // A late answer means a larger reserve from now on, whatever made it late.
        self.latency.note_wake(Instant::now().saturating_duration_since(schedule.answer_at));
        choice
    }

    /// Tries the rungs of the ladder from best to worst until one yields a move.
    fn climb_down(&mut self, seen: Seen<'_>, schedule: &Schedule) -> Choice {
        let asked = Instant::now();
        if let Some(worker) = self.worker.as_ref().filter(|worker| worker.is_busy()) {
            worker.cancel();
        }
        self.turn += 1;

        let legal = self.follow(seen, schedule);
        if let Some(&first) = legal.first() {
            self.any_move = Some(first);
        }
        if let [only] = legal[..] {
            // In games with turns, this is when the other roles think.
            self.ponder();
            return self.choice(only, Thought::none(Rung::Forced));
        }

        // The note says why the better rungs gave no move.
        let mut note = String::from("the engine panicked");
        if !legal.is_empty() {
            match self.search(schedule) {
                Ok((chosen, opinion)) if legal.contains(&chosen) => {
                    let mut thought = self.thought(Rung::Search, &opinion, asked);
                    if self.knowledge.is_inconsistent() {
                        thought.note = "no possible state agrees with the observations".into();
                    }
                    if opinion.report.stopped.is_some() && opinion.report.is_blank() {
                        thought.rung = Rung::Hint;
                        thought.note = "the search had no time to examine a move".into();
                    }
                    self.ponder();
                    return self.choice(chosen, thought);
                }
                Ok((chosen, _)) => {
                    note = format!("the search chose {chosen:?}, which is not legal")
                }
                Err(Unsearched { why, hint }) => {
                    note = why;
                    if let Some(hint) = hint.filter(|hint| legal.contains(hint)) {
                        return self.choice(hint, Thought { note, ..Thought::none(Rung::Hint) });
                    }
                }
            }
        }
        if let Some((text, opinion)) = self.ask_reasoner(schedule) {
            let chosen = legal.iter().copied().find(|&id| self.game.move_text(id) == text);
            if chosen.is_some() || legal.is_empty() {
                let thought = Thought { note, ..self.thought(Rung::Reasoner, &opinion, asked) };
                return Choice { chosen, text, thought };
            }
            note += "; the engine rejects the move of the reasoner as illegal";
        }
        match self.rng.choose(&legal).copied() {
            Some(drawn) => self.choice(drawn, Thought { note, ..Thought::none(Rung::Random) }),
            None => {
                let thought = Thought { note, ..Thought::none(Rung::Guess) };
                match self.any_move {
                    Some(guess) => self.choice(guess, thought),
                    None => Choice { chosen: None, text: "noop".into(), thought },
                }
            }
        }
    }

    /// Evaluates the current state and its moves without playing one: the report, and the name of the
    /// search. `None` when the search found nothing in that time or there is no move.
    pub fn consider(&mut self, time: Duration) -> Option<(SearchReport, String)> {
        let schedule = self.latency.schedule(Instant::now() + time, Duration::ZERO);
        self.search(&schedule).ok().map(|(_, opinion)| (opinion.report, opinion.search))
    }

    /// The legal moves, as far as the player knows them.
    pub fn legal_moves(&mut self) -> Vec<MoveId> {
        self.knowledge.legal_moves(self.role)
    }

    /// Follows a step without choosing a move.
    pub fn watch(&mut self, seen: Seen<'_>, deadline: Instant) {
        let schedule = self.latency.schedule(deadline, self.config.reserve);
        self.follow(seen, &schedule);
    }

    /// Follows a step whose observation was lost, in a game with hidden information.
    pub fn miss(&mut self, deadline: Instant) {
        let schedule = self.latency.schedule(deadline, self.config.reserve);
        let patience = self.patience(&schedule);
        let (knowledge, rng) = (&mut self.knowledge, &mut self.rng);
        let missed = catch_unwind(AssertUnwindSafe(|| knowledge.miss(rng, &patience)));
        self.is_lost |= missed.is_err();
    }

    /// Ends the match: stops all searches.
    pub fn stop(&mut self) {
        self.attention.lower();
        if let Some(worker) = self.worker.take() {
            worker.abandon();
        }
        if let Some(worker) = self.backup.take() {
            worker.abandon();
        }
    }

    /// Follows a step and returns the legal moves after it; none if the engine panicked.
    fn follow(&mut self, seen: Seen<'_>, schedule: &Schedule) -> Vec<MoveId> {
        if let Seen::Joint(joint) = seen {
            let texts = joint.iter().map(|&id| self.game.move_text(id)).collect();
            self.history.push(texts);
        }
        if self.is_lost {
            return Vec::new();
        }
        let patience = self.patience(schedule);
        let (knowledge, rng, role) = (&mut self.knowledge, &mut self.rng, self.role);
        if let (Seen::Own { own, .. }, Some(answered)) = (&seen, self.answered.take())
            && *own != answered
        {
            knowledge.refuse(answered);
        }
        let follow = || {
            knowledge.follow(seen, rng, &patience);
            knowledge.legal_moves(role)
        };
        catch_unwind(AssertUnwindSafe(follow)).unwrap_or_else(|_| {
            self.is_lost = true;
            Vec::new()
        })
    }

    /// Asks the thinking thread, and waits no longer than the schedule allows.
    fn search(&mut self, schedule: &Schedule) -> Result<(MoveId, Opinion), Unsearched> {
        let situation = self.knowledge.situation();
        let limits = self.limits(turn_seed(self.config.seed, self.turn), schedule.search_until);
        let role = self.role;
        let hint = limits.hint.clone();
        let Some(worker) = self.ready_worker(schedule) else {
            return Err(Unsearched::because(
                "no thread for the search: earlier ones are still running, or the system has none",
            ));
        };
        worker.ask(Question::Think { situation, role, limits });
        self.attention.raise();
        let worker = self.worker.as_mut().expect("it was just asked");
        if self.interrupter.is_over() {
            worker.cancel();
        }
        match worker.wait(schedule.answer_at) {
            Ok(thinking) => {
                self.note(schedule, &thinking);
                let opinion = thinking
                    .opinion
                    .ok_or_else(|| Unsearched::because("the search did not run"))?;
                let chosen = opinion.report.chosen;
                let chosen =
                    chosen.ok_or_else(|| Unsearched::because("the search found no move"))?;
                Ok((chosen, opinion))
            }
            Err(NoAnswer::Late) => {
                worker.cancel();
                let why = "the search did not answer in time".into();
                Err(Unsearched { why, hint: hint.get() })
            }
            Err(NoAnswer::Panicked(message)) => {
                self.worker = None;
                Err(Unsearched::because(&format!("the search panicked: {message}")))
            }
        }
    }

    /// The thinking thread, once it is free. A thread that stays busy for half of the turn is abandoned
    /// and replaced; `None` when too many abandoned threads are still running, or when the system has no
    /// thread.
    fn ready_worker(&mut self, schedule: &Schedule) -> Option<&mut ThinkingWorker<G>> {
        if let Some(mut worker) = self.worker.take() {
            if !worker.is_busy() {
                return Some(self.worker.insert(worker));
            }
            worker.cancel();
            let now = Instant::now();
            let half = schedule.search_until.saturating_duration_since(now) / 2;
            match worker.wait(now + half) {
                Ok(thinking) => {
                    self.note_late(&thinking);
                    return Some(self.worker.insert(worker));
                }
                Err(NoAnswer::Late) => self.abandoned.push(worker.abandon()),
                Err(NoAnswer::Panicked(_)) => {}
            }
        }
        self.abandoned.retain(|thread| !thread.is_finished());
        if self.abandoned.len() >= MAX_ABANDONED {
            return None;
        }
        let worker = thinking_worker(self.minds.clone()).ok()?;
        self.interrupter.watch(worker.flag());
        Some(self.worker.insert(worker))
    }

    /// Searches on during the turns of the others, if the state is known.
    fn ponder(&mut self) {
        let Knowledge::Open(cursor) = &self.knowledge else { return };
        if !self.config.ponders || self.interrupter.is_over() {
            return;
        }
        let situation = Situation::Open(cursor.state().clone());
        let seed = turn_seed(self.config.seed, self.turn).child(1);
        let limits = self.limits(seed, Instant::now() + MAX_PONDERING);
        let role = self.role;
        if let Some(worker) = self.worker.as_mut().filter(|worker| !worker.is_busy()) {
            worker.ask(Question::Think { situation, role, limits });
        }
    }

    /// Searches on the reasoner in the rest of the turn.
    fn ask_reasoner(&mut self, schedule: &Schedule) -> Option<(String, Opinion)> {
        let is_over = self.interrupter.is_over() || Instant::now() >= schedule.search_until;
        if self.game.has_percepts() || is_over {
            return None;
        }
        let limits = self.limits(turn_seed(self.config.seed, self.turn), schedule.search_until);
        let question = BackupQuestion { history: self.history.clone(), role: self.role, limits };
        if self.backup.is_none() {
            self.backup = backup(Arc::clone(&self.program)).ok();
        }
        let worker = self.backup.as_mut()?;
        if !worker.is_busy() {
            worker.ask(question);
        }
        match worker.wait(schedule.answer_at) {
            Ok(answer) => answer.map(|(text, report)| {
                (
                    text,
                    Opinion {
                        report: SearchReport { line: Vec::new(), ..report },
                        search: "reasoner".into(),
                    },
                )
            }),
            Err(NoAnswer::Late) => {
                worker.cancel();
                None
            }
            Err(NoAnswer::Panicked(_)) => {
                self.backup = None;
                None
            }
        }
    }

    /// How long the follower may look for possible states in a turn that begins now.
    fn patience(&self, schedule: &Schedule) -> Patience {
        let time = schedule.search_until.saturating_duration_since(Instant::now());
        let part = |part: f64| {
            let deadline = Deadline::after(time.mul_f64(part)).or_when(self.interrupter.flag());
            self.or_stopped(deadline)
        };
        Patience { for_many: part(BELIEF_PART), for_one: part(INCONSISTENT_PART) }
    }

    /// Adds the stop flag of the configuration to a deadline.
    fn or_stopped(&self, deadline: Deadline) -> Deadline {
        match &self.config.stop {
            Some(flag) => deadline.or_when(Arc::clone(flag)),
            None => deadline,
        }
    }

    fn limits(&self, seed: Seed, until: Instant) -> SearchLimits {
        SearchLimits {
            deadline: self.or_stopped(Deadline::at(until)),
            iterations: self.config.iterations,
            memory: self.config.memory,
            threads: self.config.n_threads,
            seed,
            hint: Hint::default(),
        }
    }

    /// Records how late a search ended.
    fn note(&mut self, schedule: &Schedule, thinking: &Thinking) {
        self.latency.note_overrun(thinking.ended.saturating_duration_since(schedule.search_until));
    }

    /// Records a search of an earlier turn that ended only now. Its deadline is no longer known, so an
    /// eighth of its time stands for how late it was.
    fn note_late(&mut self, thinking: &Thinking) {
        let took = thinking.ended.saturating_duration_since(thinking.started);
        self.latency.note_overrun(took / 8);
    }

    fn choice(&self, chosen: MoveId, thought: Thought) -> Choice {
        Choice { chosen: Some(chosen), text: self.game.move_text(chosen), thought }
    }

    fn thought(&self, rung: Rung, opinion: &Opinion, asked: Instant) -> Thought {
        let report = &opinion.report;
        let texts = |joint: &Vec<MoveId>| joint.iter().map(|&id| self.game.move_text(id)).collect();
        Thought {
            rung,
            search: opinion.search.clone(),
            goal: report.reward.map(|reward| 100.0 * reward),
            is_proven: report.is_proven,
            n_iterations: report.n_iterations,
            n_playouts: report.n_playouts,
            depth: report.depth,
            line: report.line.iter().take(MAX_LINE).map(texts).collect(),
            time: asked.elapsed(),
            note: String::new(),
            network: report.extension().cloned(),
        }
    }
}

impl<G: Playable> Drop for Player<G> {
    fn drop(&mut self) {
        self.stop();
    }
}

/// Longest time to measure the machine before a match.
const MEASURE_TIME: Duration = Duration::from_millis(40);
/// Longest time to ponder.
const MAX_PONDERING: Duration = Duration::from_secs(600);

fn thinking_worker<G: Playable>(minds: Minds<G>) -> io::Result<ThinkingWorker<G>> {
    let mut mind: Option<Box<dyn Mind<G>>> = None;
    Worker::new(move |is_cancelled| {
        Box::new(move |question| {
            let started = Instant::now();
            // The worker makes the mind, because making it may panic too.
            let mind = mind.get_or_insert_with(|| minds.one());
            let cancellable = |limits: SearchLimits| SearchLimits {
                deadline: limits.deadline.clone().or_when(Arc::clone(&is_cancelled)),
                ..limits
            };
            let opinion = match question {
                Question::Prepare { role, limits } => {
                    mind.prepare(role, &cancellable(limits));
                    None
                }
                Question::Think { situation, role, limits } => {
                    Some(mind.think(&situation, role, &cancellable(limits)))
                }
            };
            Thinking { opinion, started, ended: Instant::now() }
        })
    })
}
