//! A player that follows its match by messages and answers with moves.
//!
//! The moves played come from the messages and never from memory, so that the player follows a move
//! that the manager made in its place like any other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ludex_base::{MoveId, PerceptId, Rng, RoleId, Seed};
use ludex_game::{Cursor, JointMoves, Observe};
use ludex_player::{Interrupter, Playable, Player, Rung, Seen, Thought};
use ludex_protocol::{News, Term};

/// A move for the manager.
pub(crate) struct Played {
    /// The move; `None` if not even a guess is known.
    pub text: Option<String>,
    pub thought: Thought,
    /// Steps before the move.
    pub turn: u64,
    /// Time of the choice.
    pub chosen_at: Instant,
    /// What is wrong with the news, if anything.
    pub odd: Option<String>,
}

/// A player of one match, on any engine.
pub(crate) trait Participant: Send {
    /// Takes its role and prepares until the deadline.
    fn start(&mut self, deadline: Instant);
    /// Follows the news and chooses a move.
    fn play(&mut self, news: &News, deadline: Instant) -> Played;
    /// Follows news that another player of the same role has answered.
    fn catch_up(&mut self, history: &[Answered], deadline: Instant);
    /// Returns a handle that stops the player from another thread.
    fn interrupter(&self) -> Interrupter;
}

/// News, and the move that answered it.
pub(crate) struct Answered {
    pub news: News,
    pub answer: Option<String>,
}

/// Follows a match by its messages.
pub(crate) struct Follower<G: Playable> {
    game: G,
    role: RoleId,
    player: Player<G>,
    /// The current state, as long as the messages contain joint moves.
    cursor: G::Cursor,
    /// Steps followed so far.
    turn: u64,
    last_news: Option<News>,
    /// The last answer.
    last_answer: Option<String>,
    rng: Rng,
}

/// The step that the news describe.
enum Step {
    /// No new step.
    Nothing,
    Joint(Vec<MoveId>),
    Own(MoveId, Vec<PerceptId>),
}

/// Joint moves tried in place of a missed one.
const MAX_TRIED: usize = 5_000;
const TRY_TIME: Duration = Duration::from_millis(100);
/// Beyond this many missed turns, their exact number makes no difference.
const MAX_MISSED: u64 = 8;

impl<G: Playable> Follower<G> {
    /// Creates a player at the beginning of a match.
    pub fn new(game: &G, role: RoleId, player: Player<G>, seed: Seed) -> Self {
        Self {
            game: game.clone(),
            role,
            player,
            cursor: game.cursor(),
            turn: 0,
            last_news: None,
            last_answer: None,
            rng: seed.rng(),
        }
    }

    /// Returns the step that the news describe, and what is wrong with them, if anything.
    fn take_in(&mut self, news: &News, deadline: Instant) -> (Step, Option<String>) {
        let is_repeated = self.last_news.as_ref() == Some(news);
        self.last_news = Some(news.clone());
        match news {
            News::Joint(moves) if moves.is_empty() => (Step::Nothing, None),
            News::Joint(moves) => {
                // Equal news may repeat the last message or describe the next step; the next step
                // contains the last answer.
                let own = moves.get(self.role.index()).map(Term::as_str);
                if is_repeated && own != self.last_answer.as_deref() {
                    return (Step::Nothing, Some("repeated message".into()));
                }
                if let Some(joint) = self.resolve(moves) {
                    return (self.step(joint), None);
                }
                if is_repeated {
                    return (Step::Nothing, Some("repeated message".into()));
                }
                match self.find_missed(moves) {
                    Some(missed) => {
                        self.watch(missed, deadline);
                        let joint =
                            self.resolve(moves).expect("`find_missed` checked that it is legal");
                        (self.step(joint), Some("missed a step and guessed its joint move".into()))
                    }
                    None => (Step::Nothing, Some("the joint move is illegal in this state".into())),
                }
            }
            News::Own { turn, last_move, percepts } => {
                self.take_in_own(*turn, last_move.as_ref(), percepts, deadline)
            }
        }
    }

    fn take_in_own(
        &mut self,
        turn: u64,
        last_move: Option<&Term>,
        percepts: &[Term],
        deadline: Instant,
    ) -> (Step, Option<String>) {
        let Some(last_move) = last_move else {
            // Count turns from the number in the first message.
            self.turn = self.turn.max(turn);
            return (Step::Nothing, None);
        };
        if turn <= self.turn {
            return (Step::Nothing, Some(format!("repeated message for turn {turn}")));
        }
        let odd = (turn > self.turn + 1).then(|| format!("missed turns before {turn}"));
        let Some(own) = self.game.find_move(self.role, last_move.as_str()) else {
            return (Step::Nothing, Some(format!("`{last_move}` is not a move of the game")));
        };
        if !self.game.has_percepts() {
            // Without `sees` rules, messages must contain all moves; a single role knows them
            // anyway.
            return match self.game.roles().len() {
                1 => (self.step(vec![own]), odd),
                _ => (Step::Nothing, Some("the moves of the other roles are missing".into())),
            };
        }
        // Without these steps, later percepts could fit a match in which the turns never happened.
        for _ in 0..(turn - self.turn - 1).min(MAX_MISSED) {
            self.player.miss(deadline);
        }
        self.turn = turn;
        let mut seen = Vec::new();
        for percept in percepts {
            match self.game.find_percept(self.role, percept.as_str()) {
                Some(percept) => seen.push(percept),
                None => {
                    let odd = format!("`{percept}` is not a percept of the role");
                    return (Step::Own(own, seen), Some(odd));
                }
            }
        }
        (Step::Own(own, seen), odd)
    }

    /// Finds the joint move with these texts, if it is legal in the current state.
    fn resolve(&mut self, moves: &[Term]) -> Option<Vec<MoveId>> {
        if moves.len() != self.game.roles().len() || self.cursor.is_terminal() {
            return None;
        }
        let mut joint = Vec::with_capacity(moves.len());
        for (role, said) in self.game.role_ids().zip(moves) {
            let found = self.game.find_move(role, said.as_str())?;
            joint.push(*self.cursor.legal_moves(role).iter().find(|&&id| id == found)?);
        }
        Some(joint)
    }

    /// Plays a joint move and returns the role's observation.
    fn step(&mut self, joint: Vec<MoveId>) -> Step {
        self.cursor.play(&joint);
        self.turn += 1;
        if !self.game.has_percepts() {
            Step::Joint(joint)
        } else {
            let percepts = self.cursor.percepts(self.role).to_vec();
            Step::Own(joint[self.role.index()], percepts)
        }
    }

    /// Finds a missed step after which these moves are legal; prefers a step with the last answer.
    fn find_missed(&mut self, moves: &[Term]) -> Option<Vec<MoveId>> {
        let here = self.cursor.clone();
        let until = Instant::now() + TRY_TIME;
        let mut missed = None;
        let mut candidates = JointMoves::of(&mut self.cursor, self.game.roles().len());
        for _ in 0..MAX_TRIED {
            let Some(joint) = candidates.next_joint().map(<[MoveId]>::to_vec) else { break };
            self.cursor = here.clone();
            self.cursor.play(&joint);
            if self.resolve(moves).is_some() {
                let own = self.game.move_text(joint[self.role.index()]);
                let is_answered = self.last_answer.as_ref() == Some(&own);
                missed = Some(joint);
                if is_answered {
                    break;
                }
            }
            if Instant::now() >= until {
                break;
            }
        }
        self.cursor = here;
        missed
    }

    fn watch(&mut self, joint: Vec<MoveId>, deadline: Instant) {
        match self.step(joint) {
            Step::Joint(joint) => self.player.watch(Seen::Joint(&joint), deadline),
            Step::Own(own, percepts) => {
                self.player.watch(Seen::Own { own, percepts: &percepts }, deadline);
            }
            Step::Nothing => {}
        }
    }

    /// Draws a legal move of the current state, for when the player itself panicked.
    fn draw(&mut self) -> Option<String> {
        let legal = self.cursor.legal_moves(self.role);
        self.rng.choose(legal).map(|&id| self.game.move_text(id))
    }
}

impl<G: Playable> Participant for Follower<G> {
    fn start(&mut self, deadline: Instant) {
        self.player.start(self.role, deadline);
    }

    fn play(&mut self, news: &News, deadline: Instant) -> Played {
        let choose = || {
            let (step, odd) = self.take_in(news, deadline);
            let choice = match &step {
                Step::Nothing => self.player.choose(Seen::Nothing, deadline),
                Step::Joint(joint) => self.player.choose(Seen::Joint(joint), deadline),
                Step::Own(own, percepts) => {
                    self.player.choose(Seen::Own { own: *own, percepts }, deadline)
                }
            };
            (choice, odd)
        };
        let (text, thought, odd) = match catch_unwind(AssertUnwindSafe(choose)) {
            Ok((choice, odd)) => (Some(choice.text), choice.thought, odd),
            Err(_) => {
                let note = "the player panicked".to_owned();
                let text = catch_unwind(AssertUnwindSafe(|| self.draw())).unwrap_or(None);
                (text, Thought { note: note.clone(), ..Thought::none(Rung::Random) }, Some(note))
            }
        };
        self.last_answer.clone_from(&text);
        Played { text, thought, turn: self.turn, chosen_at: Instant::now(), odd }
    }

    fn catch_up(&mut self, history: &[Answered], deadline: Instant) {
        for Answered { news, answer } in history {
            match self.take_in(news, deadline).0 {
                Step::Nothing => {}
                Step::Joint(joint) => self.player.watch(Seen::Joint(&joint), deadline),
                Step::Own(own, percepts) => {
                    self.player.watch(Seen::Own { own, percepts: &percepts }, deadline);
                }
            }
            self.last_answer.clone_from(answer);
        }
    }

    fn interrupter(&self) -> Interrupter {
        self.player.interrupter()
    }
}
