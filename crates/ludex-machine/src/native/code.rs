//! The tapes of a step as functions in machine code.

use crate::lanes::options::{BLOCK_BITS, Block, NO_OPTION, OptionTree};
use crate::lanes::step_tapes::{LaneTapes, StepTapes};
use crate::lanes::tape::Tape;
use crate::lanes::word::Word;
use crate::native::emit::{Emitted, emit};
use crate::native::function::{Native, Spill};
use crate::native::straight::{Join, StraightMaker, Value};

/// The machine code of all tapes.
#[derive(Debug)]
pub(crate) struct TapeCode {
    native: Native,
    /// For each phase: the answers to `Terminal`, `Legal` and `Next`.
    steps: Vec<[Answer; 3]>,
    goals: Answer,
}

/// A question in a phase of the game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Question {
    Terminal(usize),
    /// Also counts the options.
    Legal(usize),
    /// Also makes the next state the current one.
    Next(usize),
    Goals,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Answer {
    /// The function with this index answers.
    Function(usize),
    /// The answer to the question before includes this one.
    Known,
    /// The gates have loops, so the tape is interpreted.
    OnTape,
}

impl TapeCode {
    /// Makes the code for words of `n_words` times 64 bits; `None` if this processor can't run it.
    pub fn new(tapes: &LaneTapes, n_words: usize) -> Option<Self> {
        let LaneTapes { steps, goals, n_values, .. } = tapes;
        let mut functions = Functions { emitted: Vec::new(), slot_bytes: 8 * n_words };
        let steps = steps.iter().map(|step| functions.add_step(step, *n_values)).collect();
        let goals = functions.add(&[&goals.tape], goals.n_slots, |maker| {
            goals.values.iter().for_each(|(_, _, signal)| _ = maker.value(signal.slot));
        });
        Some(Self { native: Native::new(&functions.emitted)?, steps, goals })
    }

    /// Returns the size of the code.
    pub fn n_bytes(&self) -> usize {
        self.native.n_bytes()
    }

    /// Returns how much working memory the code needs.
    pub fn n_spills(&self) -> usize {
        self.native.n_spills()
    }

    /// Answers a question; returns false if the tape must be interpreted instead.
    #[inline(always)]
    pub fn run<const N: usize>(
        &self,
        question: Question,
        values: &mut [Word<N>],
        spills: &mut [Spill],
    ) -> bool {
        let answer = match question {
            Question::Terminal(phase) => self.steps[phase][0],
            Question::Legal(phase) => self.steps[phase][1],
            Question::Next(phase) => self.steps[phase][2],
            Question::Goals => self.goals,
        };
        match answer {
            Answer::Function(function) => self.native.run(function, values, spills),
            Answer::Known => {}
            Answer::OnTape => return false,
        }
        true
    }
}

/// The functions made so far.
struct Functions {
    emitted: Vec<Emitted>,
    slot_bytes: usize,
}

impl Functions {
    /// Adds a function that evaluates what `want` asks of some tapes.
    fn add(
        &mut self,
        tapes: &[&Tape],
        n_slots: usize,
        want: impl FnOnce(&mut StraightMaker),
    ) -> Answer {
        if tapes.iter().any(|tape| tape.has_loops()) {
            return Answer::OnTape;
        }
        let mut maker = StraightMaker::new(n_slots);
        tapes.iter().for_each(|tape| maker.add(tape));
        want(&mut maker);
        self.emitted.push(emit(&maker.finish(), self.slot_bytes));
        Answer::Function(self.emitted.len() - 1)
    }

    fn add_step(&mut self, step: &StepTapes, n_values: usize) -> [Answer; 3] {
        let StepTapes { terminal_tape, legal_tape, next_tape, next, .. } = step;
        let mut read_next = vec![false; n_values];
        next_tape.mark_reads(&mut read_next);
        next.in_place.mark_reads(&mut read_next);
        next.from_gates.iter().for_each(|(_, signal)| read_next[signal.slot as usize] = true);
        let mut read_legal = read_next.clone();
        legal_tape.mark_reads(&mut read_legal);
        step.options
            .iter()
            .flat_map(OptionTree::sources)
            .for_each(|it| read_legal[it as usize] = true);

        let want_legal = |maker: &mut StraightMaker| {
            step.options.iter().for_each(|tree| count_options(maker, tree));
            want_read(maker, &read_next);
        };
        let want_next = |maker: &mut StraightMaker| {
            next.from_gates.iter().for_each(|&(slot, signal)| maker.want(slot, signal));
            maker.want_targets(&next.in_place);
            next.from_inputs.iter().for_each(|&(slot, signal)| maker.want(slot, signal));
        };
        let next = self.add(&[next_tape], n_values, want_next);
        // If both questions need the same gates, the first function answers both.
        let tapes = [terminal_tape, legal_tape];
        if !step.plays_on_at_once && !tapes.iter().any(|tape| tape.has_loops()) {
            let terminal = self.add(&tapes, n_values, |maker| {
                want_legal(maker);
                maker.value(step.terminal.slot);
            });
            return [terminal, Answer::Known, next];
        }
        let terminal = self.add(&[terminal_tape], n_values, |maker| {
            maker.value(step.terminal.slot);
            if !step.plays_on_at_once {
                want_read(maker, &read_legal);
            }
        });
        let legal = self.add(&[legal_tape], n_values, want_legal);
        [terminal, legal, next]
    }
}

/// Makes the function write all slots that are read later.
fn want_read(maker: &mut StraightMaker, is_read: &[bool]) {
    for slot in (0..is_read.len()).filter(|&slot| is_read[slot]) {
        if maker.is_made(slot as u32) {
            maker.value(slot as u32);
        }
    }
}

/// Counts the options as `draw::count_options` does, but omits counts that are not read later.
fn count_options(maker: &mut StraightMaker, tree: &OptionTree) {
    if let Some(option) = tree.only_option() {
        maker.value(option.source);
        return;
    }
    // By level, the count of a left child that waits for its right sibling.
    let mut left: Vec<Option<Vec<Bit>>> = vec![None; tree.levels.len()];
    for (idx, block) in tree.blocks.iter().enumerate() {
        let count = count_block(maker, block);
        add_count(maker, tree, &mut left, 0, idx, count);
    }
    let mut n_nodes = tree.blocks.len();
    for level in 0..tree.levels.len() - 1 {
        if n_nodes % 2 == 1 {
            let nothing = vec![None; BLOCK_BITS + level];
            add_count(maker, tree, &mut left, level, n_nodes, nothing);
        }
        n_nodes = n_nodes.div_ceil(2);
    }
}

/// A bit of a bit-sliced number; `None` if it is zero in all lanes.
type Bit = Option<Value>;

/// Adds the count of a node to that of its parent, and so on up the tree.
fn add_count(
    maker: &mut StraightMaker,
    tree: &OptionTree,
    left: &mut [Option<Vec<Bit>>],
    mut level: usize,
    mut idx: usize,
    mut count: Vec<Bit>,
) {
    loop {
        let is_root = level + 1 == tree.levels.len();
        if is_root || idx.is_multiple_of(2) {
            let first = tree.levels[level].start + idx * count.len();
            for (bit, value) in count.iter().enumerate() {
                value.iter().for_each(|&value| maker.store((first + bit) as u32, value));
            }
            left[level] = Some(count);
            return;
        }
        let other = left[level].take().expect("a right child follows its left sibling");
        count = add(maker, &other, &count, None);
        (level, idx) = (level + 1, idx / 2);
    }
}

fn count_block(maker: &mut StraightMaker, block: &Block) -> Vec<Bit> {
    fn option(maker: &mut StraightMaker, block: &Block, idx: usize) -> Bit {
        (block[idx] != NO_OPTION).then(|| maker.value(block[idx].source))
    }
    /// Counts the options below a node; leaves are level 0.
    fn node(maker: &mut StraightMaker, block: &Block, level: usize, idx: usize) -> Vec<Bit> {
        let own = option(maker, block, [0, 8, 12, 14][level] + idx);
        if level == 0 {
            return vec![own];
        }
        let left = node(maker, block, level - 1, 2 * idx);
        let right = node(maker, block, level - 1, 2 * idx + 1);
        add(maker, &left, &right, own)
    }
    node(maker, block, 3, 0)
}

/// Adds two numbers and a carry.
fn add(maker: &mut StraightMaker, a: &[Bit], b: &[Bit], mut carry: Bit) -> Vec<Bit> {
    let mut sum = Vec::with_capacity(a.len() + 1);
    for (&a, &b) in a.iter().zip(b) {
        let (either, both) = add_bits(maker, a, b);
        let (bit, rest) = add_bits(maker, either, carry);
        sum.push(bit);
        carry = match (both, rest) {
            (Some(both), Some(rest)) => Some(maker.join(Join::Or, both, rest)),
            (both, rest) => both.or(rest),
        };
    }
    sum.push(carry);
    sum
}

/// Adds two bits; returns the sum and the carry.
fn add_bits(maker: &mut StraightMaker, a: Bit, b: Bit) -> (Bit, Bit) {
    match (a, b) {
        (Some(a), Some(b)) => {
            (Some(maker.join(Join::Xor, a, b)), Some(maker.join(Join::And, a, b)))
        }
        (a, b) => (a.or(b), None),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use ludex_base::{Deadline, Pace, Seed};
    use ludex_game::playouts::PlayedGame;
    use ludex_game::{PlayoutRequest, PlayoutResults, PlayoutRunner as _};
    use ludex_testkit::corpus;
    use ludex_testkit::fixtures::shared_or_skip;

    use super::*;
    use crate::lanes::draw;
    use crate::lanes::run::tape_runner;
    use crate::lanes::word::n_words;
    use crate::tests::{circuit, library, named};
    use crate::wide::WideRunner;

    /// Evaluates random words by tapes and by machine code for several steps of every phase, and
    /// compares the answers. Returns whether there was a function; there is none on systems that
    /// can't run any.
    fn check<const N: usize>(name: &str, tapes: &LaneTapes) -> bool {
        let Some(code) = TapeCode::new(tapes, N) else { return false };
        let run_tape = tape_runner::<N>();
        let mut rng = Seed(5).rng();
        let mut random = || Word::<N>(std::array::from_fn(|_| rng.next_u64()));
        let mut spills = vec![Spill::ZERO; code.n_spills()];
        let (mut buffer, mut n_functions) = (Vec::new(), 0);
        for (phase, step) in tapes.steps.iter().enumerate() {
            let n_counts: usize =
                step.options.iter().map(|tree| tree.end() - tree.levels[0].start).sum();
            let first_count = step.options[0].levels[0].start;
            let mut by_tape: Vec<Word<N>> = (0..tapes.n_values).map(|_| random()).collect();
            by_tape[0] = Word::ZERO;
            by_tape[first_count..][..n_counts].fill(Word::ZERO);
            let mut by_code = by_tape.clone();
            for round in 0..3 {
                let place = format!("{name}, phase {phase}, round {round}");
                run_tape(&step.terminal_tape, &mut by_tape);
                if code.run(Question::Terminal(phase), &mut by_code, &mut spills) {
                    n_functions += 1;
                } else {
                    run_tape(&step.terminal_tape, &mut by_code);
                }
                let is_over = step.terminal.read(&by_tape);
                assert!(step.terminal.read(&by_code) == is_over, "{place}: terminal");

                run_tape(&step.legal_tape, &mut by_tape);
                step.options.iter().for_each(|tree| draw::count_options(tree, &mut by_tape));
                if !code.run(Question::Legal(phase), &mut by_code, &mut spills) {
                    run_tape(&step.legal_tape, &mut by_code);
                    step.options.iter().for_each(|tree| draw::count_options(tree, &mut by_code));
                }
                for tree in &step.options {
                    for slot in tree.sources().map(|slot| slot as usize) {
                        assert!(by_tape[slot] == by_code[slot], "{place}: option in slot {slot}");
                    }
                    for (level, slots) in tree.levels.iter().enumerate() {
                        // The counts of right children are not needed.
                        for first in slots.clone().step_by(2 * (BLOCK_BITS + level)) {
                            let count = first..first + BLOCK_BITS + level;
                            assert!(by_tape[count.clone()] == by_code[count], "{place}: counts");
                        }
                    }
                }

                run_tape(&step.next_tape, &mut by_tape);
                step.next.run(run_tape, &mut by_tape, &mut buffer);
                if !code.run(Question::Next(phase), &mut by_code, &mut spills) {
                    run_tape(&step.next_tape, &mut by_code);
                    step.next.run(run_tape, &mut by_code, &mut buffer);
                }
                let n_inputs = 1 + tapes.n_fluents;
                assert!(by_tape[..n_inputs] == by_code[..n_inputs], "{place}: next");
            }
        }
        let mut by_tape: Vec<Word<N>> = (0..tapes.goals.n_slots).map(|_| random()).collect();
        by_tape[0] = Word::ZERO;
        let mut by_code = by_tape.clone();
        run_tape(&tapes.goals.tape, &mut by_tape);
        if !code.run(Question::Goals, &mut by_code, &mut spills) {
            run_tape(&tapes.goals.tape, &mut by_code);
        }
        for (role, value, signal) in &tapes.goals.values {
            let agrees = signal.read(&by_tape) == signal.read(&by_code);
            assert!(agrees, "{name}: goal {value} of role {}", role.index());
        }
        n_functions > 0
    }

    #[test]
    fn lanes_play_the_same_games_with_and_without_machine_code() {
        for (name, rules) in library() {
            let circuit = circuit(&rules).optimized();
            let tapes =
                Arc::new(LaneTapes::new(&circuit, &Pace::unlimited()).expect("nothing stops it"));
            let code = TapeCode::new(&tapes, n_words()).map(Arc::new);
            let play = |code| {
                let request = PlayoutRequest {
                    starts: std::slice::from_ref(&circuit.init),
                    n_per_start: 600,
                    max_steps: 10_000,
                    wants_moves: true,
                    deadline: &Deadline::never(),
                };
                let mut results = PlayoutResults::default();
                let mut runner = WideRunner::new(Arc::clone(&tapes), code);
                runner.run(&request, &mut Seed(3).rng(), &mut results);
                let played = |game: PlayedGame| (game.start_idx, game.moves, game.goals);
                results.games.into_iter().map(played).collect::<Vec<_>>()
            };
            assert!(play(code) == play(None), "{name}");
        }
    }

    #[test]
    fn machine_code_and_tape_make_the_same_words() {
        let mut games = library();
        let mut min_with_functions = 25;
        if let Some(shared) = shared_or_skip("machine code of public rulesheets") {
            // Every tenth that is not large.
            let public = named(corpus(&shared)).step_by(10);
            games.extend(public.filter(|(_, rules)| rules.len() < 15_000));
            min_with_functions = 26;
        }
        let mut n_with_functions = 0;
        for (name, rules) in games {
            let tapes = LaneTapes::new(&circuit(&rules).optimized(), &Pace::unlimited())
                .expect("nothing stops it");
            n_with_functions += u32::from(check::<4>(&name, &tapes));
            // Words of 512 bits, in two halves.
            check::<8>(&name, &tapes);
        }
        #[cfg(all(target_arch = "x86_64", unix))]
        if is_x86_feature_detected!("avx2") {
            let is_enough = n_with_functions >= min_with_functions;
            assert!(is_enough, "only {n_with_functions} games have machine code");
        }
    }
}
