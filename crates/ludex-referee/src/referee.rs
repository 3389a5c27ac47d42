//! The referee of one match.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use ludex_base::{Deadline, Goal, MoveId, PerceptId, Rng, RoleId, Seed, panic_message};
use ludex_game::{Cursor, Describe, Game, Observe};
use ludex_player::Seen;

use crate::record::{
    AnswerRecord, Clocks, Ending, Lapse, MatchRecord, SeatRecord, StepRecord, find_move,
};
use crate::seat::{Answer, Reply, Seat};

/// The settings of a match.
#[derive(Clone, Debug)]
pub struct MatchConfig {
    /// The number of the match in its series.
    pub number: usize,
    /// Seed of the moves of `random`.
    pub seed: Seed,
    /// The clocks.
    pub clocks: Clocks,
    /// Step limit, because rules can go on for ever.
    pub max_steps: usize,
    /// Interrupts the match when reached; checked between two steps.
    pub stop: Deadline,
    /// Is told every step as it is played.
    pub watcher: Option<Sender<WatchedStep>>,
}

/// A step of a match, for somebody who watches.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct WatchedStep {
    /// The number of the match in its series.
    pub number: usize,
    /// The number of the step, from 0.
    pub step: usize,
    /// The moves, in role order.
    pub moves: Vec<String>,
}

impl MatchConfig {
    /// The end of a clock that begins now. A match that is about to be stopped has no use for more
    /// time.
    fn clock_end(&self, clock: Duration) -> Instant {
        let left = self.stop.remaining();
        Instant::now() + left.map_or(clock, |left| left.min(clock))
    }
}

/// Plays one match; `seats` has one entry per role, `None` for `random`.
///
/// The referee asks the seats of this process one after the other, even if their roles move
/// simultaneously: no seat learns another's answer before the step is played, and only one of them
/// thinks at a time, so that players in this process do not take each other's time. Meanwhile it
/// asks all seats that think elsewhere at once.
///
/// The referee replaces an illegal, late or missing answer by a random legal move and records it as
/// a [`Lapse`]. A seat that panics has not answered. A game that panics ends the match with
/// [`Ending::Fault`], and the record keeps the steps so far.
///
/// # Panics
/// When the number of entries is not the number of roles, or the game panics before the first step.
pub fn play_match<G>(
    game: &G,
    seats: &mut [Option<Box<dyn Seat + '_>>],
    config: &MatchConfig,
) -> MatchRecord
where
    G: Describe,
    G::Cursor: Observe,
{
    assert_eq!(seats.len(), game.roles().len(), "one entry per role");
    let started = Instant::now();
    let mut table = Table {
        game,
        config,
        started,
        cursor: game.cursor(),
        rng: config.seed.rng(),
        last: LastStep {
            joint: Vec::new(),
            percepts: vec![Vec::new(); seats.len()],
            has_percepts: game.has_percepts(),
        },
    };
    let seat_records = table.start(seats);
    let mut steps = Vec::new();
    let mut fault = None;
    let ending = loop {
        let step = catch_unwind(AssertUnwindSafe(|| match table.ending(steps.len()) {
            Some(ending) => Err(ending),
            None => table.step(seats).ok_or(Ending::Interrupted),
        }));
        match step {
            Ok(Ok(step)) => {
                if let Some(watcher) = &config.watcher {
                    let (number, moves) = (config.number, step.moves.clone());
                    // Whoever watched may have left.
                    let _ = watcher.send(WatchedStep { number, step: steps.len(), moves });
                }
                steps.push(step);
            }
            Ok(Err(ending)) => break ending,
            Err(panic) => {
                let (step, message) = (steps.len() + 1, panic_message(&*panic));
                fault = Some(format!("the game panicked at step {step}: {message}"));
                break Ending::Fault;
            }
        }
    };
    let last = &table.last;
    // A player that panics now can no longer affect the match, so the result is ignored.
    ask_all(seats, &Deadline::never(), |role, seat| match ending {
        Ending::Terminal => seat.stop(last.seen(role)),
        _ => seat.abort(),
    });
    let cursor = &mut table.cursor;
    let goals =
        catch_unwind(AssertUnwindSafe(|| game.role_ids().map(|role| cursor.goal(role)).collect()));
    MatchRecord {
        number: config.number,
        seed: config.seed,
        clocks: config.clocks,
        seats: seat_records,
        steps,
        ending,
        fault,
        goals: goals.unwrap_or_else(|_| vec![Goal::MIN; game.roles().len()]),
        time: started.elapsed(),
    }
}

/// The answer of a seat and how long it took; the message of the panic if the seat panicked.
type Timed<T> = (Result<T, String>, Duration);

/// Asks every seat: those that think elsewhere all at once, and the others one after the other. At
/// the deadline it asks no further seat.
///
/// Returns the answers: `None` for `random` and for seats that were not asked.
fn ask_all<'b, T: Send>(
    seats: &mut [Option<Box<dyn Seat + 'b>>],
    stop: &Deadline,
    ask: impl Fn(RoleId, &mut (dyn Seat + 'b)) -> T + Sync,
) -> Vec<Option<Timed<T>>> {
    let timed = |idx: usize, seat: &mut Box<dyn Seat + 'b>| {
        let asked = Instant::now();
        let said = catch_unwind(AssertUnwindSafe(|| ask(RoleId::new(idx), seat.as_mut())));
        (said.map_err(|panic| panic_message(&*panic)), asked.elapsed())
    };
    let timed = &timed;
    let mut answers: Vec<_> = seats.iter().map(|_| None).collect();
    std::thread::scope(|scope| {
        let mut here = Vec::new();
        let mut elsewhere = Vec::new();
        for (idx, seat) in seats.iter_mut().enumerate() {
            let Some(seat) = seat else { continue };
            if seat.thinks_elsewhere() {
                elsewhere.push((idx, seat))
            } else {
                here.push((idx, seat))
            }
        }
        // If nobody thinks in this process, this thread can wait for one of the others.
        if here.is_empty() {
            here.extend(elsewhere.pop());
        }
        let elsewhere: Vec<_> = (elsewhere.into_iter())
            .map(|(idx, seat)| (idx, scope.spawn(move || timed(idx, seat))))
            .collect();
        for (idx, seat) in here {
            if stop.reached() {
                break;
            }
            answers[idx] = Some(timed(idx, seat));
        }
        for (idx, thread) in elsewhere {
            answers[idx] = Some(thread.join().expect("`timed` catches panics"));
        }
    });
    answers
}

/// The state of a match.
struct Table<'a, G: Game> {
    game: &'a G,
    config: &'a MatchConfig,
    started: Instant,
    cursor: G::Cursor,
    rng: Rng,
    last: LastStep,
}

/// The last step, from which the roles' observations are made.
struct LastStep {
    /// The joint move; empty before the first.
    joint: Vec<MoveId>,
    /// The percepts of each role.
    percepts: Vec<Vec<PerceptId>>,
    has_percepts: bool,
}

impl LastStep {
    /// The role's observation of the step.
    fn seen(&self, role: RoleId) -> Seen<'_> {
        match (self.joint.get(role.index()), self.has_percepts) {
            (None, _) => Seen::Nothing,
            (Some(_), false) => Seen::Joint(&self.joint),
            (Some(&own), true) => Seen::Own { own, percepts: &self.percepts[role.index()] },
        }
    }
}

impl<G> Table<'_, G>
where
    G: Describe,
    G::Cursor: Observe,
{
    fn start(&self, seats: &mut [Option<Box<dyn Seat + '_>>]) -> Vec<SeatRecord> {
        let config = self.config;
        let clock = config.clocks.start;
        let has_preview = seats.iter().flatten().any(|seat| seat.has_preview());
        let previewed = if has_preview {
            ask_all(seats, &self.config.stop, |_, seat| seat.preview())
        } else {
            vec![None; seats.len()]
        };
        let players: Vec<Option<String>> =
            seats.iter().map(|seat| seat.as_ref().map(|seat| seat.name().to_string())).collect();
        let started =
            ask_all(seats, &config.stop, |role, seat| seat.start(role, config.clock_end(clock)));
        let mut records = Vec::with_capacity(seats.len());
        for (idx, (player, said)) in players.into_iter().zip(started).enumerate() {
            let (said, start_time) = said.unwrap_or((Ok(Ok(())), Duration::ZERO));
            let lapse = match said {
                Err(message) => Some(panicked(&message)),
                Ok(Err(lapse)) => Some(lapse),
                Ok(Ok(())) if start_time > clock => Some(Lapse::Late),
                Ok(Ok(())) => previewed[idx].clone().and_then(|(said, _)| said.ok().flatten()),
            };
            let role = self.game.roles()[idx].name.clone();
            records.push(SeatRecord { role, player, lapse, start_time });
        }
        records
    }

    /// Returns why the match ends here; `None` if it goes on.
    fn ending(&mut self, n_steps: usize) -> Option<Ending> {
        let is_terminal = self.cursor.is_terminal();
        if self.cursor.has_fault() {
            return Some(Ending::Fault);
        }
        if is_terminal {
            return Some(Ending::Terminal);
        }
        if self.game.role_ids().any(|role| self.cursor.legal_moves(role).is_empty()) {
            let has_fault = self.cursor.has_fault();
            return Some(if has_fault { Ending::Fault } else { Ending::Stuck });
        }
        if n_steps >= self.config.max_steps {
            return Some(Ending::TooLong);
        }
        self.config.stop.reached().then_some(Ending::Interrupted)
    }

    /// Asks every seat and plays the joint move; returns `None` if interrupted.
    fn step(&mut self, seats: &mut [Option<Box<dyn Seat + '_>>]) -> Option<StepRecord> {
        let (config, last) = (self.config, &self.last);
        let said = ask_all(seats, &config.stop, |role, seat| {
            seat.play(last.seen(role), config.clock_end(config.clocks.play))
        });
        // Seats that think elsewhere give up when the match is stopped, so their answers do not
        // count.
        let is_unasked =
            seats.iter().zip(&said).any(|(seat, said)| seat.is_some() && said.is_none());
        if is_unasked || self.config.stop.reached() {
            return None;
        }
        let mut joint = Vec::with_capacity(seats.len());
        let mut answers = Vec::with_capacity(seats.len());
        for (role, said) in self.game.role_ids().zip(said) {
            // Draw for every role, so that one player's lapse does not change the random moves of
            // others.
            let legal = self.cursor.legal_moves(role);
            let drawn = *self.rng.choose(legal).expect("a role without a move has ended the match");
            let judged = said.map(|(answer, time)| self.judge(role, answer, time));
            joint.push(judged.as_ref().and_then(|(chosen, _)| *chosen).unwrap_or(drawn));
            answers.push(judged.map(|(_, answer)| answer));
        }
        self.cursor.play(&joint);
        for role in self.game.role_ids() {
            self.last.percepts[role.index()] = self.cursor.percepts(role).to_vec();
        }
        let moves = joint.iter().map(|&id| self.game.move_text(id)).collect();
        self.last.joint = joint;
        Some(StepRecord { moves, answers, at: self.started.elapsed() })
    }

    /// Checks the answer of a seat: its move, or the lapse.
    fn judge(
        &mut self,
        role: RoleId,
        answer: Result<Answer, String>,
        time: Duration,
    ) -> (Option<MoveId>, AnswerRecord) {
        let (reply, thought) = match answer {
            Ok(Answer { reply, thought }) => (reply, thought),
            Err(message) => (Reply::Lapse(panicked(&message)), None),
        };
        let said = match reply {
            Reply::Move(id) if self.cursor.legal_moves(role).contains(&id) => Ok(id),
            Reply::Move(id) => Err(Lapse::Illegal(format!("{id:?}"))),
            Reply::Text(text) => {
                find_move(self.game, &mut self.cursor, role, &text).ok_or(Lapse::Illegal(text))
            }
            Reply::Lapse(lapse) => Err(lapse),
        };
        // A late answer does not count, legal or not.
        let said = if time > self.config.clocks.play { Err(Lapse::Late) } else { said };
        (said.as_ref().ok().copied(), AnswerRecord { time, lapse: said.err(), thought })
    }
}

fn panicked(message: &str) -> Lapse {
    Lapse::Failed(format!("the player panicked: {message}"))
}

/// Default step limit of a match.
pub const MAX_STEPS: usize = 10_000;

/// The longest clock that a match may have: one day.
pub const MAX_CLOCK: Duration = Duration::from_secs(86_400);
