//! Root parallelization: several trees side by side with merged root moves.
//!
//! In a single run the trees are independent until the end. With several runs they share the
//! statistics of the root moves after each.
//!
//! With eᵢ the mean of a move in tree i and sᵢ its visits there, the value of a move is
//! - *best*: the largest eᵢ,
//! - *sum*: Σ eᵢ sᵢ / Σ sᵢ,
//! - *sum10*: the same over the ten best moves of each tree,
//! - *raw*: the mean of the eᵢ. (The thesis says that this rule ignores the number of playouts and
//!   prints a formula that divides by it; we do what it says.)
//!
//! Moves with less than a tenth of the visits of the most visited one are ignored.
//!
//! After Méhat and Cazenave, *A Parallel General Game Player*, 2011.

use std::time::{Duration, Instant};

use ludex_base::{RoleId, StopReason};
use ludex_game::Playouts;

use super::report::choose;
use super::{Uct, UctOptions};
use crate::ingredients::{HiddenSearcher, Ingredients, OpenSearcher, Search, as_if_known};
use crate::limits::SearchLimits;
use crate::report::{MoveReport, SearchReport};
use crate::searcher::Searcher;

crate::option_names! {
    /// How the root moves of several trees are merged.
    pub enum Merge {
        /// The largest mean.
        Best = "best",
        /// The mean over all visits.
        Sum = "sum",
        /// The mean over the visits of each tree's ten best moves.
        Sum10 = "sum10",
        /// The mean of the means.
        Raw = "raw",
    }
}

crate::search_options! {
    /// Options of [`RootParallel`].
    pub struct RootOptions {
        /// exploration constant, for rewards from 0 to 1
        c: f64 = 0.7,
        /// first-play urgency: the score of an untried move
        fpu: f64 = 2.0,
        /// trees, one thread each; 0 for as many as the limits allow, at least two
        trees: usize = 0,
        /// merging rule: best, sum, sum10 or raw
        merge: Merge = Merge::Sum,
        /// runs, after each of which the trees share their root statistics
        runs: usize = 1,
    }
}

/// Several independent UCT trees.
pub struct RootParallel<G: Playouts> {
    game: G,
    options: RootOptions,
    trees: Vec<Uct<G>>,
}

/// Visits and goals of the root moves.
pub(super) type RootStats = Vec<(u32, u64)>;

impl<I: Ingredients> Search<I> for RootOptions {
    fn build(&self, _name: &'static str, from: &I) -> OpenSearcher<I::Game> {
        Box::new(RootParallel::new(from.game(), self.clone()))
    }

    fn build_informed(&self, name: &'static str, from: &I) -> HiddenSearcher<I::Game> {
        as_if_known(self, name, from.game())
    }
}

impl<G: Playouts + Clone> RootParallel<G> {
    /// Creates a search without knowledge.
    pub fn new(game: &G, options: RootOptions) -> Self {
        Self { game: game.clone(), options, trees: Vec::new() }
    }

    /// Creates the requested number of trees.
    fn grow_trees(&mut self, limits: &SearchLimits) {
        let n_trees = match self.options.trees {
            0 => limits.threads.max(2),
            n => n,
        };
        let options = UctOptions {
            c: self.options.c,
            fpu: self.options.fpu,
            threads: 1,
            ..UctOptions::default()
        };
        self.trees.truncate(n_trees);
        while self.trees.len() < n_trees {
            self.trees.push(Uct::new("uct-root", &self.game, options.clone()));
        }
    }

    /// Combines the last reports of all trees.
    fn joined(&self, reports: &[SearchReport]) -> SearchReport {
        let proven = reports.iter().find(|it| it.is_proven).cloned();
        let moves = merge(reports, self.options.merge);
        let chosen = match &proven {
            Some(proven) => moves.iter().position(|it| Some(it.id) == proven.chosen),
            None => choose_by_value(&moves),
        };
        let chosen = chosen.map(|move_idx| moves[move_idx]);
        let id = chosen.map(|it| it.id);
        let line = reports.iter().find(|it| it.chosen == id).map(|it| it.line.clone());
        SearchReport {
            chosen: id,
            reward: chosen.and_then(|it| it.proven.or(it.mean_reward)),
            is_proven: proven.is_some(),
            n_nodes: reports.iter().map(|it| it.n_nodes).sum(),
            n_bytes: reports.iter().map(|it| it.n_bytes).sum(),
            depth: reports.iter().map(|it| it.depth).max().unwrap_or(0),
            stopped: if proven.is_some() { None } else { stop_of(reports) },
            line: line.unwrap_or_default(),
            moves,
            ..SearchReport::default()
        }
    }

    fn run_all(
        &mut self,
        root: &G::Cursor,
        role: RoleId,
        limits: &[SearchLimits],
    ) -> Vec<SearchReport> {
        std::thread::scope(|scope| {
            let threads: Vec<_> = self
                .trees
                .iter_mut()
                .zip(limits)
                .map(|(tree, limits)| {
                    // Each thread needs a cursor of its own.
                    let root = root.clone();
                    scope.spawn(move || tree.search(&root, role, limits))
                })
                .collect();
            threads.into_iter().map(|thread| thread.join().expect("no search panics")).collect()
        })
    }
}

/// Adds what each tree learned in a run to the earlier statistics.
fn shared_stats(before: &RootStats, trees: &[RootStats]) -> RootStats {
    let n_moves = trees.iter().map(Vec::len).min().unwrap_or(0);
    (0..n_moves)
        .map(|move_idx| {
            let (n, sum) = before.get(move_idx).copied().unwrap_or((0, 0));
            trees.iter().fold((n, sum), |(all_n, all_sum), tree| {
                let (tree_n, tree_sum) = tree[move_idx];
                (
                    all_n.saturating_add(tree_n.saturating_sub(n)),
                    all_sum + tree_sum.saturating_sub(sum),
                )
            })
        })
        .collect()
}

/// Returns the moves of all trees with the values of a merging rule.
fn merge(reports: &[SearchReport], rule: Merge) -> Vec<MoveReport> {
    let tenth_best = |report: &SearchReport| {
        let mut means: Vec<f64> = report.moves.iter().filter_map(|it| it.mean_reward).collect();
        means.sort_by(|a, b| b.total_cmp(a));
        means.get(9).copied().unwrap_or(f64::NEG_INFINITY)
    };
    let floors: Vec<f64> = match rule {
        Merge::Sum10 => reports.iter().map(tenth_best).collect(),
        _ => vec![f64::NEG_INFINITY; reports.len()],
    };
    let value_of = |move_idx: usize| {
        let tried: Vec<(f64, f64)> = reports
            .iter()
            .zip(&floors)
            .filter_map(|(report, &floor)| {
                let it = &report.moves[move_idx];
                it.mean_reward.filter(|&mean| mean >= floor).map(|mean| (mean, it.n_visits as f64))
            })
            .collect();
        let means = tried.iter().map(|it| it.0);
        (!tried.is_empty()).then(|| match rule {
            Merge::Best => means.fold(f64::NEG_INFINITY, f64::max),
            Merge::Raw => means.sum::<f64>() / tried.len() as f64,
            Merge::Sum | Merge::Sum10 => {
                let n_visits: f64 = tried.iter().map(|it| it.1).sum();
                tried.iter().map(|it| it.0 * it.1).sum::<f64>() / n_visits
            }
        })
    };
    (0..reports[0].moves.len())
        .map(|move_idx| MoveReport {
            id: reports[0].moves[move_idx].id,
            n_visits: reports.iter().map(|report| report.moves[move_idx].n_visits).sum(),
            mean_reward: value_of(move_idx),
            proven: reports.iter().find_map(|report| report.moves[move_idx].proven),
        })
        .collect()
}

/// Returns the index of the best value among moves with enough visits.
fn choose_by_value(moves: &[MoveReport]) -> Option<usize> {
    let most = moves.iter().map(|it| it.n_visits).max()?;
    let is_tried = |it: &MoveReport| it.n_visits * 10 >= most && it.mean_reward.is_some();
    if !moves.iter().any(is_tried) || moves.iter().any(|it| it.proven == Some(1.0)) {
        return choose(moves);
    }
    let value = |it: &MoveReport| it.proven.or(it.mean_reward).unwrap_or(0.0);
    let tried = (0..moves.len()).filter(|&move_idx| is_tried(&moves[move_idx]));
    // Prefer the first of equal moves.
    tried.max_by(|&a, &b| value(&moves[a]).total_cmp(&value(&moves[b])).then(b.cmp(&a)))
}

impl<G: Playouts + Clone> Searcher<G::Cursor> for RootParallel<G> {
    fn name(&self) -> &'static str {
        "uct-root"
    }

    fn search(&mut self, root: &G::Cursor, role: RoleId, limits: &SearchLimits) -> SearchReport {
        self.grow_trees(limits);
        let n_trees = self.trees.len();
        let n_runs = self.options.runs.max(1);
        let started_at = Instant::now();
        let time = limits.deadline.remaining();
        let mut reports: Vec<SearchReport> = Vec::new();
        let (mut n_iterations, mut n_playouts) = (0, 0);
        let mut shared: RootStats = Vec::new();
        for run_idx in 0..n_runs {
            let end = |time: Duration| started_at + time * (run_idx as u32 + 1) / n_runs as u32;
            let deadline = match time {
                Some(time) if run_idx + 1 < n_runs => limits.deadline.no_later_than(end(time)),
                _ => limits.deadline.clone(),
            };
            let first = run_idx * n_trees;
            let parts: Vec<SearchLimits> = (first..first + n_trees)
                .map(|part_idx| SearchLimits {
                    deadline: deadline.clone(),
                    memory: limits.memory / n_trees,
                    ..part_of(limits, part_idx, n_trees * n_runs)
                })
                .collect();
            reports = self.run_all(root, role, &parts);
            n_iterations += reports.iter().map(|it| it.n_iterations).sum::<u64>();
            n_playouts += reports.iter().map(|it| it.n_playouts).sum::<u64>();
            if reports.iter().any(|it| it.is_proven) {
                break;
            }
            if run_idx + 1 < n_runs {
                let stats: Vec<RootStats> =
                    self.trees.iter().map(|tree| tree.root_stats(role)).collect();
                shared = shared_stats(&shared, &stats);
                self.trees.iter_mut().for_each(|tree| tree.set_root_stats(role, &shared));
            }
        }
        SearchReport { n_iterations, n_playouts, ..self.joined(&reports) }
    }
}

/// Returns one of `n_parts` parts of the iterations, for one thread, with its own seed.
fn part_of(limits: &SearchLimits, part_idx: usize, n_parts: usize) -> SearchLimits {
    let (idx, n) = (part_idx as u64, n_parts as u64);
    let part = |total: u64| total / n + u64::from(idx < total % n);
    SearchLimits {
        iterations: limits.iterations.map(part),
        threads: 1,
        seed: limits.seed.child(idx),
        ..limits.clone()
    }
}

fn stop_of(reports: &[SearchReport]) -> Option<StopReason> {
    reports.iter().find_map(|it| it.stopped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ludex_base::MoveId;

    fn report(means: &[(f64, u64)]) -> SearchReport {
        let moves = means.iter().enumerate().map(|(move_idx, &(mean, n_visits))| MoveReport {
            id: MoveId::new(move_idx),
            n_visits,
            mean_reward: Some(mean),
            proven: None,
        });
        SearchReport { moves: moves.collect(), ..SearchReport::default() }
    }

    fn values(rule: Merge, reports: &[SearchReport]) -> Vec<f64> {
        merge(reports, rule).iter().map(|it| it.mean_reward.expect("tried")).collect()
    }

    #[test]
    fn rules_merge_as_documented() {
        let trees = [report(&[(0.5, 30), (0.2, 10)]), report(&[(0.9, 10), (0.4, 30)])];
        assert_eq!(values(Merge::Best, &trees), [0.9, 0.4]);
        assert_eq!(values(Merge::Raw, &trees), [0.7, (0.2 + 0.4) / 2.0]);
        assert_eq!(values(Merge::Sum, &trees), [24.0 / 40.0, 14.0 / 40.0]);
        assert_eq!(values(Merge::Sum10, &trees), [24.0 / 40.0, 14.0 / 40.0]);
    }

    #[test]
    fn sum10_ignores_all_but_the_ten_best_moves_of_a_tree() {
        let mut many: Vec<(f64, u64)> = vec![(0.9, 10); 10];
        many.push((0.1, 10));
        let other = vec![(0.5, 10); 11];
        let merged = values(Merge::Sum10, &[report(&many), report(&other)]);
        assert_eq!(merged[10], 0.5);
        assert!((values(Merge::Sum, &[report(&many), report(&other)])[10] - 0.3).abs() < 1e-9);
    }

    #[test]
    fn earlier_statistics_are_counted_once() {
        let before = vec![(10, 100)];
        assert_eq!(shared_stats(&before, &[vec![(15, 120)], vec![(12, 110)]]), [(17, 130)]);
    }
}
