//! The referee of one match.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ludex_base::{Deadline, MoveId, PerceptId, Rng, RoleId, Seed};
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
}

/// Plays one match; `seats` has one entry per role, `None` for `random`.
///
/// The referee asks the seats of this process one after the other, even if their roles move
/// simultaneously: no seat learns another's answer before the step is played, and only one of them
/// thinks at a time, so that players in this process do not take each other's time. Meanwhile it
/// asks all seats that think elsewhere at once.
///
/// The referee replaces an illegal, late or missing answer by a random legal move and records it as
/// a [`Lapse`].
///
/// # Panics
/// When the number of entries is not the number of roles.
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
    let ending = loop {
        match table.ending(steps.len()) {
            Some(ending) => break ending,
            None => match table.step(seats) {
                Some(step) => steps.push(step),
                None => break Ending::Interrupted,
            },
        }
    };
    let last = &table.last;
    // A player that panics now can no longer affect the match, so the result is ignored.
    ask_all(seats, |role, seat| match ending {
        Ending::Terminal => seat.stop(last.seen(role)),
        _ => seat.abort(),
    });
    MatchRecord {
        number: config.number,
        seed: config.seed,
        clocks: config.clocks,
        seats: seat_records,
        steps,
        ending,
        goals: game.role_ids().map(|role| table.cursor.goal(role)).collect(),
        time: started.elapsed(),
    }
}

/// Asks every seat: those that think elsewhere all at once, and the others one after the other.
///
/// Returns each answer and how long it took: `None` for `random`, and no answer for a seat that
/// panicked.
fn ask_all<'b, T: Send>(
    seats: &mut [Option<Box<dyn Seat + 'b>>],
    ask: impl Fn(RoleId, &mut (dyn Seat + 'b)) -> T + Sync,
) -> Vec<Option<(Option<T>, Duration)>> {
    let timed = |idx: usize, seat: &mut Box<dyn Seat + 'b>| {
        let asked = Instant::now();
        let said = catch_unwind(AssertUnwindSafe(|| ask(RoleId::new(idx), seat.as_mut())));
        (said.ok(), asked.elapsed())
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
        let clock = self.config.clocks.start;
        let has_preview = seats.iter().flatten().any(|seat| seat.has_preview());
        let previewed = if has_preview {
            ask_all(seats, |_, seat| seat.preview())
        } else {
            vec![None; seats.len()]
        };
        let players: Vec<Option<String>> =
            seats.iter().map(|seat| seat.as_ref().map(|seat| seat.name().to_string())).collect();
        let started = ask_all(seats, |role, seat| seat.start(role, Instant::now() + clock));
        let mut records = Vec::with_capacity(seats.len());
        for (idx, (player, said)) in players.into_iter().zip(started).enumerate() {
            let (said, start_time) = said.unwrap_or((Some(Ok(())), Duration::ZERO));
            let lapse = match said {
                None => Some(Lapse::Failed("the player panicked".into())),
                Some(Err(lapse)) => Some(lapse),
                Some(Ok(())) if start_time > clock => Some(Lapse::Late),
                Some(Ok(())) => previewed[idx].clone().and_then(|(said, _)| said.flatten()),
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
        let clock = self.config.clocks.play;
        let last = &self.last;
        let said = ask_all(seats, |role, seat| seat.play(last.seen(role), Instant::now() + clock));
        // Seats that think elsewhere give up when the match is stopped, so their answers do not
        // count.
        if self.config.stop.reached() {
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
        answer: Option<Answer>,
        time: Duration,
    ) -> (Option<MoveId>, AnswerRecord) {
        let (reply, thought) = match answer {
            Some(Answer { reply, thought }) => (reply, thought),
            None => (Reply::Lapse(Lapse::Failed("the player panicked".into())), None),
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

/// Default step limit of a match.
pub const MAX_STEPS: usize = 10_000;

/// The longest clock that a match may have: one day.
pub const MAX_CLOCK: Duration = Duration::from_secs(86_400);
