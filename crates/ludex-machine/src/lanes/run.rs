//! Interpretation of tapes.

use crate::lanes::tape::{Head, OFFSETS_PER_SLOT, Shape, Tape, USUAL_SHAPES};
use crate::lanes::word::Word;

/// Runs a tape on some values.
pub(crate) type RunTape<const N: usize> = fn(&Tape, &mut [Word<N>]);

/// Returns a function that runs tapes with the best instructions of this processor.
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
            // SAFETY: the check above found these instructions in the processor.
            return |tape, values| unsafe { with_avx512(tape, values) };
        }
        if N == 4 && is_x86_feature_detected!("avx2") {
            // SAFETY: the check above found these instructions in the processor.
            return |tape, values| unsafe { with_avx2(tape, values) };
        }
    }
    run
}

#[inline(always)]
fn run<const N: usize>(tape: &Tape, values: &mut [Word<N>]) {
    // `run_shape` and `operate` rely on this.
    assert!(values.len() >= tape.n_slots, "every slot needs a value");
    let mut start = 0;
    for part in &tape.parts {
        let code = &tape.code[start..part.end as usize];
        start = part.end as usize;
        for &(to, _) in &part.feedback {
            values[to as usize] = Word::ZERO;
        }
        loop {
            if !tape.has_targets {
                run_code::<N, false>(code, part.first_slot, values)
            } else {
                run_code::<N, true>(code, part.first_slot, values)
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
        let (Head { is_or, shape, n_operations }, form) = Head::from_words(*head);
        let (operations, rest) = rest.split_at(n_operations * n_words::<HAS_TARGETS>(shape));
        code = rest;
        // Common shapes have their own loops, in which everything but the slots is constant.
        macro_rules! runs {
            ($($form:literal)*) => {
                match (is_or, form) {
                    $(
                        (false, $form) => run_shape::<N, HAS_TARGETS, false>(
                            USUAL_SHAPES[$form], operations, slot, values),
                        (true, $form) => run_shape::<N, HAS_TARGETS, true>(
                            USUAL_SHAPES[$form], operations, slot, values),
                    )*
                    (false, _) => run_shape::<N, HAS_TARGETS, false>(shape, operations, slot, values),
                    (true, _) => run_shape::<N, HAS_TARGETS, true>(shape, operations, slot, values),
                }
            };
        }
        runs!(0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16);
        slot += n_operations;
    }
}

/// Returns the length of an operation in the code.
#[inline(always)]
fn n_words<const HAS_TARGETS: bool>([plain, negated, pairs @ ..]: Shape) -> usize {
    usize::from(HAS_TARGETS) + plain + negated + 2 * (pairs[0] + pairs[1] + pairs[2])
}

/// Runs operations of one shape; the compiler specialises it where the shape is a constant.
#[inline(always)]
fn run_shape<const N: usize, const HAS_TARGETS: bool, const IS_OR: bool>(
    shape: Shape,
    operations: &[u32],
    mut slot: usize,
    values: &mut [Word<N>],
) {
    for operation in operations.chunks_exact(n_words::<HAS_TARGETS>(shape)) {
        let value = operate::<N, IS_OR>(shape, &operation[usize::from(HAS_TARGETS)..], values);
        let place = if HAS_TARGETS { operation[0] } else { slot as u32 * OFFSETS_PER_SLOT };
        // SAFETY: results go to slots that the tape was made with, and `run` has checked that there
        // are values for all of them. Checking each time takes 13 to 25 % of the instructions of a
        // step (docs/decisions/009).
        unsafe {
            values
                .as_mut_ptr()
                .cast::<u64>()
                .add(first_word::<N>(place))
                .cast::<Word<N>>()
                .write(value)
        };
        slot += 1;
    }
}

/// Returns the start of the value of a slot, in words of 64 bits.
#[inline(always)]
fn first_word<const N: usize>(place: u32) -> usize {
    place as usize * N / OFFSETS_PER_SLOT as usize
}

#[inline(always)]
fn operate<const N: usize, const IS_OR: bool>(
    shape: Shape,
    inputs: &[u32],
    values: &[Word<N>],
) -> Word<N> {
    let first = values.as_ptr().cast::<u64>();
    // SAFETY: inputs are slots that the tape was made with, and `run` has checked that there are
    // values for all of them.
    let read = |place: u32| unsafe { *first.add(first_word::<N>(place)).cast::<Word<N>>() };
    let join = |a: Word<N>, b: Word<N>| if IS_OR { a | b } else { a & b };
    let meet = |a: Word<N>, b: Word<N>| if IS_OR { a & b } else { a | b };
    let [n_plain, n_negated, n_both_plain, n_mixed, n_both_negated] = shape;
    let mut value = Word::splat(!IS_OR);
    let (plain, inputs) = inputs.split_at(n_plain);
    let (fours, rest) = plain.as_chunks::<4>();
    for &[a, b, c, d] in fours {
        value = join(value, join(join(read(a), read(b)), join(read(c), read(d))));
    }
    for &input in rest {
        value = join(value, read(input));
    }
    let (negated, inputs) = inputs.split_at(n_negated);
    for &input in negated {
        value = join(value, !read(input));
    }
    let (both_plain, inputs) = inputs.split_at(2 * n_both_plain);
    let (fours, rest) = both_plain.as_chunks::<4>();
    for &[a, b, c, d] in fours {
        value = join(value, join(meet(read(a), read(b)), meet(read(c), read(d))));
    }
    for &[a, b] in rest.as_chunks::<2>().0 {
        value = join(value, meet(read(a), read(b)));
    }
    let (mixed, inputs) = inputs.split_at(2 * n_mixed);
    for &[a, b] in mixed.as_chunks::<2>().0 {
        value = join(value, meet(read(a), !read(b)));
    }
    for &[a, b] in inputs[..2 * n_both_negated].as_chunks::<2>().0 {
        value = join(value, meet(!read(a), !read(b)));
    }
    value
}
