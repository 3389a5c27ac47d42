//! Many playouts at once: a lane of every word is one playout.
//!
//! A step evaluates the circuit once for all lanes, options a legal move per role and lane, and
//! evaluates the next state. A lane that reaches the end of its playout is *parked*: what the goals
//! depend on is kept in a buffer, and the lane starts its next playout at once. Goals are evaluated
//! when a buffer is full, for many playouts together.
//!
//! The playouts of a request are dealt to the lanes beforehand, so that a lane with short games does
//! not play more of them: what is counted does not depend on how long games take.

use std::sync::Arc;

use ludex_base::{BitSet, MoveId, Rng, RoleId};
use ludex_circuit::{Circuit, Gate, GateId};
use ludex_game::playouts::PlayedGame;
use ludex_game::{PlayoutRequest, PlayoutResults, PlayoutRunner};

use crate::draw::{Draw, DrawOption, WordRng};
use crate::tape::{Signal, Slots, Tape};
use crate::word::Word;

/// Re-evaluating gates after a refill is worth it up to this share of the whole.
const MAX_REPEATED_SHARE: f64 = 0.1;

/// How many buffers of finished playouts there are. Four take about 220 playouts of random lengths
/// before one lane has filled all of them.
const N_BUFFERS: usize = 4;

/// A circuit prepared for lanes, whatever their number.
#[derive(Debug)]
pub(crate) struct WidePlan {
    n_slots: usize,
    n_fluents: usize,
    n_roles: usize,
    /// Whether the playout is over.
    terminal_tape: Tape,
    terminal: Signal,
    /// Which moves are legal.
    legal_tape: Tape,
    /// The moves of each role to draw from.
    options: Vec<Vec<DrawOption>>,
    /// What is true next.
    next_tape: Tape,
    next: Vec<Signal>,
    /// Whether `legal_tape` and `next_tape` need nothing of `terminal_tape`, so that lanes refilled in
    /// between can play on at once. Otherwise they wait for the next step.
    plays_on_at_once: bool,

    /// The goals, on slots of their own.
    goal_tape: Tape,
    n_goal_slots: usize,
    /// Sorted by role, the largest value first.
    goals: Vec<(RoleId, u8, Signal)>,
    /// The fluents that goals depend on.
    goal_fluents: Vec<usize>,
}

impl WidePlan {
    pub fn new(circuit: &Circuit) -> Self {
        let legal = || circuit.legal.iter().copied();
        let next = || circuit.next.iter().copied();
        let n_roles = circuit.n_roles();

        // First as if refilled lanes played on at once: the gates of `terminal` that others need are
        // evaluated again.
        let inputs = Slots::new(circuit);
        let mut terminal_slots = inputs.clone();
        let terminal_tape = Tape::new(circuit, [circuit.terminal], &mut terminal_slots);
        let mut slots = inputs.clone();
        let (legal_tape, options) = legal_tape(circuit, &mut slots);
        let next_tape = Tape::new(circuit, next(), &mut slots);
        let mut shared = terminal_slots.clone();
        let n_beyond = Tape::new(circuit, legal(), &mut shared).n_reads()
            + Tape::new(circuit, next(), &mut shared).n_reads();
        let n_repeating = legal_tape.n_reads() + next_tape.n_reads();
        let n_all = terminal_tape.n_reads() + n_beyond;
        let plays_on_at_once = (n_repeating - n_beyond) as f64 <= MAX_REPEATED_SHARE * n_all as f64;

        let terminal = terminal_slots.signal(circuit.terminal);
        let (legal_tape, options, next_tape, slots, n_slots) = if plays_on_at_once {
            let n_slots = slots.len().max(terminal_slots.len());
            (legal_tape, options, next_tape, slots, n_slots)
        } else {
            let mut slots = terminal_slots;
            let (legal_tape, options) = self::legal_tape(circuit, &mut slots);
            let next_tape = Tape::new(circuit, next(), &mut slots);
            let n_slots = slots.len();
            (legal_tape, options, next_tape, slots, n_slots)
        };
        let signals = |ids: &[GateId]| ids.iter().map(|&id| slots.signal(id)).collect();

        let mut goal_slots = inputs;
        let goal_gates = || circuit.goals.iter().map(|&(_, _, id)| id);
        let goal_tape = Tape::new(circuit, goal_gates(), &mut goal_slots);
        let is_for_goals = circuit.cone(goal_gates());
        let goal_fluents = circuit
            .gate_ids()
            .filter(|id| is_for_goals[id.index()])
            .filter_map(|id| match circuit.gate(id) {
                Gate::Fluent(fluent) => Some(fluent.index()),
                _ => None,
            })
            .collect();
        let mut goals: Vec<(RoleId, u8, Signal)> = circuit
            .goals
            .iter()
            .map(|&(role, goal, id)| (role, goal.value(), goal_slots.signal(id)))
            .collect();
        goals.sort_by_key(|&(role, value, _)| (role, std::cmp::Reverse(value)));
        Self {
            n_slots,
            n_fluents: circuit.vocabulary.fluents.len(),
            n_roles,
            terminal_tape,
            terminal,
            legal_tape,
            options,
            next_tape,
            next: signals(&circuit.next),
            plays_on_at_once,
            goal_tape,
            n_goal_slots: goal_slots.len(),
            goals,
            goal_fluents,
        }
    }

    fn n_roles(&self) -> usize {
        self.n_roles
    }
}

/// The tape for the legal moves, and the moves of each role to draw from.
fn legal_tape(circuit: &Circuit, slots: &mut Slots) -> (Tape, Vec<Vec<DrawOption>>) {
    let mut tape = Tape::new(circuit, circuit.legal.iter().copied(), slots);
    let mut options = vec![Vec::new(); circuit.n_roles()];
    let first_move = Slots::FIRST_FLUENT as usize + circuit.vocabulary.fluents.len();
    for (idx, (&id, (role, _))) in circuit.legal.iter().zip(&circuit.vocabulary.moves).enumerate() {
        if circuit.gate(id) != Gate::Constant(false) {
            let source = tape.plain_slot(id, slots);
            options[role.index()].push(DrawOption { source, target: (first_move + idx) as u32 });
        }
    }
    (tape, options)
}

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
    pub fn new(plan: Arc<WidePlan>) -> Self {
        let lanes = if has_avx512() {
            Width::Eight(Box::new(Lanes::new(plan)))
        } else {
            Width::Four(Box::new(Lanes::new(plan)))
        };
        Self { lanes }
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
        match &mut self.lanes {
            Width::Four(lanes) => run_four(lanes, request, rng, results),
            Width::Eight(lanes) => run_eight(lanes, request, rng, results),
        }
    }
}

#[cfg(target_arch = "x86_64")]
fn has_avx512() -> bool {
    is_x86_feature_detected!("avx512f")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_avx512() -> bool {
    false
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
            // SAFETY: the processor has the instructions, as was just asked.
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
        if has_avx512() {
            // SAFETY: the processor has the instructions, as was just asked.
            return unsafe { with_avx512(lanes, request, rng, results) };
        }
    }
    lanes.run(request, rng, results);
}

/// The working memory of all lanes.
struct Lanes<const N: usize> {
    plan: Arc<WidePlan>,
    values: Vec<Word<N>>,
    next: Vec<Word<N>>,
    goal_values: Vec<Word<N>>,
    buffers: Vec<Buffer<N>>,
    /// What each lane is playing.
    tickets: Vec<Ticket>,
    draws: Vec<Draw<N>>,
}

/// One playout of a lane.
#[derive(Clone, Debug, Default)]
struct Ticket {
    start_idx: usize,
    /// The step at which it began.
    began: u64,
    moves: Vec<MoveId>,
}

/// Finished playouts whose goals are not known yet, at most one a lane.
struct Buffer<const N: usize> {
    occupied: Word<N>,
    /// The fluents that goals depend on.
    fluents: Vec<Word<N>>,
    tickets: Vec<Ticket>,
    n_steps: Vec<u64>,
}

/// A request as the lanes work on it.
struct Work<'a, 'b> {
    request: &'a PlayoutRequest<'a, BitSet>,
    results: &'b mut PlayoutResults,
    n_jobs: u64,
    /// The next playout of each lane: they are dealt like cards.
    next_jobs: Vec<u64>,
}

impl<const N: usize> Lanes<N> {
    fn new(plan: Arc<WidePlan>) -> Self {
        let n_lanes = Word::<N>::N_LANES;
        let buffer = || Buffer {
            occupied: Word::ZERO,
            fluents: vec![Word::ZERO; plan.goal_fluents.len()],
            tickets: vec![Ticket::default(); n_lanes],
            n_steps: vec![0; n_lanes],
        };
        Self {
            values: vec![Word::ZERO; plan.n_slots],
            next: vec![Word::ZERO; plan.n_fluents],
            goal_values: vec![Word::ZERO; plan.n_goal_slots],
            buffers: std::iter::repeat_with(buffer).take(N_BUFFERS).collect(),
            tickets: vec![Ticket::default(); n_lanes],
            draws: plan.options.iter().map(|options| Draw::new(options)).collect(),
            plan,
        }
    }

    #[inline(always)]
    fn run(
        &mut self,
        request: &PlayoutRequest<'_, BitSet>,
        rng: &mut Rng,
        results: &mut PlayoutResults,
    ) {
        let plan = Arc::clone(&self.plan);
        let n_lanes = Word::<N>::N_LANES;
        let n_starts = request.starts.len();
        if results.starts.len() < n_starts {
            results.starts.resize_with(n_starts, Default::default);
        }
        results.starts.iter_mut().for_each(|it| it.goal_sums.resize(plan.n_roles(), 0));
        let mut work = Work {
            n_jobs: (n_starts as u64).saturating_mul(request.n_per_start as u64),
            next_jobs: (0..n_lanes as u64).collect(),
            request,
            results,
        };
        let plays_on_at_once =
            plan.plays_on_at_once && !self.is_some_start_terminal(request.starts);
        let mut rng = WordRng::new(rng);
        let mut active = Word::ZERO;
        let mut step = 0;
        self.refill(Word::ONES, &mut active, step, &mut work);
        while !active.is_zero() {
            if request.deadline.reached() {
                break;
            }
            // Step 1. Which playouts are over? Park them and begin the next ones.
            plan.terminal_tape.run(&mut self.values);
            let mut over = plan.terminal.read(&self.values) & active;
            let mut playing = active;
            if !over.is_zero() {
                self.park(over, step, &mut work);
                let begin = if plays_on_at_once { step } else { step + 1 };
                self.refill(over, &mut active, begin, &mut work);
                playing = if plays_on_at_once { active } else { active & !over };
            }

            // Step 2. Draw a legal move for each role.
            plan.legal_tape.run(&mut self.values);
            let mut stuck = Word::ZERO;
            for draw in &mut self.draws {
                stuck |= playing & !draw.draw(playing, &mut rng, &mut self.values);
            }
            if request.wants_moves {
                self.note_moves();
            }

            // Step 3. Play them.
            plan.next_tape.run(&mut self.values);
            for (next, signal) in self.next.iter_mut().zip(&plan.next) {
                *next = signal.read(&self.values);
            }
            let fluents = &mut self.values[Slots::FIRST_FLUENT as usize..][..plan.n_fluents];
            if playing == Word::ONES {
                fluents.copy_from_slice(&self.next);
            } else {
                for (fluent, next) in fluents.iter_mut().zip(&self.next) {
                    *fluent = fluent.merged(*next, playing);
                }
            }
            step += 1;

            // Step 4. Give up what can't or won't end.
            over = stuck | self.too_long(active, step, request.max_steps);
            if !over.is_zero() {
                work.results.n_given_up += u64::from(over.count());
                self.refill(over, &mut active, step, &mut work);
            }
        }
        self.flush(&mut work);
    }

    /// Whether a playout may be over before it begins. Then every refilled lane waits for a step in
    /// which that is found out.
    fn is_some_start_terminal(&mut self, starts: &[BitSet]) -> bool {
        starts.chunks(Word::<N>::N_LANES).any(|chunk| {
            let fluents = &mut self.values[Slots::FIRST_FLUENT as usize..][..self.plan.n_fluents];
            for (idx, fluent) in fluents.iter_mut().enumerate() {
                for lane in 0..Word::<N>::N_LANES {
                    fluent.set(lane, chunk[lane.min(chunk.len() - 1)].contains(idx));
                }
            }
            self.plan.terminal_tape.run(&mut self.values);
            !self.plan.terminal.read(&self.values).is_zero()
        })
    }

    /// Gives the lanes their next playouts; those without become inactive.
    fn refill(&mut self, lanes: Word<N>, active: &mut Word<N>, step: u64, work: &mut Work<'_, '_>) {
        let n_starts = work.request.starts.len() as u64;
        let mut filled = Word::ZERO;
        for lane in lanes.lanes() {
            let job = work.next_jobs[lane];
            let has_job = job < work.n_jobs;
            active.set(lane, has_job);
            if has_job {
                work.next_jobs[lane] += Word::<N>::N_LANES as u64;
                let ticket = &mut self.tickets[lane];
                ticket.start_idx = (job % n_starts) as usize;
                ticket.began = step;
                ticket.moves.clear();
                filled.set(lane, true);
            }
        }
        let fluents = &mut self.values[Slots::FIRST_FLUENT as usize..][..self.plan.n_fluents];
        if let [start] = work.request.starts {
            for (idx, fluent) in fluents.iter_mut().enumerate() {
                *fluent = fluent.merged(Word::splat(start.contains(idx)), filled);
            }
        } else {
            for lane in filled.lanes() {
                let start = &work.request.starts[self.tickets[lane].start_idx];
                for (idx, fluent) in fluents.iter_mut().enumerate() {
                    fluent.set(lane, start.contains(idx));
                }
            }
        }
    }

    /// Keeps what the goals of finished playouts depend on.
    fn park(&mut self, mut lanes: Word<N>, step: u64, work: &mut Work<'_, '_>) {
        while !lanes.is_zero() {
            let Some(buffer) =
                self.buffers.iter_mut().find(|buffer| !(lanes & !buffer.occupied).is_zero())
            else {
                self.flush(work);
                continue;
            };
            let taken = lanes & !buffer.occupied;
            let fluents = &self.values[Slots::FIRST_FLUENT as usize..][..self.plan.n_fluents];
            for (kept, &idx) in buffer.fluents.iter_mut().zip(&self.plan.goal_fluents) {
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
        let plan = Arc::clone(&self.plan);
        for buffer in &mut self.buffers {
            if buffer.occupied.is_zero() {
                continue;
            }
            for (kept, &idx) in buffer.fluents.iter().zip(&plan.goal_fluents) {
                self.goal_values[Slots::FIRST_FLUENT as usize + idx] = *kept;
            }
            plan.goal_tape.run(&mut self.goal_values);
            report(&plan, buffer, &self.goal_values, work);
            buffer.occupied = Word::ZERO;
        }
    }

    /// Writes down the moves that were drawn.
    fn note_moves(&mut self) {
        let first_move = Slots::FIRST_FLUENT as usize + self.plan.n_fluents;
        for option in self.draws.iter().flat_map(Draw::drawn) {
            for lane in self.values[option.target as usize].lanes() {
                let played = MoveId::new(option.target as usize - first_move);
                self.tickets[lane].moves.push(played);
            }
        }
    }

    /// The lanes whose playouts have lasted too long.
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
    plan: &WidePlan,
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
                goals: vec![0; plan.n_roles()],
            });
        }
    }
    let has_games = work.results.games.len() > first_game;
    let has_one_start = work.request.starts.len() == 1;
    for role in (0..plan.n_roles()).map(RoleId::new) {
        let mut open = buffer.occupied;
        for &(of, value, signal) in &plan.goals {
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
