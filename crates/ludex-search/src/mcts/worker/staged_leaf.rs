//! Staged leaf parallelization: one thread owns the tree and walks; the others play out. A helper is
//! given a new leaf as soon as one of its playouts comes back.

use std::sync::mpsc::{Receiver, Sender, channel};

use ludex_game::playouts::StartResults;
use ludex_game::{Cursor, PlayoutRequest, PlayoutRunner};

use super::super::descent::Descent;
use super::super::report::move_now;
use super::super::tree::GOAL_UNIT;
use super::{Ending, HINT_INTERVAL, Leaf, Round, Worker, back_up, cancel};
use crate::clock::Clock;
use crate::playout::{End, MAX_STEPS, Playing, play_out};

/// A leaf to play out.
struct Job<S> {
    slot: usize,
    state: S,
}

/// What came of it.
struct Played {
    helper: usize,
    slot: usize,
    goal_sums: Vec<u64>,
    n_playouts: u32,
    /// Playouts without an end; they count as nothing for everybody.
    n_given_up: u32,
}

impl<C: Cursor, R: PlayoutRunner<State = C::State> + Send> Worker<C, R> {
    /// Searches until something ends the round; the helpers play out, each with some leaves waiting.
    pub(crate) fn run_staged(
        &mut self,
        helpers: &mut [Self],
        n_waiting: usize,
        round: &Round<'_, C::State>,
    ) -> Ending {
        std::thread::scope(|scope| {
            let (played_to, played) = channel();
            let jobs: Vec<Sender<Job<C::State>>> = helpers
                .iter_mut()
                .enumerate()
                .map(|(idx, helper)| {
                    let (to, from) = channel();
                    let back = played_to.clone();
                    scope.spawn(move || helper.help(idx, round, &from, &back));
                    to
                })
                .collect();
            self.lead(&jobs, &played, 1 + n_waiting, round)
        })
    }

    fn lead(
        &mut self,
        jobs: &[Sender<Job<C::State>>],
        played: &Receiver<Played>,
        n_each: usize,
        round: &Round<'_, C::State>,
    ) -> Ending {
        let mut clock = Clock::new(round.deadline);
        let mut descents: Vec<Descent> = Vec::new();
        descents.resize_with(jobs.len() * n_each, Descent::default);
        let mut free: Vec<usize> = (0..descents.len()).collect();
        let mut n_out = vec![0; jobs.len()];
        let mut n_walks = 0_u64;
        let ending = loop {
            // Step 1. A leaf for whoever has the fewest.
            let helper = (0..jobs.len()).min_by_key(|&idx| n_out[idx]).expect("there is a helper");
            if n_out[helper] < n_each {
                if let Err(ending) = self.begin(round, &mut clock) {
                    break ending;
                }
                let slot = *free.last().expect("there is a slot for each leaf");
                match self.descend(round, &mut descents[slot], &mut clock) {
                    Ok(Leaf::New) => {
                        free.pop();
                        n_out[helper] += 1;
                        let state = self.cursor.state().clone();
                        jobs[helper].send(Job { slot, state }).expect("helpers wait for jobs");
                    }
                    Ok(Leaf::Known(node)) => self.back_up_proof(round, &descents[slot], node),
                    Ok(Leaf::Stuck) => {}
                    Err(ending) => break ending,
                }
                n_walks += 1;
                let is_time = n_walks.is_power_of_two() || n_walks.is_multiple_of(HINT_INTERVAL);
                let now = is_time.then(|| move_now(round.tree, round.rules.me));
                if let Some(id) = now.flatten() {
                    round.hint.set(id);
                }
            }
            // Step 2. What has come back; all have enough to do, so there is nothing but to wait.
            let is_waiting = n_out.iter().all(|&n| n == n_each);
            let mut next = if is_waiting { played.recv().ok() } else { played.try_recv().ok() };
            while let Some(back) = next {
                n_out[back.helper] -= 1;
                free.push(back.slot);
                self.take_back(round, &descents[back.slot], back);
                next = played.try_recv().ok();
            }
        };
        while n_out.iter().any(|&n| n > 0) {
            let back = played.recv().expect("helpers answer every job");
            n_out[back.helper] -= 1;
            self.take_back(round, &descents[back.slot], back);
        }
        ending
    }

    fn take_back(&mut self, round: &Round<'_, C::State>, descent: &Descent, mut back: Played) {
        let n_ended = back.n_playouts + back.n_given_up;
        self.n_playouts += u64::from(back.n_playouts);
        back_up(round.tree, descent, &mut back.goal_sums, u64::from(back.n_playouts));
        cancel(round.tree, descent, round.n_playouts - n_ended);
    }

    fn help(
        &mut self,
        helper: usize,
        round: &Round<'_, C::State>,
        jobs: &Receiver<Job<C::State>>,
        back: &Sender<Played>,
    ) {
        let mut clock = Clock::new(round.deadline);
        let n_roles = round.tree.roles.n;
        while let Ok(Job { slot, state }) = jobs.recv() {
            let mut answer =
                Played { helper, slot, goal_sums: Vec::new(), n_playouts: 0, n_given_up: 0 };
            if round.n_playouts == 1 {
                self.cursor.set_state(&state);
                self.desk.writes = false;
                let policy = &mut *self.policy;
                let (rng, clock) = (&mut self.rng, &mut clock);
                let playing = Playing { policy, rng, clock, horizon: MAX_STEPS };
                match play_out(&mut self.cursor, n_roles, playing, &mut self.desk) {
                    End::Terminal => {
                        let cursor = &mut self.cursor;
                        let goals = round.tree.roles.ids().map(|role| cursor.goal(role).value());
                        answer.goal_sums.extend(goals.map(|goal| u64::from(goal) * GOAL_UNIT));
                        answer.n_playouts = 1;
                    }
                    End::Cut | End::GivenUp => answer.n_given_up = 1,
                    End::Time => {}
                }
            } else {
                self.results.games.clear();
                for start in &mut self.results.starts {
                    *start = StartResults::default();
                }
                let n_given_up = self.results.n_given_up;
                self.starts.clear();
                self.starts.push(state);
                let request = PlayoutRequest {
                    starts: &self.starts,
                    n_per_start: round.n_playouts as usize,
                    max_steps: MAX_STEPS,
                    wants_moves: false,
                    deadline: round.deadline,
                };
                self.runner.run(&request, &mut self.rng, &mut self.results);
                let start = &self.results.starts[0];
                answer.n_playouts = start.n_playouts as u32;
                answer.goal_sums.extend(start.goal_sums.iter().map(|&sum| sum * GOAL_UNIT));
                if self.results.n_given_up > n_given_up {
                    answer.n_given_up = round.n_playouts - answer.n_playouts;
                }
            }
            if back.send(answer).is_err() {
                return;
            }
        }
    }
}
