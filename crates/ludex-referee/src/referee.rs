//! One match.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ludex_base::{Deadline, MoveId, PerceptId, Rng, RoleId, Seed};
use ludex_game::{Cursor, Describe, Game, Observe};
use ludex_player::Seen;

use crate::record::{
    AnswerRecord, Clocks, Ending, Lapse, MatchRecord, SeatRecord, StepRecord, find_move,
};
use crate::seat::{Answer, Reply, Seat};

/// How to play a match.
#[derive(Clone, Debug)]
pub struct MatchConfig {
    /// Its number in the series.
    pub number: usize,
    /// Where the moves of `random` come from.
    pub seed: Seed,
    /// The clocks.
    pub clocks: Clocks,
    /// A longer match is given up: rules can go on for ever.
    pub max_steps: usize,
    /// When to leave off, match finished or not; asked between two steps.
    pub stop: Deadline,
}

/// Plays one match. `seats` has one entry a role, `None` for `random`.
///
/// Seats are asked one after the other, also where they move at once: none learns what another
/// answered before the step is played, and at any moment one of them thinks, so that players in this
/// process do not take each other's time.
///
/// An answer that is illegal, late or missing is replaced by a random legal move and recorded as a
/// [`Lapse`].
///
/// # Panics
/// When there is not one entry a role.
pub fn play_match<G>(
    game: &G,
    seats: &mut [Option<Box<dyn Seat + '_>>],
    config: &MatchConfig,
) -> MatchRecord
where
    G: Describe,
    G::Cursor: Observe,
{
    assert_eq!(seats.len(), game.roles().len(), "one entry a role");
    let started = Instant::now();
    let mut table = Table {
        game,
        config,
        cursor: game.cursor(),
        rng: config.seed.rng(),
        joint: Vec::new(),
        percepts: vec![Vec::new(); seats.len()],
    };
    let seat_records = table.start(seats);
    let mut steps = Vec::new();
    let ending = loop {
        match table.ending(steps.len()) {
            Some(ending) => break ending,
            None => steps.push(table.step(seats)),
        }
    };
    for (role, seat) in table.seated(seats) {
        let seen = table.seen(role);
        // A player that breaks down at the end has nothing left to spoil.
        let _ = catch_unwind(AssertUnwindSafe(|| seat.stop(seen)));
    }
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

/// The state of a match.
struct Table<'a, G: Game> {
    game: &'a G,
    config: &'a MatchConfig,
    cursor: G::Cursor,
    rng: Rng,
    /// The last joint move; empty before the first.
    joint: Vec<MoveId>,
    /// What each role saw of it.
    percepts: Vec<Vec<PerceptId>>,
}

impl<G> Table<'_, G>
where
    G: Describe,
    G::Cursor: Observe,
{
    fn start(&self, seats: &mut [Option<Box<dyn Seat + '_>>]) -> Vec<SeatRecord> {
        let roles = self.game.role_ids().zip(self.game.roles());
        let start = |((role_id, role), seat): ((RoleId, &ludex_game::Role), &mut Option<_>)| {
            let seat: Option<&mut Box<dyn Seat + '_>> = seat.as_mut();
            let asked = Instant::now();
            let deadline = asked + self.config.clocks.start;
            let player = seat.as_ref().map(|seat| seat.name().to_string());
            let result =
                seat.map(|seat| catch_unwind(AssertUnwindSafe(|| seat.start(role_id, deadline))));
            let start_time = asked.elapsed();
            let lapse = match result {
                Some(Err(_)) => Some(Lapse::Failed("it panicked".into())),
                Some(Ok(Err(reason))) => Some(Lapse::Failed(reason)),
                Some(Ok(Ok(()))) if start_time > self.config.clocks.start => Some(Lapse::Late),
                _ => None,
            };
            SeatRecord { role: role.name.clone(), player, lapse, start_time }
        };
        roles.zip(seats).map(start).collect()
    }

    /// How the match ends here; `None` if it goes on.
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

    /// Asks every seat and plays the joint move.
    fn step(&mut self, seats: &mut [Option<Box<dyn Seat + '_>>]) -> StepRecord {
        let mut joint = Vec::with_capacity(seats.len());
        let mut answers = Vec::with_capacity(seats.len());
        for (role, seat) in self.game.role_ids().zip(seats) {
            // Drawn for everybody, so that one player's lapse does not change the luck of the others.
            let legal = self.cursor.legal_moves(role);
            let drawn = *self.rng.choose(legal).expect("a role without a move has ended the match");
            let (chosen, answer) = match seat {
                None => (drawn, None),
                Some(seat) => {
                    let (chosen, answer) = self.ask(role, seat.as_mut());
                    (chosen.unwrap_or(drawn), Some(answer))
                }
            };
            joint.push(chosen);
            answers.push(answer);
        }
        self.cursor.play(&joint);
        for role in self.game.role_ids() {
            self.percepts[role.index()] = self.cursor.percepts(role).to_vec();
        }
        let moves = joint.iter().map(|&id| self.game.move_text(id)).collect();
        self.joint = joint;
        StepRecord { moves, answers }
    }

    /// Asks one seat; its move, unless something was wrong with it.
    fn ask(&mut self, role: RoleId, seat: &mut (dyn Seat + '_)) -> (Option<MoveId>, AnswerRecord) {
        let asked = Instant::now();
        let deadline = asked + self.config.clocks.play;
        let seen = self.seen(role);
        let answer = catch_unwind(AssertUnwindSafe(|| seat.play(seen, deadline)));
        let time = asked.elapsed();
        let (reply, thought) = match answer {
            Ok(Answer { reply, thought }) => (reply, thought),
            Err(_) => (Reply::Nothing("it panicked".into()), None),
        };
        let said = match reply {
            Reply::Move(id) if self.cursor.legal_moves(role).contains(&id) => Ok(id),
            Reply::Move(id) => Err(Lapse::Illegal(format!("{id:?}"))),
            Reply::Text(text) => {
                find_move(self.game, &mut self.cursor, role, &text).ok_or(Lapse::Illegal(text))
            }
            Reply::Nothing(reason) => Err(Lapse::Failed(reason)),
        };
        // What came too late was not said, legal or not.
        let said = if time > self.config.clocks.play { Err(Lapse::Late) } else { said };
        (said.as_ref().ok().copied(), AnswerRecord { time, lapse: said.err(), thought })
    }

    /// What a role knows of the last step.
    fn seen(&self, role: RoleId) -> Seen<'_> {
        match (self.joint.get(role.index()), self.game.has_percepts()) {
            (None, _) => Seen::Nothing,
            (Some(_), false) => Seen::Joint(&self.joint),
            (Some(&own), true) => Seen::Own { own, percepts: &self.percepts[role.index()] },
        }
    }

    fn seated<'s, 'b: 's>(
        &self,
        seats: &'s mut [Option<Box<dyn Seat + 'b>>],
    ) -> impl Iterator<Item = (RoleId, &'s mut Box<dyn Seat + 'b>)> + use<'s, 'b, G> {
        let roles = self.game.role_ids();
        roles.zip(seats).filter_map(|(role, seat)| Some((role, seat.as_mut()?)))
    }
}

/// Steps after which a match is given up when nothing else is said.
pub const MAX_STEPS: usize = 10_000;

/// The longest clock a match may have: a day.
pub const MAX_CLOCK: Duration = Duration::from_secs(86_400);
