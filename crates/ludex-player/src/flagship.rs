//! The player `ludex`: looks at the game, then chooses what to think with.

use ludex_base::{Deadline, RoleId};
use ludex_game::{Cursor, StateOf};
use ludex_search::{Limits, SearchReport, SearchSpec};

use crate::Playable;
use crate::mind::{Mind, OneSearch, Opinion, part_of};
use crate::puzzle::PuzzleSearch;
use crate::survey::{Survey, survey};

/// Thinks with the searches that the [`Survey`] of the game speaks for.
pub(crate) struct Flagship<G: Playable> {
    game: G,
    way: Option<Way<G>>,
}

/// How a game is played.
enum Way<G: Playable> {
    /// By a line that leads to the goal.
    Puzzle(PuzzleSearch<G>),
    /// By searches, one after the other, the last of which keeps its tree.
    Stages(Vec<Stage<G>>),
}

/// One search and the part of the time that is left which it gets.
struct Stage<G: Playable> {
    search: OneSearch<G>,
    part: f64,
}

/// Random games that are enough to know a game by, and the part of the clock they get.
const N_SURVEYED: u64 = 200;
const SURVEY_PART: f64 = 0.2;

impl<G: Playable> Flagship<G> {
    pub fn new(game: &G) -> Self {
        Self { game: game.clone(), way: None }
    }

    /// Looks at the game if it has not yet, and takes its searches.
    fn way(&mut self, limits: &Limits) -> &mut Way<G> {
        self.way.get_or_insert_with(|| {
            // With a limit of iterations the choice must not depend on the clock.
            let deadline = match limits.iterations {
                Some(_) => Deadline::never(),
                None => part_of(&limits.deadline, SURVEY_PART),
            };
            let found = survey(&self.game, N_SURVEYED, limits.seed, &deadline);
            if is_puzzle(&found) {
                return Way::Puzzle(PuzzleSearch::new(&self.game));
            }
            let stage = |(spec, part): (SearchSpec, f64)| Stage {
                search: OneSearch::new(&self.game, &spec),
                part,
            };
            // So must whether batches are worth it: without a clock they are not asked about.
            let is_faster = found.batched_per_second > BATCH_GAIN * found.playouts_per_second;
            let batches = limits.iterations.is_none() && is_faster;
            Way::Stages(plan(&found, batches).into_iter().map(stage).collect())
        })
    }
}

impl<G: Playable> Mind<G> for Flagship<G> {
    fn prepare(&mut self, role: RoleId, limits: &Limits) {
        let mut cursor = self.game.cursor();
        if cursor.is_terminal() || cursor.legal_moves(role).is_empty() {
            return;
        }
        match self.way(limits) {
            Way::Puzzle(search) => drop(search.search(cursor.state(), role, limits)),
            Way::Stages(stages) => {
                stages.last_mut().expect("a plan has a stage").search.warm_up(role, limits);
            }
        }
    }

    fn think(&mut self, states: &[StateOf<G>], role: RoleId, limits: &Limits) -> Opinion {
        let is_hidden = self.game.has_percepts();
        let stages = match self.way(limits) {
            Way::Puzzle(search) => {
                let report = search.search(&states[0], role, limits);
                return Opinion { report, search: "puzzle".into() };
            }
            Way::Stages(stages) => stages,
        };
        if is_hidden {
            let stage = stages.last_mut().expect("a plan has a stage");
            return stage.search.think(states, role, limits);
        }
        let mut before: Option<SearchReport> = None;
        let mut names: Vec<&str> = Vec::new();
        for stage in stages {
            let deadline = part_of(&limits.deadline, stage.part);
            let iterations = limits.iterations.map(|n| ((n as f64 * stage.part) as u64).max(1));
            let limits = Limits { deadline, iterations, ..limits.clone() };
            let report = stage.search.search(&states[0], role, &limits);
            names.push(stage.search.name());
            let report = match before {
                Some(before) => respecting(&before, report),
                None => report,
            };
            let is_settled = report.is_proven;
            before = Some(report);
            if is_settled {
                break;
            }
        }
        let report = before.expect("a plan has a stage");
        Opinion { report, search: names.join("+") }
    }
}

fn is_puzzle(survey: &Survey) -> bool {
    let features = &survey.features;
    features.n_roles == 1 && !features.chance && !features.hidden_information
}

/// A report that keeps away from moves which an earlier search proved to be worse than what this one
/// expects, if there are others.
fn respecting(before: &SearchReport, mut report: SearchReport) -> SearchReport {
    let proven = |id| {
        let of = |report: &SearchReport| {
            report.moves.iter().find(|found| found.id == id).and_then(|found| found.proven)
        };
        of(before).or(of(&report))
    };
    let is_lost = |id| proven(id).is_some_and(|reward| reward <= 0.0);
    if report.is_proven || !report.chosen.is_some_and(is_lost) {
        return report;
    }
    let others = report.moves.iter().filter(|found| !is_lost(found.id));
    if let Some(best) = others.max_by_key(|found| found.n_visits) {
        report.chosen = Some(best.id);
        report.reward = best.mean_reward;
        report.line.clear();
    }
    report
}

/// The searches for a game, one after the other, each with its part of the time that is left then.
///
/// The statistics of an ancestor guide the tree: that did best with turns and with moves at once, for two
/// roles and for more. Leaves are played out in batches where that is faster. Where two roles take turns
/// for opposite goals, a short search in depth first sees what is forced. Where states are only possible,
/// each gets too little time for either.
fn plan(survey: &Survey, batches: bool) -> Vec<(SearchSpec, f64)> {
    let features = &survey.features;
    if features.hidden_information {
        return vec![(search("uct"), 1.0)];
    }
    let tree = (search(if batches { BATCHED } else { "grave" }), 1.0);
    let is_duel = features.n_roles == 2
        && survey.is_constant_sum
        && !features.simultaneous
        && !features.chance;
    if is_duel { vec![(search(FORCED), FORCED_PART), tree] } else { vec![tree] }
}

/// As many playouts at once as fill the lanes of most processors. With fewer leaves the tree grows too
/// slowly, with more it does not learn from one batch what to try in the next.
const BATCHED: &str = "grave:leaves=32,playouts=8";
/// How much faster playouts have to be side by side: games that wait for the longest of a batch, and
/// leaves that are chosen before others are known, cost something too.
const BATCH_GAIN: f64 = 3.0;
/// Looks for what is forced; a small table is one that the caches hold, and estimates matter little.
const FORCED: &str = "alphabeta:table=4,proximity=0";
/// The part of a turn in which forced lines are looked for.
const FORCED_PART: f64 = 0.12;

fn search(name: &str) -> SearchSpec {
    SearchSpec::parse(name).expect("the search is registered")
}
