//! A player in a match of which it hears by messages: from words to moves, and back.
//!
//! What was played is taken from the messages and never from memory, so that a move that the
//! manager made in the player's place is followed like any other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use ludex_base::{MoveId, PerceptId, Rng, RoleId, Seed};
use ludex_game::{Cursor, JointMoves, Observe};
use ludex_player::{Interrupter, Playable, Player, Rung, Seen, Thought};
use ludex_protocol::{News, Term};

/// A move for the manager.
pub(crate) struct Played {
    /// The move; `None` when not even a guess is known.
    pub text: Option<String>,
    pub thought: Thought,
    /// Steps before it.
    pub turn: u64,
    /// When it was chosen.
    pub chosen_at: Instant,
    /// What was odd about the news.
    pub odd: Option<String>,
}

/// A player of one match, whatever engine it plays on.
pub(crate) trait Participant: Send {
    /// Takes its role and prepares until then.
    fn start(&mut self, deadline: Instant);
    /// Takes in the news and chooses a move.
    fn play(&mut self, news: &News, deadline: Instant) -> Played;
    /// What stops it from another thread.
    fn interrupter(&self) -> Interrupter;
}

/// Follows a match by its messages.
pub(crate) struct Follower<G: Playable> {
    game: G,
    role: RoleId,
    player: Player<G>,
    /// Where the match stands, as long as joint moves are told.
    cursor: G::Cursor,
    /// Steps taken in.
    turn: u64,
    last_news: Option<News>,
    /// What was answered last.
    last_answer: Option<String>,
    rng: Rng,
}

/// What news amount to.
enum Step {
    /// Nothing new.
    Nothing,
    Joint(Vec<MoveId>),
    Own(MoveId, Vec<PerceptId>),
}

/// Joint moves that are tried in place of one that was never heard of.
const MAX_TRIED: usize = 5_000;
const TRY_TIME: Duration = Duration::from_millis(100);
/// Of more turns that were never heard of it makes no difference how many they were.
const MAX_MISSED: u64 = 8;

impl<G: Playable> Follower<G> {
    /// A player at the beginning of a match.
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

    /// What the news say; in words what is odd about them.
    fn take_in(&mut self, news: &News, deadline: Instant) -> (Step, Option<String>) {
        let is_repeated = self.last_news.as_ref() == Some(news);
        self.last_news = Some(news.clone());
        match news {
            News::Joint(moves) if moves.is_empty() => (Step::Nothing, None),
            News::Joint(moves) => {
                // The same words may be the same message again, or the next step; then they tell what
                // was answered last.
                let own = moves.get(self.role.index()).map(Term::as_str);
                if is_repeated && own != self.last_answer.as_deref() {
                    return (Step::Nothing, Some("the same message came again".into()));
                }
                if let Some(joint) = self.resolve(moves) {
                    return (self.step(joint), None);
                }
                if is_repeated {
                    return (Step::Nothing, Some("the same message came again".into()));
                }
                match self.find_missed(moves) {
                    Some(missed) => {
                        self.watch(missed, deadline);
                        let joint = self.resolve(moves).expect("it was looked for");
                        (self.step(joint), Some("a step was missed and guessed".into()))
                    }
                    None => (Step::Nothing, Some("the joint move is not legal here".into())),
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
            // Turns are counted from the one that the first message has.
            self.turn = self.turn.max(turn);
            return (Step::Nothing, None);
        };
        if turn <= self.turn {
            return (Step::Nothing, Some(format!("turn {turn} came again")));
        }
        let odd = (turn > self.turn + 1).then(|| format!("turns before {turn} were missed"));
        let Some(own) = self.game.find_move(self.role, last_move.as_str()) else {
            return (Step::Nothing, Some(format!("`{last_move}` is no move of the game")));
        };
        if !self.game.has_percepts() {
            // Without `sees` rules a role is told everything, and alone it knows everything.
            return match self.game.roles().len() {
                1 => (self.step(vec![own]), odd),
                _ => (Step::Nothing, Some("the moves of the others were not told".into())),
            };
        }
        // What comes next may agree with a match in which they never were.
        for _ in 0..(turn - self.turn - 1).min(MAX_MISSED) {
            self.player.miss(deadline);
        }
        self.turn = turn;
        let mut seen = Vec::new();
        for percept in percepts {
            match self.game.find_percept(self.role, percept.as_str()) {
                Some(percept) => seen.push(percept),
                None => {
                    let odd = format!("`{percept}` is nothing that the role can see");
                    return (Step::Own(own, seen), Some(odd));
                }
            }
        }
        (Step::Own(own, seen), odd)
    }

    /// The joint move with these words, if it is legal where the match stands.
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

    /// Plays a joint move; what the role sees of it.
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

    /// A step that was never heard of, after which these words are a legal joint move: with what was
    /// answered last, if that fits.
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

    /// When the player itself broke down: a legal move where the match stands.
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
                let note = "the player broke down".to_owned();
                let text = catch_unwind(AssertUnwindSafe(|| self.draw())).unwrap_or(None);
                (text, Thought { note: note.clone(), ..Thought::none(Rung::Random) }, Some(note))
            }
        };
        self.last_answer.clone_from(&text);
        Played { text, thought, turn: self.turn, chosen_at: Instant::now(), odd }
    }

    fn interrupter(&self) -> Interrupter {
        self.player.interrupter()
    }
}
