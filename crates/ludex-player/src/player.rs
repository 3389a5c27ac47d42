//! The contract: a legal move, in time, always.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use ludex_base::{Deadline, MoveId, Rng, RoleId, Seed};
use ludex_game::{Cursor, StateOf};
use ludex_gdl::Program;
use ludex_search::information::{Model, Patience};
use ludex_search::{Hint, Limits, SearchReport};

use crate::Playable;
use crate::attention::Attention;
use crate::backup::{BackupAnswer, BackupQuestion, backup};
use crate::interrupter::Interrupter;
use crate::knowledge::{Knowledge, Situation};
use crate::latency::{Latency, Schedule};
use crate::mind::{Broken, Mind, Minds, Opinion, turn_seed};
use crate::roster::PlayerSpec;
use crate::seen::Seen;
use crate::thought::{Choice, Rung, Thought};
use crate::worker::{NoAnswer, Worker};

/// What a player may use.
#[derive(Clone, Debug)]
pub struct PlayerConfig {
    /// Where its randomness comes from.
    pub seed: Seed,
    /// Threads of its search.
    pub n_threads: usize,
    /// Bytes for trees and tables.
    pub memory: usize,
    /// Iterations of each search; `None` is no limit. With a limit and long clocks a match is the
    /// same every time.
    pub iterations: Option<u64>,
    /// Whether it thinks while it waits for the others.
    pub ponders: bool,
    /// What the way to the referee takes, kept back from every clock.
    pub reserve: Duration,
    /// Ends all thinking when it is set, for whoever stops many players at once.
    pub stop: Option<Arc<AtomicBool>>,
}

impl PlayerConfig {
    /// One thread, 512 MB, no pondering, a referee in the same process.
    pub fn new(seed: Seed) -> Self {
        Self {
            seed,
            n_threads: 1,
            memory: 512 << 20,
            iterations: None,
            ponders: false,
            reserve: Duration::ZERO,
            stop: None,
        }
    }
}

/// Plays one role of one match.
///
/// The search runs on a thread of its own. This one follows the game, knows the legal moves, and
/// gives an answer before the clock runs out, whatever happens there. The ladder of [`Rung`]s is
/// climbed down in one place.
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
    /// Whether there is anything that a clock has to end.
    takes_time: bool,
    name: String,
    game: G,
    program: Arc<Program>,
    config: PlayerConfig,
    role: RoleId,
    knowledge: Knowledge<G>,
    /// Whether the engine broke down while following the game; then only the reasoner knows.
    is_lost: bool,
    /// Joint moves as texts, for the reasoner. Nothing in a game with hidden information.
    history: Vec<Vec<String>>,
    /// Some move that was legal for the role once.
    any_move: Option<MoveId>,
    /// What was answered last, until it is told what was played.
    answered: Option<MoveId>,
    turn: u64,
    rng: Rng,
    latency: Latency,
    attention: Attention,
    worker: Option<ThinkingWorker<G>>,
    interrupter: Interrupter,
    backup: Option<Worker<BackupQuestion, BackupAnswer>>,
    /// Threads that did not come back.
    left_behind: Vec<JoinHandle<()>>,
}

type ThinkingWorker<G> = Worker<Question<StateOf<G>>, Thinking>;

/// What the thinking thread is asked.
enum Question<S> {
    Prepare { role: RoleId, limits: Limits },
    Think { situation: Situation<S>, role: RoleId, limits: Limits },
}

/// What it came to, and when.
struct Thinking {
    opinion: Option<Opinion>,
    started: Instant,
    ended: Instant,
}

/// Why a search gave no answer, and what it held best until then.
struct Unsearched {
    why: String,
    hint: Option<MoveId>,
}

impl Unsearched {
    fn because(why: &str) -> Self {
        Self { why: why.into(), hint: None }
    }
}

/// Threads that may be left behind before no more are started.
const MAX_LEFT_BEHIND: usize = 4;
/// The part of a turn that finding possible states may take.
pub(crate) const BELIEF_PART: f64 = 0.3;
/// The part of a turn in which one is looked for while none agrees.
pub(crate) const INCONSISTENT_PART: f64 = 0.6;
/// The part of the start clock in which random games tell what others may prefer.
const MODEL_PART: f64 = 0.05;
/// Joint moves of the expected line that are told.
const MAX_LINE: usize = 8;

impl<G: Playable> Player<G> {
    /// A player for one match.
    pub fn new(spec: &PlayerSpec, game: &G, program: Arc<Program>, config: PlayerConfig) -> Self {
        Self {
            minds: game.minds(spec),
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
            left_behind: Vec::new(),
            config,
        }
    }

    /// The same player under another name, for reports.
    pub fn named(mut self, name: impl Into<String>) -> Self {
        self.name = name.into();
        self
    }

    /// The same player with a search that panics, for tests of what is built around players.
    #[doc(hidden)]
    pub fn breaking_down(mut self) -> Self {
        self.minds = Minds::by(|| Box::new(Broken));
        self
    }

    /// The same player with something else to think with.
    #[cfg(test)]
    pub(crate) fn thinking_with(mut self, minds: Minds<G>) -> Self {
        self.minds = minds;
        self
    }

    /// Its name in reports.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What stops the player from another thread.
    pub fn interrupter(&self) -> Interrupter {
        self.interrupter.clone()
    }

    /// Takes a role and prepares until the deadline: measures the machine, looks at the game, and
    /// thinks ahead.
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
        // An answer that does not come now is waited for with the first move.
        match worker.wait(schedule.answer_at) {
            Ok(thinking) => self.note(&schedule, &thinking),
            Err(NoAnswer::Late) => worker.cancel(),
            Err(NoAnswer::Panicked(_)) => self.worker = None,
        }
    }

    /// Chooses a move, given what the role saw of the step before.
    pub fn choose(&mut self, seen: Seen<'_>, deadline: Instant) -> Choice {
        // To the end and beyond: the way back to whoever asked is part of the answer. Only finding
        // possible states takes time that others may want.
        if self.game.has_percepts() {
            self.attention.lower()
        } else {
            self.attention.raise()
        }
        let schedule = self.latency.schedule(deadline, self.config.reserve);
        let choice = self.climb_down(seen, &schedule);
        self.answered = choice.chosen;
        self.attention.raise();
        // Whatever the reason, an answer after its time calls for more care.
        self.latency.note_wake(Instant::now().saturating_duration_since(schedule.answer_at));
        choice
    }

    /// The ladder, from the move that was meant to the move that is left.
    fn climb_down(&mut self, seen: Seen<'_>, schedule: &Schedule) -> Choice {
        let asked = Instant::now();
        if let Some(worker) = self.worker.as_ref().filter(|worker| worker.is_busy()) {
            worker.cancel();
        }
        self.turn += 1;

        // Follow the game to where it stands now.
        let legal = self.follow(seen, schedule);
        if let Some(&first) = legal.first() {
            self.any_move = Some(first);
        }
        if let [only] = legal[..] {
            // Where roles take turns, this is when the others think.
            self.ponder();
            return self.choice(only, Thought::none(Rung::Forced));
        }

        // The ladder. Each rung says why the one above it was left.
        let mut note = String::from("the engine broke down");
        if !legal.is_empty() {
            match self.search(schedule) {
                Ok((chosen, opinion)) if legal.contains(&chosen) => {
                    let mut thought = self.thought(Rung::Search, &opinion, asked);
                    if self.knowledge.is_inconsistent() {
                        thought.note = "no state that agrees with what was seen was found".into();
                    }
                    if opinion.report.stopped.is_some() && opinion.report.is_blank() {
                        thought.rung = Rung::Hint;
                        thought.note = "the search had no time to look at a move".into();
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
            note += "; what the reasoner chose is not legal for the engine";
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

    /// What the player expects here, and of each move: a search within that time that decides
    /// nothing. `None` when nothing was found in time or there is nothing to choose.
    pub fn consider(&mut self, time: Duration) -> Option<(SearchReport, String)> {
        let schedule = self.latency.schedule(Instant::now() + time, Duration::ZERO);
        self.search(&schedule).ok().map(|(_, opinion)| (opinion.report, opinion.search))
    }

    /// The legal moves, as far as the player knows.
    pub fn legal_moves(&mut self) -> Vec<MoveId> {
        self.knowledge.legal_moves(self.role)
    }

    /// Takes in what was seen without being asked for a move.
    pub fn watch(&mut self, seen: Seen<'_>, deadline: Instant) {
        let schedule = self.latency.schedule(deadline, self.config.reserve);
        self.follow(seen, &schedule);
    }

    /// Takes in that there was a step of which nothing was seen, in a game with hidden information.
    pub fn miss(&mut self, deadline: Instant) {
        let schedule = self.latency.schedule(deadline, self.config.reserve);
        let patience = self.patience(&schedule);
        let (knowledge, rng) = (&mut self.knowledge, &mut self.rng);
        let missed = catch_unwind(AssertUnwindSafe(|| knowledge.miss(rng, &patience)));
        self.is_lost |= missed.is_err();
    }

    /// The match is over: nothing more is thought.
    pub fn stop(&mut self) {
        self.attention.lower();
        if let Some(worker) = self.worker.take() {
            worker.abandon();
        }
        if let Some(worker) = self.backup.take() {
            worker.abandon();
        }
    }

    /// Takes in what was seen; the legal moves then, none if the engine broke down over it.
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

    /// Asks the thinking thread, and waits no longer than the schedule says.
    fn search(&mut self, schedule: &Schedule) -> Result<(MoveId, Opinion), Unsearched> {
        let situation = self.knowledge.situation();
        let limits = self.limits(turn_seed(self.config.seed, self.turn), schedule.search_until);
        let role = self.role;
        let hint = limits.hint.clone();
        let Some(worker) = self.ready_worker(schedule) else {
            return Err(Unsearched::because("the search before does not end"));
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
                let opinion =
                    thinking.opinion.ok_or_else(|| Unsearched::because("nothing was searched"))?;
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
            Err(NoAnswer::Panicked(words)) => {
                self.worker = None;
                Err(Unsearched::because(&format!("the search broke down: {words}")))
            }
        }
    }

    /// The thinking thread, once it is free. One that does not come back for half of the turn is
    /// left behind, and another takes its place; `None` when that has happened too often.
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
                Err(NoAnswer::Late) => self.left_behind.push(worker.abandon()),
                Err(NoAnswer::Panicked(_)) => {}
            }
        }
        self.left_behind.retain(|thread| !thread.is_finished());
        if self.left_behind.len() >= MAX_LEFT_BEHIND {
            return None;
        }
        let worker = thinking_worker(self.minds.clone());
        self.interrupter.watch(worker.flag());
        Some(self.worker.insert(worker))
    }

    /// Lets the search go on while the others think, where the state is known.
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

    /// The second rung: a search on the reasoner with what is left of the turn.
    fn ask_reasoner(&mut self, schedule: &Schedule) -> Option<(String, Opinion)> {
        let is_over = self.interrupter.is_over() || Instant::now() >= schedule.search_until;
        if self.game.has_percepts() || is_over {
            return None;
        }
        let limits = self.limits(turn_seed(self.config.seed, self.turn), schedule.search_until);
        let question = BackupQuestion { history: self.history.clone(), role: self.role, limits };
        let worker = self.backup.get_or_insert_with(|| backup(Arc::clone(&self.program)));
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

    /// How long possible states are looked for in a turn that begins now.
    fn patience(&self, schedule: &Schedule) -> Patience {
        let time = schedule.search_until.saturating_duration_since(Instant::now());
        let part = |part: f64| {
            let deadline = Deadline::after(time.mul_f64(part)).or_when(self.interrupter.flag());
            self.or_stopped(deadline)
        };
        Patience { for_many: part(BELIEF_PART), for_one: part(INCONSISTENT_PART) }
    }

    /// Reached as well when all players are stopped.
    fn or_stopped(&self, deadline: Deadline) -> Deadline {
        match &self.config.stop {
            Some(flag) => deadline.or_when(Arc::clone(flag)),
            None => deadline,
        }
    }

    fn limits(&self, seed: Seed, until: Instant) -> Limits {
        Limits {
            deadline: self.or_stopped(Deadline::at(until)),
            iterations: self.config.iterations,
            memory: self.config.memory,
            threads: self.config.n_threads,
            seed,
            hint: Hint::default(),
        }
    }

    /// Learns from a search how late this machine is.
    fn note(&mut self, schedule: &Schedule, thinking: &Thinking) {
        self.latency.note_overrun(thinking.ended.saturating_duration_since(schedule.search_until));
    }

    /// A search of the turn before came back only now: no deadline of it is known any more, but it
    /// was at least as late as it took beyond the turn.
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

/// How long the machine is watched before a match.
const MEASURE_TIME: Duration = Duration::from_millis(40);
/// Nobody is waited for longer than this with a growing tree.
const MAX_PONDERING: Duration = Duration::from_secs(600);

fn thinking_worker<G: Playable>(minds: Minds<G>) -> ThinkingWorker<G> {
    let mut mind: Option<Box<dyn Mind<G>>> = None;
    Worker::new(move |is_cancelled| {
        Box::new(move |question| {
            let started = Instant::now();
            // Made here, because making it may break down too.
            let mind = mind.get_or_insert_with(|| minds.one());
            let heed = |limits: Limits| Limits {
                deadline: limits.deadline.clone().or_when(Arc::clone(&is_cancelled)),
                ..limits
            };
            let opinion = match question {
                Question::Prepare { role, limits } => {
                    mind.prepare(role, &heed(limits));
                    None
                }
                Question::Think { situation, role, limits } => {
                    Some(mind.think(&situation, role, &heed(limits)))
                }
            };
            Thinking { opinion, started, ended: Instant::now() }
        })
    })
}
