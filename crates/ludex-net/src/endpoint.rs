//! The player's side of the protocol: which message gets which reply.
//!
//! This module is independent of HTTP. A message comes with the time of its first byte, from which
//! all clocks count, and with a responder that sends the reply.

use std::collections::VecDeque;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ludex_player::{PlayerConfig, PlayerSpec};
use ludex_protocol::{Info, News, Reply, Request, Status, shortened};

use crate::event::{Event, Observer, notify};
use crate::loading::Loaders;
use crate::responder::{Responder, Waiting};
use crate::table::{MatchOrder, Progress, Table, TableConfig};

/// The settings of an endpoint.
#[derive(Clone, Debug)]
pub struct EndpointConfig {
    /// The name of the player, a single word.
    pub name: String,
    /// The player.
    pub spec: PlayerSpec,
    /// Limits of each player. Its seed is the seed of the endpoint, and its reserve shrinks for
    /// short clocks.
    pub player: PlayerConfig,
    /// Memory limit for loading a game, in bytes.
    pub load_memory: u64,
    /// Number of matches played at once.
    pub max_matches: usize,
}

/// Answers the messages to a player.
pub struct Endpoint {
    config: EndpointConfig,
    observer: Observer,
    tables: Mutex<Vec<Arc<Table>>>,
    pub(crate) loaders: Arc<Loaders>,
    /// Finished matches, the latest first.
    past: Mutex<VecDeque<PastMatch>>,
    n_opened: AtomicU64,
    /// Makes every search panic.
    #[cfg(test)]
    pub(crate) breaks_down: std::sync::atomic::AtomicBool,
}

/// A finished match, for the status page.
#[derive(Clone, Debug)]
pub(crate) struct PastMatch {
    pub match_id: String,
    pub role: String,
    pub n_turns: u64,
    pub how: &'static str,
}

/// A running match, for the status page.
pub(crate) struct Sight {
    pub order: MatchOrder,
    pub time: Duration,
    pub progress: Progress,
}

/// Characters of a name kept after its match.
const MAX_SHOWN: usize = 200;
/// Finished matches that the status page shows.
const MAX_PAST: usize = 20;
/// Longest clock accepted, in seconds: one day.
const MAX_CLOCK: u64 = 86_400;
/// Shortest play clock used: a clock of 0 would be over before it began, and the reference
/// implementation listens for another second.
const MIN_PLAY_CLOCK: Duration = Duration::from_millis(500);
/// Part of a clock kept back to send a reply when the player has not answered.
const LAST_MOMENT: Duration = Duration::from_millis(50);

impl Endpoint {
    /// Creates an endpoint without a match.
    pub fn new(config: EndpointConfig, observer: Observer) -> Self {
        let loaders = Loaders::new(config.max_matches);
        let (tables, past) = (Mutex::default(), Mutex::default());
        Self {
            config,
            observer,
            tables,
            loaders,
            past,
            n_opened: AtomicU64::new(0),
            #[cfg(test)]
            breaks_down: false.into(),
        }
    }

    /// Returns the name of the player.
    pub fn name(&self) -> &str {
        &self.config.name
    }

    /// Ends all matches.
    pub fn end_all(&self) {
        let tables: Vec<_> = lock(&self.tables).drain(..).collect();
        tables.iter().for_each(|table| table.end("abort"));
    }

    /// Whether another match can begin.
    pub fn status(&self) -> Status {
        if self.tables().len() < self.config.max_matches && self.loaders.has_room() {
            Status::Available
        } else {
            Status::Busy
        }
    }

    /// Number of matches played at once.
    pub fn max_matches(&self) -> usize {
        self.config.max_matches
    }

    pub(crate) fn observer(&self) -> &Observer {
        &self.observer
    }

    pub(crate) fn sights(&self) -> Vec<Sight> {
        let sight = |table: &Arc<Table>| Sight {
            order: table.order.clone(),
            time: table.began.elapsed(),
            progress: table.progress(),
        };
        self.tables().iter().map(sight).collect()
    }

    pub(crate) fn past(&self) -> Vec<PastMatch> {
        lock(&self.past).iter().cloned().collect()
    }

    /// Replies to a message before its clock runs out.
    pub(crate) fn answer(
        &self,
        request: Request,
        arrived: Instant,
        responder: Responder,
        waiting: Waiting,
    ) {
        match request {
            Request::Info => {
                let name = self.config.name.clone();
                let info = Info { name, status: self.status(), species: None };
                responder.respond(&Reply::Info(info));
            }
            Request::Ping => responder.respond(&Reply::Status(self.status())),
            Request::Preview { .. } => responder.respond(match self.status() {
                Status::Available => &Reply::Ready,
                _ => &Reply::Busy,
            }),
            Request::Start { match_id, role, rules, start_clock, play_clock } => {
                let start_clock = Duration::from_secs(start_clock.min(MAX_CLOCK));
                let play_clock = Duration::from_secs(play_clock.min(MAX_CLOCK)).max(MIN_PLAY_CLOCK);
                let order = MatchOrder { match_id, role, rules, start_clock, play_clock };
                self.start(order, arrived, responder, waiting);
            }
            Request::Play { match_id, news } => {
                self.play(&match_id, news, arrived, responder, waiting);
            }
            Request::Stop { match_id, .. } => self.end(&match_id, "stop", &responder, &Reply::Done),
            Request::Abort { match_id } => {
                self.end(&match_id, "abort", &responder, &Reply::Aborted);
            }
        }
    }

    fn start(&self, order: MatchOrder, arrived: Instant, responder: Responder, waiting: Waiting) {
        let deadline = arrived + order.start_clock;
        let until = deadline.checked_sub(LAST_MOMENT.min(order.start_clock / 4));
        {
            let mut tables = self.tables();
            let running = tables.iter().find(|table| table.order.match_id == order.match_id);
            if let Some(table) = running {
                // A repeated `start` is accepted until the first move is asked for.
                let is_same = table.order == order && !table.progress().is_asked;
                responder.respond(if is_same { &Reply::Ready } else { &Reply::Busy });
                return;
            }
            if tables.len() >= self.config.max_matches || !self.loaders.has_room() {
                responder.respond(&Reply::Busy);
                return;
            }
            let number = self.n_opened.fetch_add(1, Ordering::Relaxed);
            let seed = self.config.player.seed.child(number);
            let config = TableConfig {
                spec: self.config.spec.clone(),
                player: PlayerConfig { seed, ..self.config.player.clone() },
                load_memory: self.config.load_memory,
                #[cfg(test)]
                breaks_down: self.breaks_down.load(Ordering::Relaxed),
            };
            let match_id = order.match_id.clone();
            let observer = Arc::clone(&self.observer);
            match Table::open(order, config, arrived, observer, responder, self.loaders.enter()) {
                Ok(table) => tables.push(Arc::new(table)),
                // The thread dropped the responder, so `waiting` replies `busy`.
                Err(error) => {
                    let reason = error.to_string();
                    notify(&self.observer, &Event::NotLoaded { match_id, reason });
                }
            }
        }
        // A game that is still loading may be ready by the first move.
        waiting.wait(until.unwrap_or(deadline), &Reply::Ready);
    }

    fn play(
        &self,
        match_id: &str,
        news: News,
        arrived: Instant,
        responder: Responder,
        waiting: Waiting,
    ) {
        let Some(table) = self.find(match_id) else {
            responder.respond(&Reply::Busy);
            return;
        };
        let deadline = arrived + table.order.play_clock;
        table.play(news, deadline, responder);
        drop(table);
        waiting.wait(deadline, &Reply::Nil);
    }

    fn end(&self, match_id: &str, how: &'static str, responder: &Responder, reply: &Reply) {
        let table = {
            let mut tables = self.tables();
            let index = tables.iter().position(|table| table.order.match_id == match_id);
            index.map(|index| tables.remove(index))
        };
        match table {
            Some(table) => {
                responder.respond(reply);
                self.remember(&table, how);
                table.end(how);
            }
            None => responder.respond(&Reply::Busy),
        }
    }

    fn find(&self, match_id: &str) -> Option<Arc<Table>> {
        self.tables().iter().find(|table| table.order.match_id == match_id).cloned()
    }

    /// Returns the running matches, after removing those that ended by themselves.
    fn tables(&self) -> MutexGuard<'_, Vec<Arc<Table>>> {
        let mut tables = lock(&self.tables);
        tables.retain(|table| {
            let ended = table.progress().ended;
            if let Some(how) = ended {
                self.remember(table, how);
            }
            ended.is_none()
        });
        tables
    }

    fn remember(&self, table: &Table, how: &'static str) {
        let [match_id, role] =
            [&table.order.match_id, &table.order.role].map(|text| shortened(text, MAX_SHOWN));
        let mut past = lock(&self.past);
        past.push_front(PastMatch { match_id, role, n_turns: table.progress().turn, how });
        past.truncate(MAX_PAST);
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
