//! Relates moves to percepts by the constants that occur in both.
//!
//! A role that is shown a card wants to know where it was dealt: of fifty moves of the dealer, the
//! one that names the card is the likeliest cause. Rulesheets write `(draw (h 10))` and `(showed
//! one (h 10))` with the same words, whatever the words are.

use ludex_base::{MoveId, PerceptId, Rng};
use ludex_game::Describe;
use rustc_hash::FxHashMap;

/// The words of moves and percepts, read on first use.
pub(super) struct Kinship {
    write: Box<dyn Fn(Term) -> String + Send + Sync>,
    numbers: FxHashMap<String, u32>,
    words: FxHashMap<Term, Box<[u32]>>,
    weights: Vec<f64>,
}

/// A term with words.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(super) enum Term {
    Move(MoveId),
    Percept(PerceptId),
}

/// The factor by which a move is preferred for each word that it shares with the wanted percept.
const SHARED_WORD_FACTOR: f64 = 16.0;
/// Moves whose words are compared in one draw: reading fifty thousand for the first time takes as
/// long as a whole turn.
const MAX_COMPARED: usize = 2_000;

impl Kinship {
    pub fn new<G: Describe + Clone + 'static>(game: &G) -> Self {
        let game = game.clone();
        let write = move |term| match term {
            Term::Move(id) => game.move_text(id),
            Term::Percept(id) => game.percept_text(id),
        };
        Self {
            write: Box::new(write),
            numbers: FxHashMap::default(),
            words: FxHashMap::default(),
            weights: Vec::new(),
        }
    }

    /// Returns how closely a move is related to a percept: 1 if they share no word.
    pub fn weight(&mut self, id: MoveId, percept: PerceptId) -> f64 {
        let (played, seen) = (Term::Move(id), Term::Percept(percept));
        [played, seen].into_iter().for_each(|term| self.read(term));
        let (played, seen) = (&self.words[&played], &self.words[&seen]);
        let n_shared = played.iter().filter(|word| seen.contains(word)).count();
        SHARED_WORD_FACTOR.powi(n_shared.min(4) as i32)
    }

    /// Draws the index of a move by its relation to a percept, and returns it with its probability;
    /// `None` if there is no move.
    pub fn draw(
        &mut self,
        moves: &[MoveId],
        percept: PerceptId,
        rng: &mut Rng,
    ) -> Option<(usize, f64)> {
        if moves.len() < 2 {
            return (!moves.is_empty()).then_some((0, 1.0));
        }
        // Of very many moves, compare only a contiguous part.
        let n_parts = moves.len().div_ceil(MAX_COMPARED);
        let start = rng.below(n_parts) * MAX_COMPARED;
        let compared = &moves[start..moves.len().min(start + MAX_COMPARED)];
        let mut weights = std::mem::take(&mut self.weights);
        weights.clear();
        weights.extend(compared.iter().map(|&id| self.weight(id, percept)));
        let idx = rng.weighted(&weights);
        let part = weights[idx] / weights.iter().sum::<f64>() / n_parts as f64;
        self.weights = weights;
        Some((start + idx, part))
    }

    fn read(&mut self, term: Term) {
        if self.words.contains_key(&term) {
            return;
        }
        let text = (self.write)(term);
        let is_between = |c: char| c.is_whitespace() || c == '(' || c == ')';
        let mut words: Vec<u32> = Vec::new();
        for word in text.split(is_between).filter(|word| !word.is_empty()) {
            let n_known = self.numbers.len() as u32;
            let number = *self.numbers.entry(word.to_owned()).or_insert(n_known);
            if !words.contains(&number) {
                words.push(number);
            }
        }
        self.words.insert(term, words.into());
    }
}

#[cfg(test)]
mod tests {
    use ludex_base::Seed;

    use super::*;

    /// Terms share a word if their numbers share the hundreds, as 1,234 and 1,299 do.
    fn of_hundreds() -> Kinship {
        let write = |term| match term {
            Term::Move(id) => format!("(draw {})", id.index() / 100),
            Term::Percept(id) => format!("(showed {})", id.index() / 100),
        };
        Kinship {
            write: Box::new(write),
            numbers: FxHashMap::default(),
            words: FxHashMap::default(),
            weights: Vec::new(),
        }
    }

    /// Draws report the probability with which they really occur, for few moves and for more than
    /// are compared.
    #[test]
    fn draws_report_their_probabilities() {
        for n_moves in [300, 2 * MAX_COMPARED + 100] {
            let moves: Vec<MoveId> = (0..n_moves).map(MoveId::new).collect();
            let (mut kinship, mut rng) = (of_hundreds(), Seed(1).rng());
            let (mut n_shared, mut expected) = (0, 0.0);
            let n_draws = 20_000;
            for _ in 0..n_draws {
                let drawn = kinship.draw(&moves, PerceptId::new(150), &mut rng);
                let (idx, part) = drawn.expect("the list has moves");
                if (100..200).contains(&idx) {
                    n_shared += 1;
                    // All of these are equally likely.
                    expected = 100.0 * part;
                }
            }
            let share = f64::from(n_shared) / f64::from(n_draws);
            assert!((share - expected).abs() < 0.02, "{n_moves}: {share} for {expected}");
        }
    }
}
