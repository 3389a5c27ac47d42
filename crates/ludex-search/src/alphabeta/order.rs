//! Move ordering: first the best move of an earlier search, then killer moves, then by history.

use ludex_base::MoveId;

/// Killer moves by ply and history by move.
#[derive(Clone, Debug, Default)]
pub(crate) struct Order {
    plies: Vec<Ply>,
    history: Vec<u32>,
    /// Lists for reuse.
    spare: Vec<Vec<MoveId>>,
    scored: Vec<(u32, MoveId)>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Ply {
    killers: [Option<MoveId>; 2],
    expected: Option<MoveId>,
    best: Option<MoveId>,
}

impl Order {
    /// Sets the best move of an earlier search of this state, if known, and forgets the best so
    /// far.
    pub(crate) fn expect(&mut self, ply: usize, id: Option<MoveId>) {
        let ply = self.ply(ply);
        ply.expected = id;
        ply.best = None;
    }

    pub(crate) fn set_best(&mut self, ply: usize, id: MoveId) {
        self.ply(ply).best = Some(id);
    }

    pub(crate) fn best(&mut self, ply: usize) -> Option<MoveId> {
        self.ply(ply).best
    }

    /// Returns the moves, most promising first; ties keep their order.
    pub(crate) fn sorted(&mut self, ply: usize, moves: &[MoveId]) -> Vec<MoveId> {
        let Ply { killers, expected, .. } = *self.ply(ply);
        let history = &self.history;
        let score = |id: MoveId| match Some(id) {
            some if some == expected => u32::MAX,
            some if some == killers[0] => u32::MAX - 1,
            some if some == killers[1] => u32::MAX - 2,
            _ => history.get(id.index()).copied().unwrap_or(0),
        };
        self.scored.clear();
        self.scored.extend(moves.iter().map(|&id| (score(id), id)));
        self.scored.sort_by_key(|&(score, _)| std::cmp::Reverse(score));
        let mut sorted = self.spare.pop().unwrap_or_default();
        sorted.clear();
        sorted.extend(self.scored.iter().map(|&(_, id)| id));
        sorted
    }

    /// Returns a list for reuse.
    pub(crate) fn recycle(&mut self, moves: Vec<MoveId>) {
        self.spare.push(moves);
    }

    /// Remembers a move that caused a cutoff.
    pub(crate) fn reward(&mut self, ply: usize, id: MoveId, depth: usize) {
        let killers = &mut self.ply(ply).killers;
        if killers[0] != Some(id) {
            *killers = [Some(id), killers[0]];
        }
        if id.index() >= self.history.len() {
            self.history.resize(id.index() + 1, 0);
        }
        let entry = &mut self.history[id.index()];
        *entry = entry.saturating_add((depth * depth) as u32).min(u32::MAX / 2);
    }

    fn ply(&mut self, ply: usize) -> &mut Ply {
        if ply >= self.plies.len() {
            self.plies.resize(ply + 1, Ply::default());
        }
        &mut self.plies[ply]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_best_known_move_comes_first_then_killers_then_history() {
        let ids: Vec<MoveId> = (0..5).map(MoveId::new).collect();
        let mut order = Order::default();
        order.reward(3, ids[4], 2);
        order.reward(3, ids[3], 2);
        order.reward(9, ids[2], 2);
        order.expect(3, Some(ids[1]));
        assert_eq!(order.sorted(3, &ids), [ids[1], ids[3], ids[4], ids[2], ids[0]]);
    }
}
