//! 64-bit words with undo: the only place that restores old values.
//!
//! Domains, sparse bit sets of tables and counters of propagators all live in one pool of
//! 64-bit words. The log saves a word the first time it changes at a level, so undoing costs
//! time in proportion to the changes, and no node copies state.
//!
//! Invariant: after [`Trail::pop`] every word has the value it had at the matching
//! [`Trail::push`].

/// A pool of reversible words.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trail {
    words: Vec<u64>,
    /// The stamp under which a word was last saved; it only avoids saving a word twice.
    stamps: Vec<u32>,
    log: Vec<(u32, u64)>,
    /// Length of the log when each level began.
    marks: Vec<u32>,
    stamp: u32,
}

impl Trail {
    /// Adds `n` words with the same value and returns the index of the first.
    ///
    /// Words are never freed, not even by `pop`.
    pub fn allocate(&mut self, n: usize, value: u64) -> usize {
        let first = self.words.len();
        assert!(first + n <= u32::MAX as usize, "too many reversible words for 32-bit indexes");
        self.words.resize(first + n, value);
        self.stamps.resize(first + n, 0);
        first
    }

    #[inline]
    pub fn get(&self, index: usize) -> u64 {
        self.words[index]
    }

    #[inline]
    pub fn slice(&self, first: usize, n: usize) -> &[u64] {
        &self.words[first..first + n]
    }

    #[inline]
    pub fn set(&mut self, index: usize, value: u64) {
        if self.stamps[index] != self.stamp {
            self.save(index);
        }
        self.words[index] = value;
    }

    fn save(&mut self, index: usize) {
        self.stamps[index] = self.stamp;
        if !self.marks.is_empty() {
            self.log.push((index as u32, self.words[index]));
        }
    }

    /// Intersects the words of a sparse set with a mask.
    ///
    /// `index[..limit]` are the words in use, `place` is the inverse of `index`. Words that
    /// would become zero only leave the index: they keep their value, so undoing needs only the
    /// old limit.
    ///
    /// Returns the new limit and whether any bit was cleared.
    #[inline]
    pub fn narrow(
        &mut self,
        first: usize,
        index: &mut [u32],
        place: &mut [u32],
        mut limit: usize,
        mask: impl Fn(usize) -> u64,
    ) -> (usize, bool) {
        let n = index.len();
        let words = &mut self.words[first..first + n];
        let stamps = &mut self.stamps[first..first + n];
        let (stamp, is_logged) = (self.stamp, !self.marks.is_empty());
        let mut is_reduced = false;
        for at in (0..limit).rev() {
            let word_idx = index[at] as usize;
            let old = words[word_idx];
            let kept = old & mask(word_idx);
            if kept == old {
                continue;
            }
            is_reduced = true;
            if kept == 0 {
                limit -= 1;
                let last = index[limit];
                index[at] = last;
                place[last as usize] = at as u32;
                index[limit] = word_idx as u32;
                place[word_idx] = limit as u32;
                continue;
            }
            if stamps[word_idx] != stamp {
                stamps[word_idx] = stamp;
                if is_logged {
                    self.log.push(((first + word_idx) as u32, old));
                }
            }
            words[word_idx] = kept;
        }
        (limit, is_reduced)
    }

    /// Works as [`Trail::narrow`] for a mask that has bits only in the words named by the bits
    /// of `candidates`. It visits only these words instead of all words in use.
    #[inline]
    pub fn narrow_among(
        &mut self,
        first: usize,
        index: &mut [u32],
        place: &mut [u32],
        limit: usize,
        candidates: &[u64],
        mask: impl Fn(usize) -> u64,
    ) -> (usize, bool) {
        let n = index.len();
        let place = &mut place[..n];
        let words = &mut self.words[first..first + n];
        let stamps = &mut self.stamps[first..first + n];
        let (stamp, is_logged) = (self.stamp, !self.marks.is_empty());
        let (mut n_kept, mut is_reduced) = (0, false);
        for (block, &candidates) in candidates.iter().enumerate() {
            let mut rest = candidates;
            while rest != 0 {
                let word_idx = block * 64 + rest.trailing_zeros() as usize;
                rest &= rest - 1;
                let old = words[word_idx];
                let kept = old & mask(word_idx);
                let at = place[word_idx] as usize;
                if kept == 0 || at >= limit {
                    continue;
                }
                if kept != old {
                    is_reduced = true;
                    if stamps[word_idx] != stamp {
                        stamps[word_idx] = stamp;
                        if is_logged {
                            self.log.push(((first + word_idx) as u32, old));
                        }
                    }
                    words[word_idx] = kept;
                }
                let other = index[n_kept];
                index[at] = other;
                place[other as usize] = at as u32;
                index[n_kept] = word_idx as u32;
                place[word_idx] = n_kept as u32;
                n_kept += 1;
            }
        }
        (n_kept, is_reduced || n_kept < limit)
    }

    pub fn n_bytes(&self) -> usize {
        size_of_val(&self.words[..]) + size_of_val(&self.stamps[..])
    }

    pub fn depth(&self) -> usize {
        self.marks.len()
    }

    pub fn push(&mut self) {
        self.marks.push(self.log.len() as u32);
        self.next_stamp();
    }

    pub fn pop(&mut self) {
        let mark = self.marks.pop().expect("no level is open") as usize;
        // Undo runs backwards, so that of two saves of one word the older one wins.
        for &(index, value) in self.log[mark..].iter().rev() {
            self.words[index as usize] = value;
        }
        self.log.truncate(mark);
        self.next_stamp();
    }

    /// Returns the value of the word before level `level` (counted from 1) changed it, if it
    /// did.
    pub fn saved(&self, index: usize, level: usize) -> Option<u64> {
        let start = *self.marks.get(level.checked_sub(1)?)? as usize;
        let end = self.marks.get(level).map_or(self.log.len(), |&mark| mark as usize);
        self.log[start..end].iter().find(|&&(i, _)| i as usize == index).map(|&(_, value)| value)
    }

    fn next_stamp(&mut self) {
        self.stamp = self.stamp.wrapping_add(1);
        if self.stamp == 0 {
            // After four billion levels the stamp wraps around, and old stamps would look
            // current.
            self.stamps.fill(0);
            self.stamp = 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn popping_restores_words_changed_again_after_a_deeper_level() {
        let mut trail = Trail::default();
        let a = trail.allocate(2, 5);
        trail.push();
        trail.set(a, 6);
        trail.push();
        trail.set(a, 7);
        trail.set(a + 1, 8);
        assert_eq!(trail.saved(a, 2), Some(6));
        trail.pop();
        assert_eq!((trail.get(a), trail.get(a + 1)), (6, 5));
        trail.set(a, 9);
        trail.pop();
        assert_eq!((trail.get(a), trail.get(a + 1)), (5, 5));
    }

    #[test]
    fn both_ways_to_narrow_a_sparse_set_agree() {
        let mut rng = ludex_base::Seed(2).rng();
        for round in 0..200 {
            let n = 1 + rng.below(20);
            let mut trail = Trail::default();
            let (a, b) = (trail.allocate(n, 0), trail.allocate(n, 0));
            for at in 0..n {
                let word = rng.next_u64() | 1;
                trail.set(a + at, word);
                trail.set(b + at, word);
            }
            let masks: Vec<u64> =
                (0..n).map(|_| [0, !0, rng.next_u64() & rng.next_u64()][rng.below(3)]).collect();
            let fresh: Vec<u32> = (0..n as u32).collect();
            let (mut index_a, mut place_a) = (fresh.clone(), fresh.clone());
            let (mut index_b, mut place_b) = (fresh.clone(), fresh);
            trail.push();
            let one = trail.narrow(a, &mut index_a, &mut place_a, n, |at| masks[at]);
            // The candidates include words whose mask is empty.
            let candidates: u64 =
                (0..n).filter(|&at| masks[at] != 0 || rng.below(2) == 0).map(|at| 1 << at).sum();
            let (index, place) = (&mut index_b, &mut place_b);
            let other = trail.narrow_among(b, index, place, n, &[candidates], |at| masks[at]);
            assert_eq!(one, other, "round {round}");
            let used = |index: &[u32], first: usize| {
                let mut used: Vec<(u32, u64)> = (index[..one.0].iter())
                    .map(|&at| (at, trail.get(first + at as usize)))
                    .collect();
                used.sort_unstable();
                used
            };
            assert_eq!(used(&index_a, a), used(&index_b, b));
            assert!((0..n).all(|at| index_b[place_b[at] as usize] as usize == at));
            trail.pop();
            assert!((0..n).all(|at| trail.get(a + at) == trail.get(b + at)));
        }
    }

    #[test]
    fn a_stamp_that_wraps_around_saves_all_the_same() {
        let mut trail = Trail { stamp: u32::MAX - 1, ..Trail::default() };
        let a = trail.allocate(1, 1);
        for value in 2..6 {
            trail.push();
            trail.set(a, value);
        }
        for value in (1..5).rev() {
            trail.pop();
            assert_eq!(trail.get(a), value);
        }
    }
}
