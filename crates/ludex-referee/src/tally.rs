//! What a series of matches says about its players.

use ludex_base::{Goal, RoleId};

use crate::interval::{Estimate, estimate};
use crate::record::{Ending, Lapse, MatchRecord};
use crate::seating::Seating;
use crate::sequential::{Decision, SequentialTest};

/// The sums of a series.
#[derive(Clone, PartialEq, Debug)]
pub struct Tally {
    /// In the order in which the players were named.
    pub players: Vec<PlayerTally>,
    /// Matches that did not reach a terminal state; they count for nothing but lapses.
    pub n_unfinished: usize,
    /// How two players compare.
    pub comparison: Option<Comparison>,
}

/// One player's results, one for each seat it had in a match.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayerTally {
    /// Its name.
    pub name: String,
    /// Seats in matches that ended.
    pub n_seats: usize,
    /// Its goals, 0 to 100, with a 95 % interval; `None` before a match has ended.
    pub goal: Option<Estimate>,
    /// Goals above every other role's. Alone, a goal of 100.
    pub n_wins: usize,
    /// Goals that share the highest.
    pub n_draws: usize,
    /// All others.
    pub n_losses: usize,
    /// Illegal moves.
    pub n_illegal: usize,
    /// Answers after the clock.
    pub n_late: usize,
    /// No answers.
    pub n_failed: usize,
    /// Moves that were not chosen by the search that was meant to choose.
    pub n_fallbacks: usize,
    /// Moves asked for.
    pub n_asked: usize,
}

/// Two players side by side.
#[derive(Clone, PartialEq, Debug)]
pub struct Comparison {
    /// The share of the first, 0 to 1, over whole exchanges of seats.
    pub share: Estimate,
    /// The exchanges behind it, in order.
    pub exchanges: Vec<Exchange>,
}

/// What two players got out of one exchange of seats: the mean goals over the seats of the game, each
/// seat once.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Exchange {
    /// Of the first player, 0 to 100.
    pub first: f64,
    /// Of the second.
    pub second: f64,
}

impl Tally {
    /// Adds up matches of one series, in any order.
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

/// Who sat where: places in the list of names, with roles.
fn seated(record: &MatchRecord, seating: &Seating) -> Vec<(usize, RoleId)> {
    let roles = record.seats.iter().enumerate().filter(|(_, seat)| seat.player.is_some());
    let roles = roles.map(|(idx, _)| RoleId::new(idx));
    seating.players(record.number).into_iter().zip(roles).collect()
}

impl Exchange {
    /// How far the first was ahead of the second, from 0 (100 points behind) to 1. Where goals sum up to
    /// 100 that is the share of the first; elsewhere an exchange in which both got little counts as little.
    pub fn outcome(self) -> f64 {
        (100.0 + self.first - self.second) / 200.0
    }
}

/// The share of the first in what both got; one half when nobody got anything.
fn share(first: f64, second: f64) -> f64 {
    if first + second > 0.0 { first / (first + second) } else { 0.5 }
}

/// The exchanges that are complete, in order.
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
    /// The share over all exchanges, and how far it can be trusted; `None` without any.
    ///
    /// The share is a ratio of sums; each exchange enters the interval with what it adds to that ratio,
    /// so that in games whose goals always have the same sum it is the plain share of the exchange.
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
        // Clamping may have moved the mean a little; the share itself is exact.
        let share =
            Estimate { mean: whole, low: found.low.min(whole), high: found.high.max(whole) };
        Some(Self { share, exchanges })
    }
}

/// What a sequential test says after the exchanges that are complete without a gap. Matches that end
/// early must not be heard before those that take long.
pub(crate) fn decision(
    test: &SequentialTest,
    seating: &Seating,
    records: &[MatchRecord],
) -> Decision {
    let Some(n_matches) = seating.exchange() else { return Decision::Open };
    let mut numbers: Vec<usize> = records.iter().map(|record| record.number).collect();
    numbers.sort_unstable();
    let n_heard =
        numbers.iter().enumerate().take_while(|&(index, &number)| index == number).count();
    // A match that was given up leaves no exchange, and holds up nothing.
    let heard = exchanges(seating, records).into_iter();
    let heard = heard.take_while(|&(number, _)| (number + 1) * n_matches <= n_heard);
    test.decision(heard.map(|(_, exchange)| (exchange.outcome(), n_matches)))
}
