//! Batches of playouts: each lane of the words is one playout.
//!
//! A step evaluates the circuit once for all lanes, draws a legal move per role and lane, and
//! computes the next state. When a lane reaches the end of its playout, the playout is *parked*:
//! the fluents that the goals depend on go to a buffer, and the lane starts its next playout at
//! once. When a buffer is full, the goals are evaluated for many playouts together.
//!
//! All lanes are in the same phase of the game: a playout begins at a step at which the others are
//! in the phase of its first state. So a step evaluates only the gates of that phase; in most games
//! these are the moves of the role whose turn it is.
//!
//! The playouts of a request are assigned to the lanes beforehand, so that a lane with short games
//! does not play more of them: the results do not depend on the length of games.

use std::sync::Arc;

use ludex_base::{BitSet, MoveId, Rng, RoleId};
use ludex_game::playouts::PlayedGame;
use ludex_game::{PlayoutRequest, PlayoutResults, PlayoutRunner};

use crate::lanes::draw::{Draw, WordRng, count_options};
use crate::lanes::run::{RunTape, tape_runner};
use crate::lanes::step_tapes::LaneTapes;
use crate::lanes::tape::Slots;
use crate::lanes::word::{Word, n_words};
use crate::native::code::{Question, TapeCode};
use crate::native::function::Spill;

/// Number of buffers of finished playouts. Four take about 220 playouts of random lengths before
/// one lane has filled all of them.
const N_BUFFERS: usize = 4;

/// Plays batches of random games in lanes.
pub(crate) struct WideRunner {
    lanes: Width,
}

/// As many lanes as the processor handles at once.
enum Width {
    Four(Box<Lanes<4>>),
    Eight(Box<Lanes<8>>),
}

impl WideRunner {
    pub fn new(tapes: Arc<LaneTapes>, code: Option<Arc<TapeCode>>) -> Self {
        let lanes = match n_words() {
            8 => Width::Eight(Box::new(Lanes::new(tapes, code))),
            _ => Width::Four(Box::new(Lanes::new(tapes, code))),
        };
        Self { lanes }
    }
}

impl WideRunner {
    /// Returns whether playouts can start from a state; true for every reachable state.
    pub fn can_start(&self, state: &BitSet) -> bool {
        let tapes = match &self.lanes {
            Width::Four(lanes) => &lanes.tapes,
            Width::Eight(lanes) => &lanes.tapes,
        };
        tapes.phase_of(state).is_some()
    }
}

impl PlayoutRunner for WideRunner {
    type State = BitSet;

    fn run(
        &mut self,
        request: &PlayoutRequest<'_, BitSet>,
        rng: &mut Rng,
        results: &mut PlayoutResults,
    ) {
        debug_assert!(request.starts.iter().all(|start| self.can_start(start)));
        match &mut self.lanes {
            Width::Four(lanes) => run_four(lanes, request, rng, results),
            Width::Eight(lanes) => run_eight(lanes, request, rng, results),
        }
    }
}

fn run_four(
    lanes: &mut Lanes<4>,
    request: &PlayoutRequest<'_, BitSet>,
    rng: &mut Rng,
    results: &mut PlayoutResults,
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx2")]
        fn with_avx2(
            lanes: &mut Lanes<4>,
            request: &PlayoutRequest<'_, BitSet>,
            rng: &mut Rng,
            results: &mut PlayoutResults,
        ) {
            lanes.run(request, rng, results);
        }
        if is_x86_feature_detected!("avx2") {
            // SAFETY: the check above found these instructions in the processor.
            return unsafe { with_avx2(lanes, request, rng, results) };
        }
    }
    lanes.run(request, rng, results);
}

fn run_eight(
    lanes: &mut Lanes<8>,
    request: &PlayoutRequest<'_, BitSet>,
    rng: &mut Rng,
    results: &mut PlayoutResults,
) {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        fn with_avx512(
            lanes: &mut Lanes<8>,
            request: &PlayoutRequest<'_, BitSet>,
            rng: &mut Rng,
            results: &mut PlayoutResults,
        ) {
            lanes.run(request, rng, results);
        }
        if is_x86_feature_detected!("avx512f") {
            // SAFETY: the check above found these instructions in the processor.
            return unsafe { with_avx512(lanes, request, rng, results) };
        }
    }
    lanes.run(request, rng, results);
}

/// The working memory of all lanes.
struct Lanes<const N: usize> {
    tapes: Arc<LaneTapes>,
    /// The tapes as machine code, if this system can run it.
    code: Option<Arc<TapeCode>>,
    run_tape: RunTape<N>,
    values: Vec<Word<N>>,
    next: Vec<Word<N>>,
    goal_values: Vec<Word<N>>,
    buffers: Vec<Buffer<N>>,
    /// The current playout of each lane.
    tickets: Vec<Ticket>,
    /// For each phase, the draws of all roles.
    draws: Vec<Vec<Draw<N>>>,
    /// Working memory for machine code.
    spills: Vec<Spill>,
}

/// One playout of a lane.
#[derive(Clone, Debug, Default)]
struct Ticket {
    start_idx: usize,
    /// The step at which it began.
    began: u64,
    moves: Vec<MoveId>,
}

/// Finished playouts whose goals are not computed yet, at most one per lane.
struct Buffer<const N: usize> {
    occupied: Word<N>,
    /// The fluents that goals depend on.
    fluents: Vec<Word<N>>,
    tickets: Vec<Ticket>,
    n_steps: Vec<u64>,
}

/// The state of work on a request.
struct Work<'a, 'b> {
    request: &'a PlayoutRequest<'a, BitSet>,
    results: &'b mut PlayoutResults,
    n_jobs: u64,
    /// The next playout of each lane: lanes take turns, so lane `i` gets every `N_LANES`-th
    /// playout.
    next_jobs: Vec<u64>,
    /// The cost of idle lanes since the last refill, in words of a lane.
    idle_cost: usize,
    /// The phase of each start.
    phases: Vec<usize>,
}

impl<const N: usize> Lanes<N> {
    fn new(tapes: Arc<LaneTapes>, code: Option<Arc<TapeCode>>) -> Self {
        let n_lanes = Word::<N>::N_LANES;
        let buffer = || Buffer {
            occupied: Word::ZERO,
            fluents: vec![Word::ZERO; tapes.goals.fluents.len()],
            tickets: vec![Ticket::default(); n_lanes],
            n_steps: vec![0; n_lanes],
        };
        Self {
            run_tape: tape_runner(),
            values: vec![Word::ZERO; tapes.n_values],
            next: Vec::new(),
            goal_values: vec![Word::ZERO; tapes.goals.n_slots],
            buffers: std::iter::repeat_with(buffer).take(N_BUFFERS).collect(),
            tickets: vec![Ticket::default(); n_lanes],
            draws: (tapes.steps.iter())
                .map(|step| step.options.iter().map(|_| Draw::new()).collect())
                .collect(),
            spills: vec![Spill::ZERO; code.as_ref().map_or(0, |code| code.n_spills())],
            tapes,
            code,
        }
    }

    #[inline(always)]
    fn run(
        &mut self,
        request: &PlayoutRequest<'_, BitSet>,
        rng: &mut Rng,
        results: &mut PlayoutResults,
    ) {
        let tapes = Arc::clone(&self.tapes);
        let n_lanes = Word::<N>::N_LANES;
        let n_starts = request.starts.len();
        if results.starts.len() < n_starts {
            results.starts.resize_with(n_starts, Default::default);
        }
        results.starts.iter_mut().for_each(|it| it.goal_sums.resize(tapes.n_roles, 0));
        let phase_of = |start| tapes.phase_of(start).expect("a start is a reachable state");
        let mut work = Work {
            n_jobs: (n_starts as u64).saturating_mul(request.n_per_start as u64),
            next_jobs: (0..n_lanes as u64).collect(),
            idle_cost: 0,
            phases: request.starts.iter().map(phase_of).collect(),
            request,
            results,
        };
        // This only matters if lanes play more than one game.
        let is_some_start_terminal =
            work.n_jobs > n_lanes as u64 && self.is_some_start_terminal(&work);
        let mut rng = WordRng::new(rng);
        // The lanes that play, and those that wait for the phase in which they can begin.
        let (mut active, mut idle) = (Word::ZERO, Word::ONES);
        let mut step = 0;
        while !request.deadline.reached() {
            let phase = (step % tapes.steps.len() as u64) as usize;
            let now = &tapes.steps[phase];
            // Step 1. Begin the playouts that start in this phase.
            self.refill(&mut idle, &mut active, phase, step, &mut work);
            if active.is_zero() {
                if idle.is_zero() {
                    break;
                }
                step += 1;
                continue;
            }

            work.idle_cost += now.cost * idle.count() as usize;

            // Step 2. Park the playouts that are over and begin the next ones.
            self.evaluate_terminal(phase);
            let over = now.terminal.read(&self.values) & active;
            if !over.is_zero() {
                self.park(over, step, &mut work);
                active &= !over;
                idle |= over;
                if now.plays_on_at_once && !is_some_start_terminal {
                    self.refill(&mut idle, &mut active, phase, step, &mut work);
                }
            }

            // Step 3. Draw a legal move for each role.
            self.evaluate_legal(phase);
            let mut stuck = Word::ZERO;
            for (draw, tree) in self.draws[phase].iter_mut().zip(&now.options) {
                stuck |= active & !draw.draw(tree, active, &mut rng, &mut self.values);
            }
            if request.wants_moves {
                self.note_moves(phase);
            }

            // Step 4. Play the moves. Idle lanes may play anything.
            self.evaluate_next(phase);
            for (draw, tree) in self.draws[phase].iter_mut().zip(&now.options) {
                draw.clear(tree, &mut self.values);
            }
            step += 1;

            // Step 5. Abandon playouts that are stuck or too long.
            let over = stuck | self.too_long(active, step, request.max_steps);
            if !over.is_zero() {
                work.results.n_given_up += u64::from(over.count());
                active &= !over;
                idle |= over;
            }
        }
        self.flush(&mut work);
    }

    /// Returns whether a playout may be over before it begins. Then every lane waits for a step in
    /// which that is found out.
    fn is_some_start_terminal(&mut self, work: &Work<'_, '_>) -> bool {
        let tapes = Arc::clone(&self.tapes);
        let n_lanes = Word::<N>::N_LANES;
        let chunks = work.request.starts.chunks(n_lanes).zip(work.phases.chunks(n_lanes));
        chunks.into_iter().any(|(starts, phases)| {
            (0..tapes.steps.len()).filter(|phase| phases.contains(phase)).any(|phase| {
                let here = (0..starts.len()).filter(|&lane| phases[lane] == phase);
                let of_lane = |lane| (Word::<N>::of_lane(lane), &starts[lane]);
                self.set_lanes(here.clone().map(of_lane));
                let lanes = here.fold(Word::ZERO, |lanes, lane| lanes | Word::of_lane(lane));
                self.evaluate_terminal(phase);
                !(tapes.steps[phase].terminal.read(&self.values) & lanes).is_zero()
            })
        })
    }

    /// Evaluates which playouts are over.
    #[inline(always)]
    fn evaluate_terminal(&mut self, phase: usize) {
        let Self { tapes, code, values, spills, .. } = self;
        match code {
            Some(code) if code.run(Question::Terminal(phase), values, spills) => {}
            _ => (self.run_tape)(&tapes.steps[phase].terminal_tape, values),
        }
    }

    /// Evaluates which moves are legal, and counts them.
    #[inline(always)]
    fn evaluate_legal(&mut self, phase: usize) {
        let Self { tapes, code, values, spills, .. } = self;
        match code {
            Some(code) if code.run(Question::Legal(phase), values, spills) => {}
            _ => {
                (self.run_tape)(&tapes.steps[phase].legal_tape, values);
                // A closure would not be compiled for this processor.
                for tree in &tapes.steps[phase].options {
                    count_options(tree, values);
                }
            }
        }
    }

    /// Evaluates the next state and makes it the current one.
    #[inline(always)]
    fn evaluate_next(&mut self, phase: usize) {
        let Self { tapes, code, values, spills, .. } = self;
        match code {
            Some(code) if code.run(Question::Next(phase), values, spills) => {}
            _ => {
                (self.run_tape)(&tapes.steps[phase].next_tape, values);
                tapes.steps[phase].next.run(self.run_tape, values, &mut self.next);
            }
        }
    }

    /// Writes states into lanes, each into its own.
    #[inline(always)]
    fn set_lanes<'s>(&mut self, states: impl Iterator<Item = (Word<N>, &'s BitSet)> + Clone) {
        let fluents = &mut self.values[Slots::FIRST_FLUENT as usize..][..self.tapes.n_fluents];
        let all = states.clone().fold(Word::ZERO, |all, (lanes, _)| all | lanes);
        for fluent in fluents.iter_mut() {
            *fluent &= !all;
        }
        for (lanes, state) in states {
            for idx in state.iter() {
                fluents[idx] |= lanes;
            }
        }
    }

    /// Gives idle lanes their next playouts if those begin in this phase. Lanes without further
    /// playouts are no longer idle.
    #[inline(always)]
    fn refill(
        &mut self,
        idle: &mut Word<N>,
        active: &mut Word<N>,
        phase: usize,
        step: u64,
        work: &mut Work<'_, '_>,
    ) {
        let has_one_start = work.request.starts.len() == 1;
        if idle.is_zero() || has_one_start && work.phases[0] != phase {
            return;
        }
        // A refill writes all fluents, whether for one lane or for many. It waits until idle lanes
        // have cost as much as the refill will.
        let is_worth_it = work.idle_cost >= 2 * self.tapes.n_fluents * Word::<N>::N_LANES;
        if has_one_start && !active.is_zero() && !is_worth_it {
            return;
        }
        work.idle_cost = 0;
        let n_starts = work.request.starts.len() as u64;
        let mut filled = Word::ZERO;
        for lane in idle.lanes() {
            let job = work.next_jobs[lane];
            let start_idx = (job % n_starts) as usize;
            if job >= work.n_jobs {
                idle.set(lane, false);
            } else if work.phases[start_idx] == phase {
                work.next_jobs[lane] += Word::<N>::N_LANES as u64;
                let ticket = &mut self.tickets[lane];
                ticket.start_idx = start_idx;
                ticket.began = step;
                ticket.moves.clear();
                filled.set(lane, true);
            }
        }
        if filled.is_zero() {
            return;
        }
        *idle &= !filled;
        *active |= filled;
        if let [start] = work.request.starts {
            self.set_lanes(std::iter::once((filled, start)));
            return;
        }
        // Lanes with the same start are written together.
        let mut by_start: Vec<(usize, usize)> =
            filled.lanes().map(|lane| (self.tickets[lane].start_idx, lane)).collect();
        by_start.sort_unstable();
        let groups = by_start.chunk_by(|a, b| a.0 == b.0).map(|group| {
            let lanes = group.iter().map(|&(_, lane)| Word::of_lane(lane));
            (lanes.fold(Word::ZERO, |all, lane| all | lane), &work.request.starts[group[0].0])
        });
        self.set_lanes(groups);
    }

    /// Stores the fluents that the goals of finished playouts depend on.
    #[inline(always)]
    fn park(&mut self, mut lanes: Word<N>, step: u64, work: &mut Work<'_, '_>) {
        while !lanes.is_zero() {
            let Some(buffer) =
                self.buffers.iter_mut().find(|buffer| !(lanes & !buffer.occupied).is_zero())
            else {
                self.flush(work);
                continue;
            };
            let taken = lanes & !buffer.occupied;
            let fluents = &self.values[Slots::FIRST_FLUENT as usize..][..self.tapes.n_fluents];
            for (kept, &idx) in buffer.fluents.iter_mut().zip(&self.tapes.goals.fluents) {
                *kept = kept.merged(fluents[idx], taken);
            }
            for lane in taken.lanes() {
                buffer.n_steps[lane] = step - self.tickets[lane].began;
                std::mem::swap(&mut buffer.tickets[lane], &mut self.tickets[lane]);
            }
            buffer.occupied |= taken;
            lanes &= !taken;
        }
    }

    /// Evaluates the goals of all finished playouts and reports them.
    fn flush(&mut self, work: &mut Work<'_, '_>) {
        let tapes = Arc::clone(&self.tapes);
        for buffer in &mut self.buffers {
            if buffer.occupied.is_zero() {
                continue;
            }
            for (kept, &idx) in buffer.fluents.iter().zip(&tapes.goals.fluents) {
                self.goal_values[Slots::FIRST_FLUENT as usize + idx] = *kept;
            }
            match &self.code {
                Some(code)
                    if code.run(Question::Goals, &mut self.goal_values, &mut self.spills) => {}
                _ => (self.run_tape)(&tapes.goals.tape, &mut self.goal_values),
            }
            report(&tapes, buffer, &self.goal_values, work);
            buffer.occupied = Word::ZERO;
        }
    }

    /// Records the moves that were drawn.
    fn note_moves(&mut self, phase: usize) {
        let first_move = Slots::FIRST_FLUENT as usize + self.tapes.n_fluents;
        let trees = &self.tapes.steps[phase].options;
        let drawn = self.draws[phase].iter().zip(trees).flat_map(|(draw, tree)| draw.drawn(tree));
        for option in drawn {
            for lane in self.values[option.target as usize].lanes() {
                let played = MoveId::new(option.target as usize - first_move);
                self.tickets[lane].moves.push(played);
            }
        }
    }

    /// Returns the lanes whose playouts have lasted too long.
    fn too_long(&self, active: Word<N>, step: u64, max_steps: usize) -> Word<N> {
        let mut lanes = Word::ZERO;
        if step > max_steps as u64 {
            for lane in active.lanes() {
                lanes.set(lane, step - self.tickets[lane].began > max_steps as u64);
            }
        }
        lanes
    }
}

/// Adds the playouts of a buffer to the results.
fn report<const N: usize>(
    tapes: &LaneTapes,
    buffer: &mut Buffer<N>,
    goal_values: &[Word<N>],
    work: &mut Work<'_, '_>,
) {
    let first_game = work.results.games.len();
    let mut game_of = [0; 512];
    for lane in buffer.occupied.lanes() {
        let ticket = &mut buffer.tickets[lane];
        let sums = &mut work.results.starts[ticket.start_idx];
        sums.n_playouts += 1;
        sums.n_steps += buffer.n_steps[lane];
        if work.request.wants_moves {
            game_of[lane] = work.results.games.len();
            work.results.games.push(PlayedGame {
                start_idx: ticket.start_idx,
                moves: std::mem::take(&mut ticket.moves),
                goals: vec![0; tapes.n_roles],
            });
        }
    }
    let has_games = work.results.games.len() > first_game;
    let has_one_start = work.request.starts.len() == 1;
    for role in (0..tapes.n_roles).map(RoleId::new) {
        let mut open = buffer.occupied;
        for &(of, value, signal) in &tapes.goals.values {
            if of != role || value == 0 {
                continue;
            }
            let lanes = signal.read(goal_values) & open;
            open &= !lanes;
            if has_one_start {
                work.results.starts[0].goal_sums[role.index()] +=
                    u64::from(value) * u64::from(lanes.count());
            } else {
                for lane in lanes.lanes() {
                    let start_idx = buffer.tickets[lane].start_idx;
                    work.results.starts[start_idx].goal_sums[role.index()] += u64::from(value);
                }
            }
            if has_games {
                for lane in lanes.lanes() {
                    work.results.games[game_of[lane]].goals[role.index()] = value;
                }
            }
        }
    }
}
