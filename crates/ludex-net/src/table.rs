//! One match of an endpoint: a thread that loads the game, prepares, and answers for its moves.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ludex_base::{RoleId, Source};
use ludex_game::Game;
use ludex_pipeline::{LoadOptions, LoadedGame, MachineChoice, load, with_game};
use ludex_player::{Interrupter, Player, PlayerConfig, PlayerSpec, Thought};
use ludex_protocol::{News, Reply, Term};

use crate::event::{Event, Observer};
use crate::participant::{Follower, Participant, Played};
use crate::responder::Responder;

/// What is played and with what.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct MatchOrder {
    pub match_id: String,
    pub role: String,
    pub rules: String,
    pub start_clock: Duration,
    pub play_clock: Duration,
}

/// How every match is played.
#[derive(Clone, Debug)]
pub(crate) struct TableConfig {
    pub spec: PlayerSpec,
    /// For the player, its reserve not yet fitted to the clocks.
    pub player: PlayerConfig,
    /// Bytes that loading may take.
    pub load_memory: u64,
}

/// A match that is under way, as the endpoint sees it.
pub(crate) struct Table {
    pub order: MatchOrder,
    pub began: Instant,
    commands: Sender<Command>,
    shared: Arc<Shared>,
}

/// What the thread and the endpoint both know.
struct Shared {
    progress: Mutex<Progress>,
    stopping: Mutex<Stopping>,
}

/// How far a match is.
#[derive(Clone, Debug, Default)]
pub(crate) struct Progress {
    /// The engine, once there is one.
    pub machine: Option<&'static str>,
    pub turn: u64,
    /// Whether a move was ever asked for.
    pub is_asked: bool,
    /// How it ended by itself.
    pub ended: Option<&'static str>,
    /// The last move and what was thought about it.
    pub last: Option<(String, Thought)>,
}

/// What stops the player; it may come before there is one.
#[derive(Default)]
struct Stopping {
    is_stopped: bool,
    interrupter: Option<Interrupter>,
}

enum Command {
    Play { news: News, deadline: Instant, responder: Responder },
    End(&'static str),
}

/// The reserve is no larger than this part of a clock.
const RESERVE_PART: u32 = 4;
/// A match of which nothing is heard for this long, and twice its longest clock, is over.
const SILENCE: Duration = Duration::from_secs(60);
/// The least time for loading and preparing, whatever the start clock says.
const MIN_START: Duration = Duration::from_millis(500);
/// Loading and searching may recurse once a level of nesting or a step.
const STACK_BYTES: usize = 16 << 20;

impl Table {
    /// Opens a match in a thread of its own; `ready` hears of it when it is prepared or can't be.
    pub fn open(
        order: MatchOrder,
        config: TableConfig,
        arrived: Instant,
        observer: Observer,
        ready: Responder,
    ) -> std::io::Result<Self> {
        let (commands, inbox) = mpsc::channel();
        let shared = Arc::new(Shared {
            progress: Mutex::new(Progress::default()),
            stopping: Mutex::new(Stopping::default()),
        });
        let host =
            Host { order: order.clone(), config, observer, shared: Arc::clone(&shared), inbox };
        let thread = std::thread::Builder::new().name("ludex-match".into());
        thread.stack_size(STACK_BYTES).spawn(move || host.run(arrived, ready))?;
        Ok(Self { order, began: arrived, commands, shared })
    }

    /// Asks for a move. The responder is dropped unused if the match is over before.
    pub fn play(&self, news: News, deadline: Instant, responder: Responder) {
        self.lock_progress().is_asked = true;
        // If the thread is gone, the responder is dropped and whoever waits for it sees that.
        let _ = self.commands.send(Command::Play { news, deadline, responder });
    }

    /// Ends the match, whatever it is thinking about.
    pub fn end(&self, how: &'static str) {
        let mut stopping = lock(&self.shared.stopping);
        stopping.is_stopped = true;
        if let Some(interrupter) = &stopping.interrupter {
            interrupter.interrupt();
        }
        let _ = self.commands.send(Command::End(how));
    }

    /// How far it is.
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
    fn run(self, arrived: Instant, ready: Responder) {
        let how = catch_unwind(AssertUnwindSafe(|| self.host(arrived, &ready)));
        let ended = match &how {
            Ok(Ok(how)) => how,
            Ok(Err(_)) => "not loaded",
            Err(_) => "broke down",
        };
        lock(&self.shared.progress).ended = Some(ended);
        match how {
            Ok(Ok(how)) => self.tell(|match_id| Event::Ended { match_id, how }),
            Ok(Err(reason)) => {
                ready.respond(&Reply::Busy);
                self.tell(|match_id| Event::NotLoaded { match_id, reason });
            }
            Err(_) => {
                ready.respond(&Reply::Busy);
                self.tell(|match_id| Event::Odd { match_id, what: "the match broke down".into() });
            }
        }
    }

    /// Plays the match; how it ended, or why it can't be played.
    fn host(&self, arrived: Instant, ready: &Responder) -> Result<&'static str, String> {
        let start_clock = self.order.start_clock.max(MIN_START);
        let deadline = arrived + start_clock;
        let loaded = load_in_time(&self.order.rules, start_clock, self.config.load_memory)?;
        let mut participant = self.seat(&loaded)?;
        let event_time = arrived.elapsed();
        lock(&self.shared.progress).machine = Some(loaded.engine.name());
        {
            let mut stopping = lock(&self.shared.stopping);
            let interrupter = participant.interrupter();
            if stopping.is_stopped {
                interrupter.interrupt();
            }
            stopping.interrupter = Some(interrupter);
        }
        let begin = AssertUnwindSafe(|| participant.start(deadline));
        let prepared = catch_unwind(begin);
        ready.respond(&Reply::Ready);
        self.tell(|match_id| Event::Loaded {
            match_id,
            role: self.order.role.clone(),
            machine: loaded.engine.name(),
            fallback: loaded.fallback.clone(),
            time: event_time,
        });
        if prepared.is_err() {
            self.tell(|match_id| Event::Odd { match_id, what: "preparing broke down".into() });
        }
        let silence = SILENCE + 2 * self.order.start_clock.max(self.order.play_clock);
        loop {
            match self.inbox.recv_timeout(silence) {
                Ok(Command::Play { news, deadline, responder }) => {
                    self.answer(&mut *participant, &news, deadline, &responder);
                }
                Ok(Command::End(how)) => return Ok(how),
                Err(RecvTimeoutError::Timeout) => return Ok("silence"),
                Err(RecvTimeoutError::Disconnected) => return Ok("abort"),
            }
        }
    }

    /// Chooses a move and sends it from this thread, which the player keeps awake: no other has to
    /// be woken up between the choice and the reply.
    fn answer(
        &self,
        participant: &mut dyn Participant,
        news: &News,
        deadline: Instant,
        responder: &Responder,
    ) {
        let Played { text, thought, turn, chosen_at, odd } = participant.play(news, deadline);
        let reply = text.as_deref().and_then(Term::read).map_or(Reply::Nil, Reply::Move);
        responder.respond(&reply);
        let sent_after = chosen_at.elapsed();
        if let Some(what) = odd {
            self.tell(|match_id| Event::Odd { match_id, what });
        }
        let text = text.unwrap_or_else(|| reply.to_string());
        {
            let mut progress = lock(&self.shared.progress);
            progress.turn = turn;
            progress.last = Some((text.clone(), thought.clone()));
        }
        let thought = Box::new(thought);
        self.tell(|match_id| Event::Moved { match_id, turn, text, thought, sent_after });
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
            Ok(Box::new(Follower::new(game, role, player, seed)))
        })
    }

    fn tell(&self, event: impl FnOnce(String) -> Event) {
        (self.observer)(&event(self.order.match_id.clone()));
    }
}

/// Loads the rules within half of the clock where that can be had.
///
/// Grounding keeps its bound, but compiling a large circuit has none: when it takes too long, a
/// reasoner is built beside it, and whichever is ready first plays.
fn load_in_time(rules: &str, clock: Duration, memory: u64) -> Result<LoadedGame, String> {
    let time = clock / 2;
    let (sender, loaded) = mpsc::channel();
    let begin = |machine: MachineChoice| {
        let (rules, sender) = (rules.to_owned(), sender.clone());
        let options = LoadOptions { machine, time: time.min(LoadOptions::default().time), memory };
        let work = move || {
            let load = || load(Source::new("rules", rules), &options);
            let result = match catch_unwind(AssertUnwindSafe(load)) {
                Ok(Ok(loaded)) => Ok(loaded),
                Ok(Err(error)) => Err(error.to_string()),
                Err(_) => Err("loading broke down".into()),
            };
            // Whoever was faster is heard; the other one ends here.
            let _ = sender.send(result);
        };
        let thread = std::thread::Builder::new().name("ludex-load".into());
        thread.stack_size(STACK_BYTES).spawn(work).map_err(|error| error.to_string())
    };
    begin(MachineChoice::Auto)?;
    if let Ok(result) = loaded.recv_timeout(time + clock / 10) {
        return result;
    }
    begin(MachineChoice::Reasoner)?;
    let reason = "compiling takes too long for the clock";
    let first = loaded.recv().map_err(|_| reason.to_string())?;
    let result = match first {
        Ok(loaded) => Ok(loaded),
        // The one that is left may do better.
        Err(_) => loaded.recv().map_err(|_| reason.to_string())?,
    };
    result.map(|mut loaded| {
        if loaded.engine.name() == "reasoner" {
            loaded.fallback.get_or_insert_with(|| reason.into());
        }
        loaded
    })
}
