//! What a refinement did, as a list of hashes that another refinement can be held against.
//!
//! The hashes depend on places and counts, never on numbers of vertices, so refinements of
//! partitions that some automorphism exchanges leave the same trace.

/// Hashes of refinements, recorded by one partition and compared by another.
#[derive(Debug, Default)]
pub(crate) struct Trace {
    events: Vec<u64>,
    /// The event to compare next; `None` while recording.
    next: Option<usize>,
    hash: u64,
    /// The sum of what happened since the last event, in whatever order it happened.
    sum: u64,
}

impl Trace {
    /// How many events are recorded.
    pub(crate) fn len(&self) -> usize {
        self.events.len()
    }

    /// Forgets all but the first `n_events` events.
    pub(crate) fn truncate(&mut self, n_events: usize) {
        self.events.truncate(n_events);
    }

    /// Records from now on.
    pub(crate) fn record(&mut self) {
        (self.next, self.hash, self.sum) = (None, 0, 0);
    }

    /// Compares from now on with the events from number `start` to the last.
    pub(crate) fn compare(&mut self, start: usize) {
        (self.next, self.hash, self.sum) = (Some(start), 0, 0);
    }

    /// Notes a count of edges into a cell that was not cut.
    #[inline]
    pub(crate) fn note(&mut self, cell: u32, count: u32) {
        self.sum = self.sum.wrapping_add(scramble(pack(cell, count)));
    }

    /// Notes a cut; `false` if the recorded refinement did something else.
    #[inline]
    #[must_use]
    pub(crate) fn cut(&mut self, cell: u32, tail: u32, count: u32) -> bool {
        let place = scramble(pack(cell, tail) ^ scramble(u64::from(count)));
        self.hash = (self.hash.rotate_left(5) ^ place).wrapping_mul(FACTOR).wrapping_add(self.sum);
        self.event()
    }

    /// Notes the end; `false` if the recorded refinement did something else, or more.
    #[must_use]
    pub(crate) fn finish(&mut self) -> bool {
        self.hash = (self.hash ^ scramble(self.sum)).wrapping_mul(FACTOR);
        self.event() && self.next.is_none_or(|next| next == self.events.len())
    }

    #[inline]
    fn event(&mut self) -> bool {
        let Some(next) = &mut self.next else {
            self.events.push(self.hash);
            return true;
        };
        *next += 1;
        self.events.get(*next - 1) == Some(&self.hash)
    }
}

const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

#[inline]
fn pack(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Mixes the bits of a number well enough for sums of such numbers to differ.
#[inline]
fn scramble(number: u64) -> u64 {
    let number = (number ^ 0x5851_F42D_4C95_7F2D).wrapping_mul(FACTOR);
    (number ^ number >> 32).wrapping_mul(0xD6E8_FEB8_6659_FD93)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(trace: &mut Trace, cells: [u32; 2]) -> bool {
        let is_same = trace.cut(7, 9, 1);
        for cell in cells {
            trace.note(cell, 1);
        }
        is_same && trace.finish()
    }

    #[test]
    fn notes_may_come_in_any_order_but_not_differ() {
        let mut trace = Trace::default();
        trace.record();
        assert!(run(&mut trace, [3, 4]));
        trace.compare(0);
        assert!(run(&mut trace, [4, 3]));
        trace.compare(0);
        assert!(!run(&mut trace, [2, 5]));
    }

    #[test]
    fn doing_less_is_a_difference() {
        let mut trace = Trace::default();
        trace.record();
        assert!(run(&mut trace, [3, 4]));
        trace.compare(0);
        assert!(!trace.finish());
    }
}
