//! One match of an endpoint: a thread that loads the game, prepares, and answers with moves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ludex_base::RoleId;
use ludex_game::Game;
use ludex_pipeline::{LoadedGame, with_game};
use ludex_player::{Interrupter, Player, PlayerConfig, PlayerSpec, Thought};
use ludex_protocol::{News, Reply, Term};

use crate::event::{Event, Observer, notify};
use crate::loading::{Later, Permit, load_in_time};
use crate::participant::{Answered, Follower, Participant, Played};
use crate::responder::Responder;

/// The data of a `start` message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MatchOrder {
    pub match_id: String,
    pub role: String,
    pub rules: String,
    pub start_clock: Duration,
    pub play_clock: Duration,
}

/// The settings of every match.
#[derive(Clone, Debug)]
pub(crate) struct TableConfig {
    pub spec: PlayerSpec,
    /// Settings of the player, before its reserve is fitted to the clocks.
    pub player: PlayerConfig,
    /// Memory limit for loading, in bytes.
    pub load_memory: u64,
    /// Makes every search panic.
    #[cfg(test)]
    pub breaks_down: bool,
}

/// A running match, as the endpoint sees it.
pub(crate) struct Table {
    pub order: MatchOrder,
    pub began: Instant,
    commands: Sender<Command>,
    shared: Arc<Shared>,
}

/// State shared by the thread and the endpoint.
struct Shared {
    progress: Mutex<Progress>,
    /// Set when the match is stopped.
    is_stopped: AtomicBool,
    /// Stops the player, once there is one.
    interrupter: Mutex<Option<Interrupter>>,
    waiting: Mutex<WaitingPlay>,
}

/// The newest request for a move that the thread has not begun.
#[derive(Default)]
struct WaitingPlay {
    ask: Option<Ask>,
    /// Whether the thread has ended.
    is_closed: bool,
}

struct Ask {
    news: News,
    deadline: Instant,
    responder: Responder,
}

/// The progress of a match.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// The engine, once there is one.
    pub engine: Option<&'static str>,
    pub turn: u64,
    /// Whether any move was asked for.
    pub is_asked: bool,
    /// How the match ended, if it ended by itself.
    pub ended: Option<&'static str>,
    /// The last move and how the player chose it.
    pub last: Option<(String, Thought)>,
}

enum Command {
    /// Choose a move: see [`Shared::waiting`].
    Play,
    End(&'static str),
}

/// The reserve takes at most one part in this many of a clock.
const RESERVE_PART: u32 = 4;
/// A match ends without a message for this long plus twice its longest clock.
const SILENCE: Duration = Duration::from_secs(60);
/// A circuit that takes over has one part in this many of a clock to prepare.
const TAKE_OVER_PART: u32 = 4;
/// Shortest time for loading and preparing, even if the start clock is shorter.
const MIN_START: Duration = Duration::from_millis(500);
/// Loading and searching may recurse once per level of nesting or per step.
pub(crate) const STACK_BYTES: usize = 16 << 20;

impl Table {
    /// Opens a match in its own thread; `ready` responds once it is prepared or has failed.
    pub fn open(
        order: MatchOrder,
        config: TableConfig,
        arrived: Instant,
        observer: Observer,
        ready: Responder,
        permit: Permit,
    ) -> std::io::Result<Self> {
        let (commands, inbox) = mpsc::channel();
        let shared = Arc::new(Shared {
            progress: Mutex::new(Progress::default()),
            is_stopped: AtomicBool::new(false),
            interrupter: Mutex::default(),
            waiting: Mutex::default(),
        });
        let host =
            Host { order: order.clone(), config, observer, shared: Arc::clone(&shared), inbox };
        let thread = std::thread::Builder::new().name("ludex-match".into());
        thread.stack_size(STACK_BYTES).spawn(move || host.run(arrived, ready, permit))?;
        Ok(Self { order, began: arrived, commands, shared })
    }

    /// Asks for a move. If the match is over, or another move is asked for before the player begins
    /// with this one, the responder is dropped unused, which the waiting side sees: a manager that
    /// asks again no longer listens for the earlier reply.
    pub fn play(&self, news: News, deadline: Instant, responder: Responder) {
        self.lock_progress().is_asked = true;
        let mut waiting = lock(&self.shared.waiting);
        if !waiting.is_closed {
            let older = waiting.ask.replace(Ask { news, deadline, responder });
            if older.is_none() {
                let _ = self.commands.send(Command::Play);
            }
        }
    }

    /// Ends the match, even while the player thinks.
    pub fn end(&self, how: &'static str) {
        self.shared.is_stopped.store(true, Ordering::SeqCst);
        if let Some(interrupter) = &*lock(&self.shared.interrupter) {
            interrupter.interrupt();
        }
        let _ = self.commands.send(Command::End(how));
    }

    /// Returns the progress of the match.
    pub fn progress(&self) -> Progress {
        self.lock_progress().clone()
    }

    fn lock_progress(&self) -> std::sync::MutexGuard<'_, Progress> {
        lock(&self.shared.progress)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The thread of a match.
struct Host {
    order: MatchOrder,
    config: TableConfig,
    observer: Observer,
    shared: Arc<Shared>,
    inbox: Receiver<Command>,
}

impl Host {
    fn run(self, arrived: Instant, ready: Responder, permit: Permit) {
        let how = catch_unwind(AssertUnwindSafe(|| self.host(arrived, &ready, permit)));
        let ended = match &how {
            Ok(Ok(how)) => how,
            Ok(Err(_)) => "not loaded",
            Err(_) => "panicked",
        };
        lock(&self.shared.progress).ended = Some(ended);
        *lock(&self.shared.waiting) = WaitingPlay { ask: None, is_closed: true };
        match how {
            Ok(Ok(how)) => self.notify(|match_id| Event::Ended { match_id, how }),
            Ok(Err(reason)) => {
                ready.respond(&Reply::Busy);
                self.notify(|match_id| Event::NotLoaded { match_id, reason });
            }
            Err(_) => {
                ready.respond(&Reply::Busy);
                self.notify(|match_id| Event::Odd { match_id, what: "the match panicked".into() });
            }
        }
    }

    /// Plays the match; returns how it ended, or why it cannot be played.
    fn host(
        &self,
        arrived: Instant,
        ready: &Responder,
        permit: Permit,
    ) -> Result<&'static str, String> {
        let start_clock = self.order.start_clock.max(MIN_START);
        let deadline = arrived + start_clock;
        let (memory, stopped) = (self.config.load_memory, &self.shared.is_stopped);
        let (loaded, mut later) =
            load_in_time(&self.order.rules, start_clock, memory, permit, stopped)?;
        let mut participant = self.seat(&loaded)?;
        let event_time = arrived.elapsed();
        self.introduce(&*participant, &loaded);
        let begin = AssertUnwindSafe(|| participant.start(deadline));
        let prepared = catch_unwind(begin);
        ready.respond(&Reply::Ready);
        self.notify_loaded(&loaded, event_time);
        if prepared.is_err() {
            self.notify(|match_id| Event::Odd { match_id, what: "preparing panicked".into() });
        }
        let mut history = Vec::new();
        let silence = SILENCE + 2 * self.order.start_clock.max(self.order.play_clock);
        loop {
            match self.inbox.recv_timeout(silence) {
                Ok(Command::Play) => {
                    let ask = lock(&self.shared.waiting).ask.take();
                    if let Some(ask) = ask {
                        if let Some((taken_over, loaded)) =
                            self.take_over(&mut later, &history, ask.deadline)
                        {
                            participant.interrupter().interrupt();
                            participant = taken_over;
                            self.notify_loaded(&loaded, arrived.elapsed());
                        }
                        let answer = self.answer(&mut *participant, &ask);
                        if later.is_some() {
                            history.push(Answered { news: ask.news, answer });
                        }
                    }
                }
                Ok(Command::End(how)) => return Ok(how),
                Err(RecvTimeoutError::Timeout) => return Ok("silence"),
                Err(RecvTimeoutError::Disconnected) => return Ok("abort"),
            }
        }
    }

    /// Tells the others how to stop the player, and what it plays on.
    fn introduce(&self, participant: &dyn Participant, loaded: &LoadedGame) {
        lock(&self.shared.progress).engine = Some(loaded.engine.name());
        let mut slot = lock(&self.shared.interrupter);
        let interrupter = participant.interrupter();
        if self.shared.is_stopped.load(Ordering::SeqCst) {
            interrupter.interrupt();
        }
        *slot = Some(interrupter);
    }

    fn notify_loaded(&self, loaded: &LoadedGame, time: Duration) {
        self.notify(|match_id| Event::Loaded {
            match_id,
            role: self.order.role.clone(),
            engine: loaded.engine.name(),
            fallback: loaded.fallback.clone(),
            time,
        });
    }

    /// Returns a player on the circuit if that has become ready, after it has followed the match so far. A
    /// part of the clock of the next move is for that.
    fn take_over(
        &self,
        later: &mut Option<Later>,
        history: &[Answered],
        deadline: Instant,
    ) -> Option<(Box<dyn Participant>, LoadedGame)> {
        let (found, is_open) = later.as_ref()?.look();
        if !is_open {
            *later = None;
        }
        let loaded = found?;
        let follow = || {
            let mut participant = self.seat(&loaded).ok()?;
            let left = deadline.saturating_duration_since(Instant::now());
            let until = Instant::now() + left / TAKE_OVER_PART;
            participant.start(until);
            participant.catch_up(history, until);
            Some(participant)
        };
        // If that fails, the reasoner plays on.
        let participant = catch_unwind(AssertUnwindSafe(follow)).ok().flatten()?;
        self.introduce(&*participant, &loaded);
        Some((participant, loaded))
    }

    /// Chooses a move and sends it from this thread, so that no other thread has to wake up between
    /// the choice and the reply. Returns the move.
    fn answer(&self, participant: &mut dyn Participant, ask: &Ask) -> Option<String> {
        let Played { text, thought, turn, chosen_at, odd } =
            participant.play(&ask.news, ask.deadline);
        let reply = text.as_deref().and_then(Term::read).map_or(Reply::Nil, Reply::Move);
        ask.responder.respond(&reply);
        let sent_after = chosen_at.elapsed();
        if let Some(what) = odd {
            self.notify(|match_id| Event::Odd { match_id, what });
        }
        let answer = text.clone();
        let text = text.unwrap_or_else(|| reply.to_string());
        {
            let mut progress = lock(&self.shared.progress);
            progress.turn = turn;
            progress.last = Some((text.clone(), thought.clone()));
        }
        let thought = Box::new(thought);
        self.notify(|match_id| Event::Moved { match_id, turn, text, thought, sent_after });
        answer
    }

    fn seat(&self, loaded: &LoadedGame) -> Result<Box<dyn Participant>, String> {
        let MatchOrder { role, start_clock, play_clock, .. } = &self.order;
        let clock = (*play_clock).min((*start_clock).max(MIN_START));
        let reserve = self.config.player.reserve.min(clock / RESERVE_PART);
        let config = PlayerConfig { reserve, ..self.config.player.clone() };
        with_game!(&loaded.engine, |game| {
            let found = game.roles().iter().position(|own| own.name == *role);
            let found = found.ok_or_else(|| format!("the game has no role `{role}`"))?;
            let role = RoleId::new(found);
            let seed = config.seed.child(1);
            let program = Arc::clone(&loaded.program);
            let player = Player::new(&self.config.spec, game, program, config);
            #[cfg(test)]
            let player = if self.config.breaks_down { player.breaking_down() } else { player };
            Ok(Box::new(Follower::new(game, role, player, seed)))
        })
    }

    fn notify(&self, event: impl FnOnce(String) -> Event) {
        notify(&self.observer, &event(self.order.match_id.clone()));
    }
}
