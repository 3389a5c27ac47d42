//! The player `ludex`: looks at the game, then chooses what to think with.

use ludex_base::RoleId;
use ludex_game::{Cursor, StateOf};
use ludex_search::alphabeta::DepthFirstOptions;
use ludex_search::duel::{FORCED_PART, FORCED_SEARCH};
use ludex_search::ismcts::IsmctsOptions;
use ludex_search::mcts::UctOptions;
use ludex_search::{Hint, Limits};

use crate::Playable;
use crate::contest::{Contender, contest};
use crate::hidden_contest::best_stages;
use crate::knowledge::Situation;
use crate::mind::{Mind, Opinion, starts_with_a_move};
use crate::puzzle::PuzzleSearch;
use crate::stages::{StageList, StageSpec, Stages};
use crate::survey::{Survey, survey};

ludex_search::search_options! {
    /// Options of the flagship, which say what it may choose from.
    pub struct FlagshipOptions {
        /// tries depth with an evaluation learned in the start clock
        learned: bool = false,
        /// tries depth with an evaluation by what the rules suggest
        rules: bool = true,
        /// searches what its role knows where that is not all
        beliefs: bool = true,
    }
}

/// Thinks with the searches that the [`Survey`] of the game speaks for.
pub(crate) struct Flagship<G: Playable> {
    game: G,
    options: FlagshipOptions,
    strategy: Option<Strategy<G>>,
}

/// How a game is played.
enum Strategy<G: Playable> {
    /// By a line that leads to the goal.
    Puzzle(PuzzleSearch<G>),
    /// By searches, one after the other.
    Stages(Stages<G>),
}

/// Random games that are enough to know a game by, and the part of the clock they get.
const N_SURVEYED: u64 = 200;
const SURVEY_PART: f64 = 0.2;

impl<G: Playable> Flagship<G> {
    pub fn new(game: &G, options: &FlagshipOptions) -> Self {
        Self { game: game.clone(), options: options.clone(), strategy: None }
    }

    /// Looks at the game if it has not yet, and takes its searches.
    ///
    /// In the start clock, for the role that will play, searches can be tried against each other.
    fn strategy(&mut self, starting: Option<RoleId>, limits: &Limits) -> &mut Strategy<G> {
        self.strategy.get_or_insert_with(|| {
            // With a limit of iterations the choice must not depend on the clock.
            let deadline = match limits.iterations {
                Some(_) => limits.deadline.clone(),
                None => limits.deadline.part(SURVEY_PART),
            };
            let found = survey(&self.game, N_SURVEYED, limits.seed, &deadline);
            if is_puzzle(&found) {
                return Strategy::Puzzle(PuzzleSearch::new(&self.game));
            }
            // The batch decision must not depend on the clock either.
            let is_faster = found.batched_per_second > BATCH_GAIN * found.playouts_per_second;
            let batches = limits.iterations.is_none() && is_faster;
            let stages = stages(&found, batches, &self.options);
            if found.features.hidden_information
                && self.options.beliefs
                && starting.is_some()
                && limits.iterations.is_none()
            {
                let stages = best_stages(&self.game, stages, &found, limits);
                return Strategy::Stages(Stages::new(&self.game, &stages));
            }
            let tried = starting
                .filter(|_| is_opposed(&found) && limits.iterations.is_none())
                .map(|role| best_of(&self.game, role, &stages, &found, &self.options, limits));
            Strategy::Stages(tried.unwrap_or_else(|| Stages::new(&self.game, &stages)))
        })
    }
}

impl<G: Playable> Mind<G> for Flagship<G> {
    fn prepare(&mut self, role: RoleId, limits: &Limits) {
        if !starts_with_a_move(&self.game, role) {
            return;
        }
        let initial = self.game.cursor();
        match self.strategy(Some(role), limits) {
            Strategy::Puzzle(search) => drop(search.search(initial.state(), role, limits)),
            Strategy::Stages(stages) => stages.warm_up(role, limits),
        }
    }

    fn think(
        &mut self,
        situation: &Situation<StateOf<G>>,
        role: RoleId,
        limits: &Limits,
    ) -> Opinion {
        match (self.strategy(None, limits), situation) {
            (Strategy::Puzzle(search), Situation::Open(state)) => {
                let report = search.search(state, role, limits);
                Opinion { report, search: "puzzle".into() }
            }
            (Strategy::Stages(stages), Situation::Open(state)) => stages.think(state, role, limits),
            (Strategy::Stages(stages), Situation::Hidden(known)) => {
                stages.think_hidden(known, limits)
            }
            (Strategy::Puzzle(_), Situation::Hidden(_)) => panic!("a puzzle hides nothing"),
        }
    }
}

fn is_puzzle(survey: &Survey) -> bool {
    let features = &survey.features;
    features.n_roles == 1 && !features.chance && !features.hidden_information
}

/// Two roles play for opposite goals, and nothing is hidden; a duel, but that they may choose at once, and
/// chance may play along.
fn is_opposed(survey: &Survey) -> bool {
    let features = &survey.features;
    features.n_roles == 2 && survey.is_constant_sum && !features.hidden_information
}

/// The stages, or a search of all moves to some depth, whichever plays the game better as far as the
/// start clock can tell; with what it learned there.
fn best_of<G: Playable>(
    game: &G,
    role: RoleId,
    stages: &StageList,
    survey: &Survey,
    options: &FlagshipOptions,
    limits: &Limits,
) -> Stages<G> {
    let depth_first = depth_first_stages(survey, options);
    let within = |part: f64| Limits {
        deadline: limits.deadline.part(part),
        hint: Hint::default(),
        // All have their trees and tables at once, one for each seat.
        memory: limits.memory / (2 * (depth_first.len() + 1)),
        ..limits.clone()
    };
    let mut champion = Contender::new(game, stages);
    let mut challengers: Vec<Contender<G>> =
        depth_first.iter().map(|stages| Contender::new(game, stages)).collect();
    // What it learns is to be had in the first game already.
    for learning in challengers.iter_mut().skip(1) {
        learning.warm_up(&within(LEARNING_PART));
    }
    let limits = within(CONTEST_PART);
    match contest(game, &mut champion, &mut challengers, survey.mean_length, &limits) {
        Some(idx) => challengers.swap_remove(idx).into_mind(role),
        None => champion.into_mind(role),
    }
}

/// The searches for a game, one after the other, each with its part of the time that is left then.
///
/// In a duel a short search in depth first sees what is forced.
fn stages(survey: &Survey, batches: bool, options: &FlagshipOptions) -> StageList {
    let tree = tree(survey, batches, options);
    if survey.is_duel() {
        let forced =
            StageSpec { name: "alphabeta", search: FORCED_SEARCH.into(), part: FORCED_PART };
        vec![forced, tree]
    } else {
        vec![tree]
    }
}

/// Which tree suits a game, by what was measured (decision 26):
///
/// | the game | the tree | because |
/// | --- | --- | --- |
/// | hides information | one of what roles know, unless another does better in trials | possible states searched as if they were known mostly lose to it: decisions 25 and 38 |
/// | has chance | plain | what was good later on says little where chance comes between |
/// | is played much faster in batches | statistics of an ancestor | playouts one by one that learn lose to it by their number, and progressive history in batches is no better |
/// | any other | the same, playout by playout | the games of the corpus that are no faster in batches have many moves and few playouts: there playouts that learn were no better, or worse |
///
/// A batch has as many playouts as fill the lanes of most processors. With fewer leaves the tree grows too
/// slowly, with more it does not learn from one batch what to try in the next.
fn tree(survey: &Survey, batches: bool, options: &FlagshipOptions) -> StageSpec {
    let features = &survey.features;
    if features.hidden_information {
        return if options.beliefs {
            StageSpec::last("ismcts", IsmctsOptions::DEFAULT)
        } else {
            StageSpec::last("uct", UctOptions::DEFAULT)
        };
    }
    let (name, tree) =
        if features.chance { ("uct", UctOptions::DEFAULT) } else { ("grave", UctOptions::GRAVE) };
    let (leaves, playouts) = if batches { (32, 8) } else { (tree.leaves, tree.playouts) };
    StageSpec::last(name, UctOptions { leaves, playouts, ..tree })
}

/// Looks at all moves to some depth, which may be worth more than playouts. Where roles take turns, one
/// more step mostly tells more than how much a state looks like final ones, and states can be learned
/// about.
fn depth_first_stages(survey: &Survey, options: &FlagshipOptions) -> Vec<StageList> {
    let searches = if !survey.is_duel() {
        vec![DepthFirstOptions::DEFAULT]
    } else {
        let learning = [(options.learned, LEARNED), (options.rules, BY_RULES)];
        let tried = learning.into_iter().filter(|it| it.0).map(|it| it.1);
        std::iter::once(BY_MOBILITY).chain(tried).collect()
    };
    searches.into_iter().map(|search| vec![StageSpec::last("alphabeta", search)]).collect()
}

/// How much faster playouts have to be side by side: games that wait for the longest of a batch, and
/// leaves that are chosen before others are known, cost something too.
const BATCH_GAIN: f64 = 3.0;
/// Values what is left at the horizon by the moves each role has.
const BY_MOBILITY: DepthFirstOptions =
    DepthFirstOptions { proximity: 0.0, ..DepthFirstOptions::DEFAULT };
/// Values it by what random games say of the fluents that hold as well.
const LEARNED: DepthFirstOptions = DepthFirstOptions { learned: 4.0, ..BY_MOBILITY };
/// Values it by what the rules suggest to look at.
const BY_RULES: DepthFirstOptions = DepthFirstOptions { rules: 4.0, ..BY_MOBILITY };
/// The part of the start clock in which one contender learns about states, and the part of what is left then in
/// which searches are tried against each other.
const LEARNING_PART: f64 = 0.15;
const CONTEST_PART: f64 = 0.8;
