//! Values of a variable ranked by how often they decided a node.

/// The history of a class of levels.
#[derive(Clone)]
pub(crate) struct History {
    /// The credit of each value, by place.
    credits: Vec<u64>,
    /// The places, by descending credit.
    ranking: Vec<u32>,
    /// The rank of each place.
    ranks: Vec<u32>,
}

impl History {
    /// Creates a history of `n_values` values without credit.
    pub fn new(n_values: usize) -> Self {
        let places: Vec<u32> = (0..n_values as u32).collect();
        Self { credits: vec![0; n_values], ranking: places.clone(), ranks: places }
    }

    /// Returns the places of the values, by descending credit.
    #[inline]
    pub fn ranking(&self) -> &[u32] {
        &self.ranking
    }

    /// Returns the credit of a value.
    #[inline]
    pub fn credit_of(&self, place: usize) -> u64 {
        self.credits[place]
    }

    /// Adds credit to a value that decided a node.
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
    fn the_ranking_descends() {
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
