//! MAST: moves that did well anywhere are played more often.
//!
//! The mean reward of a move over all games it was played in, whatever the state, feeds a Gibbs
//! distribution: P(a) ∝ exp(mean(a) / τ). A move that was never played has the mean 1, so that it
//! is tried.
//!
//! After Finnsson and Björnsson, *Simulation-Based Approach to General Game Playing*, 2008. Roles
//! have moves of their own, so the table needs no role.

use ludex_base::{MoveId, Rng};

use super::PlayoutPolicy;

/// The table of means and the temperature.
#[derive(Clone, Debug)]
pub struct Mast {
    temperature: f32,
    entries: Vec<Entry>,
    weights: Vec<f32>,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    n_played: u32,
    mean: f32,
    /// exp(mean / τ), kept because it is read far more often than it changes.
    weight: f32,
}

impl Mast {
    /// A table that knows nothing. The temperature is at least 0.01.
    pub fn new(temperature: f64) -> Self {
        let temperature = temperature.max(0.01) as f32;
        Self { temperature, entries: Vec::new(), weights: Vec::new() }
    }

    fn weight(&self, id: MoveId) -> f32 {
        let unknown = (1.0 / self.temperature).exp();
        self.entries.get(id.index()).map_or(unknown, |entry| entry.weight)
    }
}

impl PlayoutPolicy for Mast {
    fn choose(&mut self, moves: &[MoveId], rng: &mut Rng) -> MoveId {
        if let [only] = moves {
            return *only;
        }
        self.weights.clear();
        let mut total = 0.0;
        for &id in moves {
            total += self.weight(id);
            self.weights.push(total);
        }
        // 24 random bits are all a float of 32 bits can tell apart.
        let drawn = (rng.next_u64() >> 40) as f32 / (1 << 24) as f32 * total;
        let place = self.weights.partition_point(|&sum| sum <= drawn);
        moves[place.min(moves.len() - 1)]
    }

    fn learn(&mut self, moves: &[MoveId], goals: &[u8]) {
        for joint in moves.chunks(goals.len()) {
            for (id, &goal) in joint.iter().zip(goals) {
                if id.index() >= self.entries.len() {
                    let weight = (1.0 / self.temperature).exp();
                    let unknown = Entry { n_played: 0, mean: 1.0, weight };
                    self.entries.resize(id.index() + 1, unknown);
                }
                let entry = &mut self.entries[id.index()];
                entry.n_played += 1;
                entry.mean += (f32::from(goal) / 100.0 - entry.mean) / entry.n_played as f32;
                entry.weight = (entry.mean / self.temperature).exp();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ludex_base::Seed;

    #[test]
    fn good_moves_are_drawn_more_often() {
        let [good, bad] = [0, 1].map(MoveId::new);
        let mut policy = Mast::new(0.5);
        for _ in 0..20 {
            policy.learn(&[good], &[100]);
            policy.learn(&[bad], &[0]);
        }
        let mut rng = Seed(1).rng();
        let n_good = (0..10_000).filter(|_| policy.choose(&[bad, good], &mut rng) == good).count();
        // e² / (1 + e²) = 0.881; four standard deviations are 0.013.
        assert!((8_680..8_940).contains(&n_good), "{n_good}");
    }
}
