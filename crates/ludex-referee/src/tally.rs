//! Results of a series, per player and for two players side by side.

use ludex_base::{Goal, RoleId};

use crate::interval::{Estimate, estimate};
use crate::record::{Ending, Lapse, MatchRecord};
use crate::seating::Seating;
use crate::sequential::{Decision, SequentialTest};

/// The results of a series.
#[derive(Clone, PartialEq, Debug)]
pub struct Tally {
    /// The players, in the order in which they were named.
    pub players: Vec<PlayerTally>,
    /// Matches that did not reach a terminal state; only their lapses count.
    pub n_unfinished: usize,
    /// The comparison of two players.
    pub comparison: Option<Comparison>,
}

/// The results of one player, counted once per seat that it had in a match.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayerTally {
    /// The name of the player.
    pub name: String,
    /// Seats in matches that reached a terminal state.
    pub n_seats: usize,
    /// Mean goal, 0 to 100, with a 95 % interval; `None` before a match has ended.
    pub goal: Option<Estimate>,
    /// Goals above every other role's; with a single role, goals of 100.
    pub n_wins: usize,
    /// Goals that tie for the highest.
    pub n_draws: usize,
    /// All other goals.
    pub n_losses: usize,
    /// Illegal moves.
    pub n_illegal: usize,
    /// Answers after the deadline.
    pub n_late: usize,
    /// Missing answers.
    pub n_failed: usize,
    /// Moves chosen by a fallback instead of the search.
    pub n_fallbacks: usize,
    /// Moves asked for.
    pub n_asked: usize,
}

/// The comparison of two players.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// The share of the first player, 0 to 1, over whole exchanges of seats.
    pub share: Estimate,
    /// The exchanges that the share is made of, in order.
    pub exchanges: Vec<Exchange>,
}

/// The mean goals of two players over one exchange of seats, in which each takes every seat once.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Exchange {
    /// Mean goal of the first player, 0 to 100.
    pub first: f64,
    /// Mean goal of the second player.
    pub second: f64,
}

impl Tally {
    /// Adds up the matches of one series, in any order.
    pub fn new(names: &[String], seating: &Seating, records: &[MatchRecord]) -> Self {
        let mut players: Vec<PlayerTally> = names.iter().map(|name| blank(name)).collect();
        let mut goals: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
        for record in records {
            let seated = seated(record, seating);
            for &(player, role) in &seated {
                players[player].count_lapses(record, role);
                if record.ending == Ending::Terminal {
                    goals[player].push(f64::from(record.goals[role.index()].value()) / 100.0);
                    let others = seated.iter().filter(|&&(_, other)| other != role);
                    let others: Vec<Goal> =
                        others.map(|&(_, other)| record.goals[other.index()]).collect();
                    players[player].count_outcome(record.goals[role.index()], &others);
                }
            }
        }
        for (player, goals) in players.iter_mut().zip(&goals) {
            player.goal = estimate(goals).map(|found| found.scaled(100.0));
        }
        let n_unfinished =
            records.iter().filter(|record| record.ending != Ending::Terminal).count();
        Self { players, n_unfinished, comparison: compare(seating, records) }
    }
}

fn blank(name: &str) -> PlayerTally {
    PlayerTally {
        name: name.into(),
        n_seats: 0,
        goal: None,
        n_wins: 0,
        n_draws: 0,
        n_losses: 0,
        n_illegal: 0,
        n_late: 0,
        n_failed: 0,
        n_fallbacks: 0,
        n_asked: 0,
    }
}

impl PlayerTally {
    fn count_lapses(&mut self, record: &MatchRecord, role: RoleId) {
        for lapse in record.lapses(role) {
            match lapse {
                Lapse::Illegal(_) => self.n_illegal += 1,
                Lapse::Late => self.n_late += 1,
                Lapse::Failed(_) => self.n_failed += 1,
            }
        }
        for answer in record.steps.iter().filter_map(|step| step.answers[role.index()].as_ref()) {
            self.n_asked += 1;
            let is_fallback = answer.thought.as_ref().is_some_and(|it| it.rung.is_fallback());
            self.n_fallbacks += usize::from(is_fallback);
        }
    }

    fn count_outcome(&mut self, own: Goal, others: &[Goal]) {
        self.n_seats += 1;
        let best = others.iter().max();
        match best {
            None if own == Goal::MAX => self.n_wins += 1,
            None => self.n_losses += 1,
            Some(&best) if own > best => self.n_wins += 1,
            Some(&best) if own == best => self.n_draws += 1,
            Some(_) => self.n_losses += 1,
        }
    }
}

/// Returns the players, as indexes into the list of names, with their roles.
fn seated(record: &MatchRecord, seating: &Seating) -> Vec<(usize, RoleId)> {
    let roles = record.seats.iter().enumerate().filter(|(_, seat)| seat.player.is_some());
    let roles = roles.map(|(idx, _)| RoleId::new(idx));
    seating.players(record.number).into_iter().zip(roles).collect()
}

impl Exchange {
    /// How far the first player was ahead, from 0 (100 points behind) to 1 (100 points ahead). If
    /// goals sum up to 100, this is the share of the first; otherwise an exchange in which both got
    /// little counts little.
    pub fn outcome(self) -> f64 {
        (100.0 + self.first - self.second) / 200.0
    }
}

/// The share of the first player in the sum of both; one half if the sum is 0.
fn share(first: f64, second: f64) -> f64 {
    if first + second > 0.0 { first / (first + second) } else { 0.5 }
}

/// The complete exchanges, in order.
fn exchanges(seating: &Seating, records: &[MatchRecord]) -> Vec<(usize, Exchange)> {
    let Some(n_matches) = seating.exchange() else { return Vec::new() };
    let mut by_number: std::collections::BTreeMap<usize, Vec<&MatchRecord>> = Default::default();
    for record in records.iter().filter(|record| record.ending == Ending::Terminal) {
        by_number.entry(record.number / n_matches).or_default().push(record);
    }
    let complete = by_number.into_iter().filter(|(_, matches)| matches.len() == n_matches);
    let sum_up = |(number, matches): (usize, Vec<&MatchRecord>)| {
        let mut sums = [0.0; 2];
        let mut n_seats = 0;
        for record in matches {
            for (player, role) in seated(record, seating) {
                sums[player] += f64::from(record.goals[role.index()].value());
                n_seats += 1;
            }
        }
        let n_each = f64::from(n_seats) / 2.0;
        (number, Exchange { first: sums[0] / n_each, second: sums[1] / n_each })
    };
    complete.map(sum_up).collect()
}

fn compare(seating: &Seating, records: &[MatchRecord]) -> Option<Comparison> {
    Comparison::new(exchanges(seating, records).into_iter().map(|(_, exchange)| exchange).collect())
}

impl Comparison {
    /// Estimates the share over all exchanges; returns `None` without any.
    ///
    /// The share is a ratio of sums, and each exchange enters the interval with what it adds to
    /// that ratio. If goals always have the same sum, this is the plain share of the exchange.
    pub fn new(exchanges: Vec<Exchange>) -> Option<Self> {
        let first: f64 = exchanges.iter().map(|exchange| exchange.first).sum();
        let second: f64 = exchanges.iter().map(|exchange| exchange.second).sum();
        let whole = share(first, second);
        let mean_sum = (first + second) / exchanges.len() as f64;
        let influence = |exchange: &Exchange| {
            if mean_sum == 0.0 {
                return 0.5;
            }
            let beyond = exchange.first * (1.0 - whole) - exchange.second * whole;
            (whole + beyond / mean_sum).clamp(0.0, 1.0)
        };
        let influences: Vec<f64> = exchanges.iter().map(influence).collect();
        let found = estimate(&influences)?;
        // Clamping may have shifted the mean a little; the share itself is exact.
        let share =
            Estimate { mean: whole, low: found.low.min(whole), high: found.high.max(whole) };
        Some(Self { share, exchanges })
    }
}

/// Runs the sequential test on the exchanges that are complete without a gap. Matches that end
/// early must not count before those that take long.
pub fn decision(test: &SequentialTest, seating: &Seating, records: &[MatchRecord]) -> Decision {
    let Some(n_matches) = seating.exchange() else { return Decision::Open };
    let mut numbers: Vec<usize> = records.iter().map(|record| record.number).collect();
    numbers.sort_unstable();
    let n_heard =
        numbers.iter().enumerate().take_while(|&(index, &number)| index == number).count();
    // An aborted match leaves no exchange and delays no decision.
    let heard = exchanges(seating, records).into_iter();
    let heard = heard.take_while(|&(number, _)| (number + 1) * n_matches <= n_heard);
    test.decision(heard.map(|(_, exchange)| (exchange.outcome(), n_matches)))
}
