//! Runs tapes.

use crate::tape::{Head, Shape, Tape};
use crate::word::Word;

/// Runs a tape on some values.
pub(crate) type RunTape<const N: usize> = fn(&Tape, &mut [Word<N>]);

/// How to run tapes with the instructions of this processor.
pub(crate) fn tape_runner<const N: usize>() -> RunTape<N> {
    #[cfg(target_arch = "x86_64")]
    {
        #[target_feature(enable = "avx512f")]
        fn with_avx512<const N: usize>(tape: &Tape, values: &mut [Word<N>]) {
            run(tape, values);
        }
        #[target_feature(enable = "avx2")]
        fn with_avx2<const N: usize>(tape: &Tape, values: &mut [Word<N>]) {
            run(tape, values);
        }
        if N > 4 && is_x86_feature_detected!("avx512f") {
            // SAFETY: the processor has the instructions, as was just asked.
            return |tape, values| unsafe { with_avx512(tape, values) };
        }
        if N == 4 && is_x86_feature_detected!("avx2") {
            // SAFETY: the processor has the instructions, as was just asked.
            return |tape, values| unsafe { with_avx2(tape, values) };
        }
    }
    run
}

#[inline(always)]
fn run<const N: usize>(tape: &Tape, values: &mut [Word<N>]) {
    // `run_form` and `operate` rely on this.
    assert!(values.len() >= tape.n_slots, "there is a value for every slot");
    let mut start = 0;
    for part in &tape.parts {
        let code = &tape.code[start..part.end as usize];
        start = part.end as usize;
        for &(to, _) in &part.feedback {
            values[to as usize] = Word::ZERO;
        }
        loop {
            match tape.has_targets {
                false => run_code::<N, false>(code, part.first_slot, values),
                true => run_code::<N, true>(code, part.first_slot, values),
            }
            let mut changed = Word::ZERO;
            for &(to, from) in &part.feedback {
                let value = from.read(values);
                changed |= values[to as usize] ^ value;
                values[to as usize] = value;
            }
            if changed.is_zero() {
                break;
            }
        }
    }
}

#[inline(always)]
fn run_code<const N: usize, const HAS_TARGETS: bool>(
    mut code: &[u32],
    slot: u32,
    values: &mut [Word<N>],
) {
    let mut slot = slot as usize;
    while let Some((head, rest)) = code.split_first_chunk() {
        let Head { is_or, shape, n_operations } = Head::from_words(*head);
        let (operations, rest) = rest.split_at(n_operations * n_words::<HAS_TARGETS>(shape));
        code = rest;
        // The usual forms have loops of their own, in which everything is known but the slots.
        macro_rules! runs {
            ($([$($count:literal),*])*) => {
                match (is_or, shape) {
                    $(
                        (false, [$($count),*]) =>
                            run_form::<N, HAS_TARGETS, false>([$($count),*], operations, slot, values),
                        (true, [$($count),*]) =>
                            run_form::<N, HAS_TARGETS, true>([$($count),*], operations, slot, values),
                    )*
                    (false, _) => run_form::<N, HAS_TARGETS, false>(shape, operations, slot, values),
                    (true, _) => run_form::<N, HAS_TARGETS, true>(shape, operations, slot, values),
                }
            };
        }
        runs!(
            [2, 0, 0, 0, 0] [1, 1, 0, 0, 0] [0, 2, 0, 0, 0] [3, 0, 0, 0, 0] [2, 1, 0, 0, 0]
            [1, 2, 0, 0, 0] [0, 3, 0, 0, 0] [4, 0, 0, 0, 0] [1, 0, 1, 0, 0] [1, 0, 0, 1, 0]
            [1, 0, 0, 0, 1] [0, 1, 1, 0, 0] [0, 1, 0, 1, 0] [0, 1, 0, 0, 1] [0, 0, 2, 0, 0]
            [0, 0, 1, 1, 0] [0, 0, 0, 2, 0]
        );
        slot += n_operations;
    }
}

/// The length of an operation.
#[inline(always)]
fn n_words<const HAS_TARGETS: bool>([plain, negated, pairs @ ..]: Shape) -> usize {
    usize::from(HAS_TARGETS) + plain + negated + 2 * (pairs[0] + pairs[1] + pairs[2])
}

/// Operations of one shape; where that is a constant, the compiler makes use of it.
#[inline(always)]
fn run_form<const N: usize, const HAS_TARGETS: bool, const IS_OR: bool>(
    shape: Shape,
    operations: &[u32],
    mut slot: usize,
    values: &mut [Word<N>],
) {
    for operation in operations.chunks_exact(n_words::<HAS_TARGETS>(shape)) {
        let value = operate::<N, IS_OR>(shape, &operation[usize::from(HAS_TARGETS)..], values);
        let target = if HAS_TARGETS { operation[0] as usize } else { slot };
        // SAFETY: results go to slots that the tape was made with, and `run` has seen that there are
        // values for all of them. Checking each time takes 13 to 25 % of the instructions of a step
        // (docs/decisions/009).
        unsafe { *values.get_unchecked_mut(target) = value };
        slot += 1;
    }
}

#[inline(always)]
fn operate<const N: usize, const IS_OR: bool>(
    shape: Shape,
    inputs: &[u32],
    values: &[Word<N>],
) -> Word<N> {
    // SAFETY: inputs are slots that the tape was made with, and `run` has seen that there are values
    // for all of them.
    let read = |input: u32| unsafe { *values.get_unchecked(input as usize) };
    let join = |a: Word<N>, b: Word<N>| if IS_OR { a | b } else { a & b };
    let meet = |a: Word<N>, b: Word<N>| if IS_OR { a & b } else { a | b };
    let [n_plain, n_negated, n_both_plain, n_mixed, n_both_negated] = shape;
    let mut value = Word::splat(!IS_OR);
    let (plain, inputs) = inputs.split_at(n_plain);
    for &input in plain {
        value = join(value, read(input));
    }
    let (negated, inputs) = inputs.split_at(n_negated);
    for &input in negated {
        value = join(value, !read(input));
    }
    let (both_plain, inputs) = inputs.split_at(2 * n_both_plain);
    for pair in both_plain.chunks_exact(2) {
        value = join(value, meet(read(pair[0]), read(pair[1])));
    }
    let (mixed, inputs) = inputs.split_at(2 * n_mixed);
    for pair in mixed.chunks_exact(2) {
        value = join(value, meet(read(pair[0]), !read(pair[1])));
    }
    for pair in inputs[..2 * n_both_negated].chunks_exact(2) {
        value = join(value, meet(!read(pair[0]), !read(pair[1])));
    }
    value
}
