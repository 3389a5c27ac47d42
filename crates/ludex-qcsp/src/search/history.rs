//! Which values of a variable decided how often, most successful first.

/// The history of a class of levels.
#[derive(Clone)]
pub(crate) struct History {
    /// By place of a value: how much it decided.
    credits: Vec<u64>,
    /// The places, by falling credit.
    ranking: Vec<u32>,
    /// By place: where it stands in the ranking.
    ranks: Vec<u32>,
}

impl History {
    /// Nothing has happened to so many values.
    pub fn new(n_values: usize) -> Self {
        let places: Vec<u32> = (0..n_values as u32).collect();
        Self { credits: vec![0; n_values], ranking: places.clone(), ranks: places }
    }

    /// The places of the values, by falling credit.
    #[inline]
    pub fn ranking(&self) -> &[u32] {
        &self.ranking
    }

    /// How much a value decided.
    #[inline]
    pub fn credit_of(&self, place: usize) -> u64 {
        self.credits[place]
    }

    /// A value decided.
    pub fn credit(&mut self, place: usize, amount: u64) {
        self.credits[place] += amount;
        let credit = self.credits[place];
        let mut rank = self.ranks[place] as usize;
        while rank > 0 && self.credits[self.ranking[rank - 1] as usize] < credit {
            let other = self.ranking[rank - 1];
            self.ranking[rank] = other;
            self.ranks[other as usize] = rank as u32;
            rank -= 1;
        }
        self.ranking[rank] = place as u32;
        self.ranks[place] = rank as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ranking_falls() {
        let mut history = History::new(5);
        for (place, amount) in [(3, 2), (1, 1), (4, 2), (1, 2), (0, 9), (3, 1)] {
            history.credit(place, amount);
            let credits: Vec<u64> =
                history.ranking().iter().map(|&p| history.credit_of(p as usize)).collect();
            assert!(credits.is_sorted_by(|a, b| a >= b), "{credits:?}");
        }
        assert_eq!(history.ranking(), [0, 1, 3, 4, 2]);
    }
}
