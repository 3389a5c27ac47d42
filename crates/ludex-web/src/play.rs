//! One match, on a thread of its own.
//!
//! People choose first and players search afterwards, so nobody's move can depend on another's of
//! the same step. When every role has a move, the step goes to the database, then onto the board,
//! and then to everyone who watches.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use ludex_base::{Deadline, MoveId, PerceptId, Rng, RoleId, Seed};
use ludex_board::{Table, svg};
use ludex_game::{Cursor, Game, Observe, StateOf};
use ludex_net::RemoteSeat;
use ludex_pipeline::LoadedGame;
use ludex_player::{Choice, FLAGSHIP, Playable, Player, PlayerConfig, PlayerSpec, Seen};
use ludex_referee::{Reply as RemoteReply, Seat as _};
use ludex_search::information::{Follower, Model, Observation, Patience};
use tokio::sync::{oneshot, watch};

use crate::remote;
use crate::sheet::{self, RoleView};
use crate::store::{MatchPlan, SeatPlan, Store, StoredStep, StoredThought};
use crate::view::{
    HintMove, HintView, MatchView, MoveView, PendingView, StateView, Status, StepView,
};

/// A request to the thread of a match. The answer says why it was refused.
pub(crate) enum Command {
    /// A person moves.
    Move { role: usize, step: usize, text: String, reply: Reply<()> },
    /// A person takes back the last own move.
    Undo { role: usize, reply: Reply<()> },
    /// A person asks for advice.
    Hint { role: usize, reply: Reply<HintView> },
    /// A person gives up.
    Resign { role: usize, reply: Reply<()> },
    /// The program that hosts the match elsewhere tells a step.
    Tell { step: usize, moves: Vec<String>, reply: Reply<()> },
    /// Somebody else takes a seat.
    Seat { role: usize, seat: SeatPlan, reply: Reply<()> },
    /// A viewer asks for an earlier state.
    Look { step: usize, reply: Reply<StateView> },
}

/// Where the answer to a command goes.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, String>>;

/// The match as all viewers see it.
pub(crate) struct Views {
    /// Grows with every change.
    pub(crate) version: u64,
    /// For those who only watch.
    open: Arc<str>,
    /// For each role, in a game with hidden information; else empty.
    roles: Vec<Arc<str>>,
}

impl Views {
    /// Returns the view of a role, or that of somebody who watches.
    pub(crate) fn of(&self, role: Option<usize>) -> Arc<str> {
        let own = role.and_then(|role| self.roles.get(role));
        Arc::clone(own.unwrap_or(&self.open))
    }

    /// Returns the views of a match that has no board yet, or never gets one.
    pub(crate) fn without_board(plan: &MatchPlan, status: Status, message: &str) -> Self {
        let version = u64::from(status == Status::Failed);
        let view = MatchView {
            version,
            id: plan.id.clone(),
            title: plan.title.clone(),
            status,
            message: message.into(),
            is_hidden: false,
            roles: Vec::new(),
            seats: plan.seats.clone(),
            n_steps: 0,
            goals: None,
            resigned: plan.resigned,
            clock_end: None,
            svg: None,
            turn: Vec::new(),
            pending: Vec::new(),
            history: Vec::new(),
        };
        Self { version, open: to_json(&view), roles: Vec::new() }
    }
}

fn to_json(view: &MatchView) -> Arc<str> {
    serde_json::to_string(view).expect("a view has a JSON form").into()
}

/// Lets only so many searches, or other work, run at a time.
pub(crate) struct Slots {
    n_free: Mutex<usize>,
    freed: Condvar,
}

impl Slots {
    pub(crate) fn new(n_slots: usize) -> Self {
        Self { n_free: Mutex::new(n_slots), freed: Condvar::new() }
    }

    /// Waits for a free slot and runs the work on it.
    pub(crate) fn run<T>(&self, work: impl FnOnce() -> T) -> T {
        let lock = || self.n_free.lock().unwrap_or_else(PoisonError::into_inner);
        let mut n_free = lock();
        while *n_free == 0 {
            n_free = self.freed.wait(n_free).unwrap_or_else(PoisonError::into_inner);
        }
        *n_free -= 1;
        drop(n_free);
        // A panic must not keep the slot.
        let done = catch_unwind(AssertUnwindSafe(work));
        *lock() += 1;
        self.freed.notify_one();
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    }
}

/// What all matches of a server share.
pub(crate) struct Shared {
    /// The database.
    pub(crate) store: Store,
    /// The searches that may run at a time.
    pub(crate) slots: Slots,
    /// The games that may be loaded at a time.
    pub(crate) loaders: Slots,
    /// Bytes for the trees of one player.
    pub(crate) player_memory: usize,
}

/// A match without anybody who watches ends its thread after this time; the next viewer starts it
/// again from the database.
const IDLE_TIME: Duration = Duration::from_secs(600);
/// Time for finding out what a person can know after a step.
const BELIEF_TIME: Duration = Duration::from_millis(200);
/// Uncertain fluents that are shaded; more of them would say little.
const MAX_SHADED: usize = 1_000;
/// The time of a hint.
const HINT_TIME: Duration = Duration::from_secs(1);
/// Most moves in a hint.
const MAX_HINTS: usize = 12;
/// Steps after which a match ends.
const MAX_STEPS: usize = 10_000;

/// One match on an engine.
pub(crate) struct Play<'a, G: Playable> {
    game: &'a G,
    loaded: &'a LoadedGame,
    table: Table,
    roles: Vec<RoleView>,
    plan: MatchPlan,
    shared: &'a Shared,
    views: &'a watch::Sender<Arc<Views>>,
    version: u64,
    cursor: G::Cursor,
    steps: Vec<Step<G>>,
    /// The moves that people have chosen in this step.
    chosen: Vec<Option<MoveId>>,
    /// The people whose move was drawn because their time was over.
    is_late: Vec<bool>,
    /// When people began to think about this step.
    began: Instant,
    /// The player of each role, with the steps that it has seen.
    players: Vec<Option<(Player<G>, usize)>>,
    /// What each person can know, with the steps that were taken in; only in a game with percepts.
    followers: Vec<Option<(Follower<G>, usize)>>,
    /// The program elsewhere that plays each role, with the moves that it was asked for.
    remotes: Vec<Option<(RemoteSeat<G>, usize)>>,
    rng: Rng,
    failure: Option<String>,
}

/// A step that was played.
struct Step<G: Game> {
    /// The state before it.
    before: StateOf<G>,
    joint: Vec<MoveId>,
    percepts: Vec<Vec<PerceptId>>,
    stored: StoredStep,
}

impl<G: Game> Step<G> {
    /// What a role saw of the step.
    fn seen(&self, role: usize, has_percepts: bool) -> Seen<'_> {
        if has_percepts {
            Seen::Own { own: self.joint[role], percepts: &self.percepts[role] }
        } else {
            Seen::Joint(&self.joint)
        }
    }
}

/// A remark about a move that nobody chose.
fn remark(text: &str) -> StoredThought {
    StoredThought {
        search: text.into(),
        goal: None,
        is_proven: false,
        n_playouts: 0,
        depth: 0,
        line: Vec::new(),
    }
}

impl<'a, G: Playable> Play<'a, G> {
    /// Starts a match, or continues it after these steps.
    pub(crate) fn new(
        game: &'a G,
        loaded: &'a LoadedGame,
        (plan, steps): (MatchPlan, Vec<StoredStep>),
        shared: &'a Shared,
        views: &'a watch::Sender<Arc<Views>>,
    ) -> Self {
        let n_roles = game.roles().len();
        let mut play = Self {
            table: sheet::table(loaded),
            roles: sheet::roles(loaded),
            cursor: game.cursor(),
            steps: Vec::new(),
            chosen: vec![None; n_roles],
            is_late: vec![false; n_roles],
            began: Instant::now(),
            players: (0..n_roles).map(|_| None).collect(),
            followers: (0..n_roles).map(|_| None).collect(),
            remotes: (0..n_roles).map(|_| None).collect(),
            // Steps that were played before a restart are not drawn again.
            rng: Seed(plan.seed).child(steps.len() as u64).rng(),
            version: views.borrow().version,
            failure: None,
            game,
            loaded,
            plan,
            shared,
            views,
        };
        for step in steps {
            let find = |(role, text): (RoleId, &String)| game.find_move(role, text);
            let joint: Option<Vec<MoveId>> = game.role_ids().zip(&step.moves).map(find).collect();
            match joint.filter(|joint| joint.len() == n_roles) {
                Some(joint) => play.apply(joint, step),
                None => {
                    let number = play.steps.len() + 1;
                    play.failure =
                        Some(format!("step {number} in the database is not of this game"));
                    break;
                }
            }
        }
        play
    }

    /// Plays until nobody is interested any more.
    pub(crate) fn run(mut self, commands: &Receiver<Command>) {
        while self.go_on(commands) {}
        for (remote, _) in self.remotes.iter_mut().flatten() {
            remote.abort();
        }
    }

    /// Plays a step, or waits until something changes; returns whether the match is still of interest.
    fn go_on(&mut self, commands: &Receiver<Command>) -> bool {
        if !self.is_over() && !self.is_told() && self.undecided().is_empty() {
            self.advance();
            return true;
        }
        self.publish(Status::Waiting);
        loop {
            let left = self.clock_end().map(|end| end.saturating_duration_since(Instant::now()));
            match commands.recv_timeout(left.unwrap_or(IDLE_TIME).min(IDLE_TIME)) {
                Ok(command) => {
                    if self.handle(command) {
                        return true;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {
                    if self.clock_end().is_some_and(|end| Instant::now() >= end) {
                        self.run_out();
                        return true;
                    }
                    // The room itself holds one receiver.
                    if self.views.receiver_count() <= 1 {
                        return false;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
    }

    /// When the time of the people is over who have not chosen yet.
    fn clock_end(&mut self) -> Option<Instant> {
        let time = Duration::from_millis(self.plan.person_time?);
        let is_running = !self.is_over() && !self.undecided().is_empty();
        is_running.then(|| self.began + time)
    }

    /// Draws the moves of people whose time is over.
    fn run_out(&mut self) {
        for role in self.undecided() {
            let legal = self.cursor.legal_moves(RoleId::new(role)).to_vec();
            self.chosen[role] = self.rng.choose(&legal).copied();
            self.is_late[role] = true;
        }
    }

    /// Whether another program hosts the match.
    fn is_told(&self) -> bool {
        self.plan.seats.iter().any(|seat| matches!(seat, SeatPlan::Elsewhere { .. }))
    }

    fn is_over(&mut self) -> bool {
        self.failure.is_some() || self.plan.resigned.is_some() || self.cursor.is_terminal()
    }

    /// The people who have not chosen yet, although they have a choice.
    fn undecided(&mut self) -> Vec<usize> {
        let open = |role: &usize| self.is_person(*role) && self.chosen[*role].is_none();
        let open: Vec<usize> = (0..self.roles.len()).filter(open).collect();
        let mut has_choice = |role: &usize| self.cursor.legal_moves(RoleId::new(*role)).len() > 1;
        open.into_iter().filter(|role| has_choice(role)).collect()
    }

    fn is_person(&self, role: usize) -> bool {
        !self.roles[role].is_random && self.plan.seats[role] == SeatPlan::Person
    }

    /// Lets everyone else choose, and plays the step.
    fn advance(&mut self) {
        let mut joint = Vec::new();
        let mut thoughts = Vec::new();
        let mut has_told = false;
        for role in 0..self.roles.len() {
            let id = RoleId::new(role);
            let mut legal = self.cursor.legal_moves(id).to_vec();
            // The order of an engine would change the draws.
            legal.sort_by_cached_key(|&chosen| self.game.move_text(chosen));
            let Some(&drawn) = self.rng.choose(&legal) else {
                let name = &self.roles[role].name;
                return self
                    .fail(format!("`{name}` has no legal move in a state that is not final"));
            };
            let is_remote = matches!(self.plan.seats[role], SeatPlan::Remote { .. });
            let is_open = !self.roles[role].is_random && self.chosen[role].is_none();
            let searches = is_open && legal.len() > 1 && !is_remote;
            // Programs elsewhere follow the match by the moves that they are asked for.
            let is_asked = is_open && is_remote;
            if (searches || is_asked) && !has_told {
                self.publish(Status::Thinking);
                has_told = true;
            }
            let (chosen, thought) = match self.chosen[role] {
                Some(chosen) if self.is_late[role] => (chosen, Some(remark("out of time"))),
                Some(chosen) => (chosen, None),
                None if is_asked => self.ask_remote(role, &legal, drawn),
                None if searches => self.search(role, &legal, drawn),
                None => (drawn, None),
            };
            joint.push(chosen);
            thoughts.push(thought);
        }
        self.finish_step(joint, thoughts);
    }

    /// Plays a step and stores it.
    fn finish_step(&mut self, joint: Vec<MoveId>, thoughts: Vec<Option<StoredThought>>) {
        if self.cursor.has_fault() {
            let reason = self.loaded.fault().unwrap_or_else(|| "no reason is known".into());
            return self.fail(format!("the rules could not be evaluated in this state: {reason}"));
        }
        if self.steps.len() >= MAX_STEPS {
            return self.fail(format!("the match did not end within {MAX_STEPS} steps"));
        }
        let moves = joint.iter().map(|&id| self.game.move_text(id)).collect();
        let stored = StoredStep { moves, thoughts };
        let number = self.steps.len();
        self.apply(joint, stored.clone());
        let goals = self.goals();
        if let Err(error) =
            self.shared.store.add_step(&self.plan.id, number, &stored, goals.as_deref())
        {
            // What is not on disk has not happened.
            self.return_to(number);
            return self.fail(error.to_string());
        }
        if goals.is_some() {
            self.stop_remotes();
        }
    }

    /// Tells the programs elsewhere that the game is over.
    fn stop_remotes(&mut self) {
        let has_percepts = self.game.has_percepts();
        let Some(last) = self.steps.last() else { return };
        for (role, remote) in self.remotes.iter_mut().enumerate() {
            if let Some((mut seat, _)) = remote.take() {
                seat.stop(last.seen(role, has_percepts));
            }
        }
    }

    /// Lets the program elsewhere that plays a role choose. One that has just taken the seat is told
    /// about all steps so far.
    fn ask_remote(
        &mut self,
        role: usize,
        legal: &[MoveId],
        drawn: MoveId,
    ) -> (MoveId, Option<StoredThought>) {
        let SeatPlan::Remote { url } = &self.plan.seats[role] else { return (drawn, None) };
        if self.remotes[role].is_none() {
            match remote::seat(self.game, self.loaded, &self.plan, url, role, self.steps.len()) {
                Ok(seat) => self.remotes[role] = Some((seat, 0)),
                Err(reason) => return (drawn, Some(remark(&reason))),
            }
        }
        let time = remote::clock(self.plan.move_time);
        let has_percepts = self.game.has_percepts();
        let Some((seat, n_asked)) = &mut self.remotes[role] else { return (drawn, None) };
        let mut reply = RemoteReply::Text(String::new());
        while *n_asked <= self.steps.len() {
            let last = n_asked.checked_sub(1).map(|at| self.steps[at].seen(role, has_percepts));
            let seen = last.unwrap_or(Seen::Nothing);
            reply = seat.play(seen, Instant::now() + time).reply;
            *n_asked += 1;
        }
        let found = match &reply {
            RemoteReply::Move(id) => Some(*id),
            RemoteReply::Text(text) => self.game.find_move(RoleId::new(role), text),
            RemoteReply::Lapse(_) => None,
        };
        match found.filter(|id| legal.contains(id)) {
            Some(chosen) => (chosen, None),
            None => (drawn, Some(remark(&remote::fault(&reply)))),
        }
    }

    /// Lets the player of a role choose.
    fn search(
        &mut self,
        role: usize,
        legal: &[MoveId],
        drawn: MoveId,
    ) -> (MoveId, Option<StoredThought>) {
        let shared = self.shared;
        let time = Duration::from_millis(self.plan.move_time);
        let choose = || -> Choice {
            // Preparing a new player has a clock of its own.
            self.player(role, time);
            self.player(role, time).choose(Seen::Nothing, Instant::now() + time)
        };
        let choice = match catch_unwind(AssertUnwindSafe(|| shared.slots.run(choose))) {
            Ok(choice) => choice,
            Err(_) => {
                self.players[role] = None;
                return (drawn, None);
            }
        };
        let thought = StoredThought {
            search: choice.thought.search.clone(),
            goal: choice.thought.goal,
            is_proven: choice.thought.is_proven,
            n_playouts: choice.thought.n_playouts,
            depth: choice.thought.depth,
            line: choice.thought.line.clone(),
        };
        let chosen = choice.chosen.filter(|id| legal.contains(id)).unwrap_or(drawn);
        (chosen, Some(thought))
    }

    /// Returns the player of a role, after it has seen all steps. A person's adviser is the flagship.
    fn player(&mut self, role: usize, time: Duration) -> &mut Player<G> {
        let id = RoleId::new(role);
        let name = match &self.plan.seats[role] {
            SeatPlan::Player { player } => player,
            SeatPlan::Person | SeatPlan::Remote { .. } | SeatPlan::Elsewhere { .. } => FLAGSHIP,
        };
        let has_percepts = self.game.has_percepts();
        let (player, n_seen) = self.players[role].get_or_insert_with(|| {
            let spec = PlayerSpec::parse(name).expect("players were checked when they sat down");
            let config = PlayerConfig {
                memory: self.shared.player_memory,
                ..PlayerConfig::new(Seed(self.plan.seed).child(1_000 + role as u64))
            };
            let mut player =
                Player::new(&spec, self.game, Arc::clone(&self.loaded.program), config);
            player.start(id, Instant::now() + time);
            (player, 0)
        });
        for step in &self.steps[*n_seen..] {
            player.watch(step.seen(role, has_percepts), Instant::now() + time);
        }
        *n_seen = self.steps.len();
        player
    }

    /// Plays a step on the board.
    fn apply(&mut self, joint: Vec<MoveId>, stored: StoredStep) {
        let before = self.cursor.state().clone();
        self.cursor.play(&joint);
        let percepts =
            self.game.role_ids().map(|role| self.cursor.percepts(role).to_vec()).collect();
        self.steps.push(Step { before, joint, percepts, stored });
        self.begin_step();
    }

    /// Nobody has chosen yet.
    fn begin_step(&mut self) {
        self.chosen.fill(None);
        self.is_late.fill(false);
        self.began = Instant::now();
    }

    /// Goes back to the state after this many steps.
    fn return_to(&mut self, n_steps: usize) {
        if let Some(step) = self.steps.get(n_steps) {
            let state = step.before.clone();
            self.cursor.set_state(&state);
            self.steps.truncate(n_steps);
        }
        self.begin_step();
        // Players cannot go back: new ones take their seats.
        self.players.iter_mut().for_each(|player| *player = None);
        self.followers.iter_mut().for_each(|follower| *follower = None);
    }

    fn fail(&mut self, message: String) {
        self.failure = Some(message);
    }

    fn goals(&mut self) -> Option<Vec<u8>> {
        let is_over = self.cursor.is_terminal();
        let goals = self.game.role_ids().map(|role| self.cursor.goal(role).value());
        is_over.then(|| goals.collect())
    }

    /// Obeys a command; returns whether the match can go on.
    fn handle(&mut self, command: Command) -> bool {
        match command {
            Command::Move { role, step, text, reply } => {
                let done = self.choose(role, step, &text);
                answer(reply, done)
            }
            Command::Undo { role, reply } => {
                let done = self.undo(role);
                answer(reply, done)
            }
            Command::Resign { role, reply } => {
                let done = self.resign(role);
                answer(reply, done)
            }
            Command::Tell { step, moves, reply } => {
                let done = self.tell(step, &moves);
                answer(reply, done)
            }
            Command::Seat { role, seat, reply } => {
                let done = self.seat(role, seat);
                answer(reply, done)
            }
            Command::Hint { role, reply } => {
                let hint = self.hint(role);
                answer(reply, hint);
                false
            }
            Command::Look { step, reply } => {
                let state = self.look(step);
                answer(reply, state);
                false
            }
        }
    }

    fn choose(&mut self, role: usize, step: usize, text: &str) -> Result<(), String> {
        if self.is_over() {
            return Err("the match is over".into());
        }
        if step != self.steps.len() {
            return Err(format!("step {step} is not the current one, {}", self.steps.len()));
        }
        if !self.is_person(role) {
            return Err(format!("a player moves for `{}`", self.roles[role].name));
        }
        let id = RoleId::new(role);
        let legal = self.cursor.legal_moves(id).to_vec();
        let chosen = legal.into_iter().find(|&chosen| self.game.move_text(chosen) == text);
        let chosen = chosen.ok_or_else(|| format!("`{text}` is not legal here"))?;
        self.chosen[role] = Some(chosen);
        Ok(())
    }

    /// Returns to the last choice of a person.
    fn undo(&mut self, role: usize) -> Result<(), String> {
        if self.game.has_percepts() {
            return Err("moves cannot be taken back in a game with hidden information".into());
        }
        if self.is_told() || self.plan.seats.iter().any(|it| matches!(it, SeatPlan::Remote { .. }))
        {
            return Err("moves cannot be taken back while a program elsewhere plays".into());
        }
        let id = RoleId::new(role);
        let mut cursor = self.game.cursor();
        let last = (0..self.steps.len()).rev().find(|&number| {
            cursor.set_state(&self.steps[number].before);
            cursor.legal_moves(id).len() > 1
        });
        let number = last.ok_or("there is nothing to take back")?;
        self.shared.store.take_back(&self.plan.id, number).map_err(|error| error.to_string())?;
        self.failure = None;
        self.plan.resigned = None;
        self.return_to(number);
        Ok(())
    }

    /// Ends the match because a person gives up.
    fn resign(&mut self, role: usize) -> Result<(), String> {
        if self.is_over() {
            return Err("the match is over".into());
        }
        if !self.is_person(role) {
            return Err(format!("no person plays `{}`", self.roles[role].name));
        }
        self.shared.store.resign(&self.plan.id, role).map_err(|error| error.to_string())?;
        self.plan.resigned = Some(role);
        Ok(())
    }

    /// Plays a step of a match that another program hosts.
    fn tell(&mut self, step: usize, moves: &[String]) -> Result<(), String> {
        if !self.is_told() {
            return Err("this server plays the match itself".into());
        }
        if self.is_over() {
            return Err("the match is over".into());
        }
        if step != self.steps.len() {
            return Err(format!("step {step} is not the current one, {}", self.steps.len()));
        }
        if moves.len() != self.roles.len() {
            return Err(format!("{} moves for {} roles", moves.len(), self.roles.len()));
        }
        let mut joint = Vec::new();
        for (role, text) in self.game.role_ids().zip(moves) {
            let found = self.game.find_move(role, text);
            let legal = found.filter(|id| self.cursor.legal_moves(role).contains(id));
            joint.push(legal.ok_or_else(|| format!("`{text}` is not legal here"))?);
        }
        let thoughts = vec![None; joint.len()];
        self.finish_step(joint, thoughts);
        self.failure.clone().map_or(Ok(()), Err)
    }

    fn seat(&mut self, role: usize, seat: SeatPlan) -> Result<(), String> {
        if self.is_told() || matches!(seat, SeatPlan::Elsewhere { .. } | SeatPlan::Remote { .. }) {
            return Err("only people and players of this server take a seat during a match".into());
        }
        if let SeatPlan::Player { player } = &seat {
            PlayerSpec::parse(player).map_err(|error| error.to_string())?;
        }
        let mut seats = self.plan.seats.clone();
        seats[role] = seat;
        self.shared.store.set_seats(&self.plan.id, &seats).map_err(|error| error.to_string())?;
        self.plan.seats = seats;
        self.players[role] = None;
        if let Some((mut remote, _)) = self.remotes[role].take() {
            remote.abort();
        }
        self.began = Instant::now();
        Ok(())
    }

    fn hint(&mut self, role: usize) -> Result<HintView, String> {
        if self.is_over() {
            return Err("the match is over".into());
        }
        if self.cursor.legal_moves(RoleId::new(role)).len() < 2 {
            return Err("there is no choice".into());
        }
        let shared = self.shared;
        let consider = || {
            self.player(role, HINT_TIME);
            self.player(role, HINT_TIME).consider(HINT_TIME)
        };
        let found = catch_unwind(AssertUnwindSafe(|| shared.slots.run(consider)));
        let Ok(Some((mut report, search))) = found else {
            self.players[role] = None;
            return Err("the search found nothing in time".into());
        };
        let chosen = report.chosen;
        report.moves.sort_by_key(|it| {
            (Some(it.id) != chosen, it.proven == Some(0.0), std::cmp::Reverse(it.n_visits))
        });
        let hint = |it: &ludex_search::MoveReport| HintMove {
            text: self.game.move_text(it.id),
            n_visits: it.n_visits,
            goal: it.proven.or(it.mean_reward).map(|reward| 100.0 * reward),
            is_proven: it.proven.is_some(),
        };
        Ok(HintView {
            search,
            goal: report.reward.map(|reward| 100.0 * reward),
            is_proven: report.is_proven,
            n_playouts: report.n_playouts,
            moves: report.moves.iter().take(MAX_HINTS).map(hint).collect(),
        })
    }

    fn look(&mut self, step: usize) -> Result<StateView, String> {
        if self.game.has_percepts() && !self.is_over() {
            return Err("the states of this match are hidden until it is over".into());
        }
        if step > self.steps.len() {
            return Err(format!("the match has {} steps", self.steps.len()));
        }
        let fluents = self.fluents(step);
        let before = self.fluents(step.saturating_sub(1));
        let svg = svg::render(&self.table.scene_after(&before, &fluents));
        Ok(StateView { step, svg, fluents })
    }

    /// The fluents of the state after this many steps.
    fn fluents(&self, n_steps: usize) -> Vec<String> {
        match self.steps.get(n_steps) {
            Some(step) => self.game.state_texts(&step.before),
            None => self.game.state_texts(self.cursor.state()),
        }
    }

    /// Shows the match to everyone.
    fn publish(&mut self, status: Status) {
        self.version += 1;
        let is_hidden = self.game.has_percepts();
        let status = match (self.failure.is_some(), self.is_over()) {
            (true, _) => Status::Failed,
            (false, true) => Status::Over,
            (false, false) => status,
        };
        let open = self.view(status, None);
        let roles = if is_hidden && status != Status::Over {
            (0..self.roles.len()).map(|role| to_json(&self.view(status, Some(role)))).collect()
        } else {
            Vec::new()
        };
        let views = Views { version: self.version, open: to_json(&open), roles };
        self.views.send_replace(Arc::new(views));
    }

    /// The board as a role can know it: what is certain, and what is likely as shading. Nobody else's
    /// moves or percepts go into it. Also returns the fluents whose cells can be touched.
    fn belief(&mut self, role: usize) -> (String, Vec<String>) {
        let (follower, n_seen) = self.followers[role].get_or_insert_with(|| {
            (Follower::new(self.game, RoleId::new(role), Model::uniform()), 0)
        });
        let deadline = Deadline::after(BELIEF_TIME);
        let patience = Patience { for_many: deadline.clone(), for_one: deadline };
        // Draws of its own, so that looking does not change the match.
        let mut rng = Seed(self.plan.seed).child(2_000 + role as u64).rng();
        for step in &self.steps[*n_seen..] {
            let observed = Observation::new(step.joint[role], &step.percepts[role]);
            follower.follow(observed, &mut rng, &patience);
        }
        *n_seen = self.steps.len();
        let information = follower.information();
        let mut weights: BTreeMap<String, f64> = BTreeMap::new();
        for possible in information.possible() {
            for text in self.game.state_texts(&possible.state) {
                *weights.entry(text).or_default() += possible.weight;
            }
        }
        let (certain, others): (Vec<_>, Vec<_>) =
            weights.into_iter().partition(|(_, weight)| *weight > 1.0 - 1e-6);
        let certain: Vec<String> = certain.into_iter().map(|(text, _)| text).collect();
        let scene = if others.len() > MAX_SHADED {
            self.table.scene(&certain)
        } else {
            self.table.scene_of_belief(&certain, &others)
        };
        // Without a board, moves are made by their buttons.
        let touched = if scene.boards.is_empty() { Vec::new() } else { certain };
        (svg::render(&scene), touched)
    }

    /// The match as a role sees it, or as somebody who watches.
    fn view(&mut self, status: Status, viewer: Option<usize>) -> MatchView {
        let is_hidden = self.game.has_percepts();
        let shows_all = !is_hidden || status == Status::Over;
        let fluents = self.fluents(self.steps.len());
        let before = self.fluents(self.steps.len().saturating_sub(1));
        let scene = self.table.scene_after(&before, &fluents);
        let pending = if status == Status::Waiting { self.undecided() } else { Vec::new() };
        let may_choose = |role: &usize| !is_hidden || viewer == Some(*role);
        // Where a cell is must not tell what is hidden.
        let knower = viewer.filter(|&role| !shows_all && self.is_person(role));
        let belief = knower.map(|role| self.belief(role));
        let (belief, known) = belief.unzip();
        let drawn = if shows_all { fluents } else { known.unwrap_or_default() };
        let pending = pending.into_iter().filter(may_choose).map(|role| {
            let legal = self.cursor.legal_moves(RoleId::new(role)).to_vec();
            let mut texts: Vec<String> = legal.iter().map(|&id| self.game.move_text(id)).collect();
            texts.sort_unstable();
            let touches = self.table.touches(&drawn, &texts);
            let moves = texts.into_iter().zip(touches);
            let moves = moves.map(|(text, touches)| MoveView { text, touches });
            PendingView { role, moves: moves.collect() }
        });
        let pending: Vec<PendingView> = pending.collect();
        let step = |step: &Step<G>| StepView {
            moves: (step.stored.moves.iter().enumerate())
                .map(|(role, text)| (shows_all || viewer == Some(role)).then(|| text.clone()))
                .collect(),
            percepts: viewer.filter(|_| is_hidden).map_or(Vec::new(), |role| {
                step.percepts[role].iter().map(|&id| self.game.percept_text(id)).collect()
            }),
            thoughts: if shows_all { step.stored.thoughts.clone() } else { Vec::new() },
        };
        MatchView {
            version: self.version,
            id: self.plan.id.clone(),
            title: self.plan.title.clone(),
            status,
            message: self.failure.clone().unwrap_or_default(),
            is_hidden,
            roles: self.roles.clone(),
            seats: self.plan.seats.clone(),
            n_steps: self.steps.len(),
            history: self.steps.iter().map(step).collect(),
            goals: if status == Status::Over { self.goals() } else { None },
            resigned: self.plan.resigned,
            clock_end: if status == Status::Waiting {
                self.clock_end().map(since_1970)
            } else {
                None
            },
            svg: if shows_all { Some(svg::render(&scene)) } else { belief },
            turn: if shows_all { scene.turn } else { Vec::new() },
            pending,
        }
    }
}

/// A moment as the page understands it, in milliseconds since 1970.
fn since_1970(moment: Instant) -> u64 {
    let end = SystemTime::now() + moment.saturating_duration_since(Instant::now());
    end.duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as u64)
}

/// Sends an answer; returns whether something was done. Nobody may be waiting for it any more.
fn answer<T>(reply: Reply<T>, done: Result<T, String>) -> bool {
    let is_done = done.is_ok();
    let _ = reply.send(done);
    is_done
}
