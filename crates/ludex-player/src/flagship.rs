//! The player `ludex`: it studies the game, then chooses its searches.

use ludex_base::RoleId;
use ludex_game::{Cursor, StateOf};
use ludex_search::alphabeta::DepthFirstOptions;
use ludex_search::duel::{FORCED_PART, FORCED_SEARCH};
use ludex_search::ismcts::IsmctsOptions;
use ludex_search::mcts::UctOptions;
use ludex_search::{Hint, SearchLimits};

use crate::Playable;
use crate::contest::{Contender, contest};
use crate::hidden_contest::best_stages;
use crate::knowledge::Situation;
use crate::mind::{Mind, Opinion, starts_with_a_move};
use crate::proved::Proved;
use crate::puzzle::PuzzleSearch;
use crate::stages::{StageList, StageSpec, Stages};
use crate::survey::{Survey, survey};

ludex_search::search_options! {
    /// Options of the flagship: the searches it may choose from.
    pub struct FlagshipOptions {
        /// try alpha-beta with an evaluation learned in the start clock
        learned: bool = false,
        /// try alpha-beta with an evaluation by features of the rules
        rules: bool = true,
        /// search by what the role knows when the state is hidden
        beliefs: bool = true,
        /// take puzzles apart and combine the plans of their parts
        parts: bool = false,
        /// search the tree on states folded by the symmetries of the game
        fold: bool = false,
        /// list all states of a small game for two roles in the start clock, and play what is proved
        exact: bool = true,
    }
}

/// The mind of the flagship: it chooses searches by the [`Survey`] of the game.
pub(crate) struct Flagship<G: Playable> {
    game: G,
    options: FlagshipOptions,
    strategy: Option<Strategy<G>>,
    /// What is proved about all states of a small game.
    proved: Option<Proved<G>>,
}

/// How the flagship plays a game.
enum Strategy<G: Playable> {
    /// By a line of moves that leads to the goal.
    Puzzle(PuzzleSearch<G>),
    /// By searches, one after the other.
    Stages(Stages<G>),
}

/// Random games of the survey.
const N_SURVEYED: u64 = 200;
/// The part of the start clock that the survey may take.
const SURVEY_PART: f64 = 0.2;

impl<G: Playable> Flagship<G> {
    pub fn new(game: &G, options: &FlagshipOptions) -> Self {
        Self { game: game.clone(), options: options.clone(), strategy: None, proved: None }
    }

    /// The strategy for the game, chosen at the first call.
    ///
    /// In the start clock, `starting` is the role to play, and there is time to try searches against each other.
    fn strategy(&mut self, starting: Option<RoleId>, limits: &SearchLimits) -> &mut Strategy<G> {
        self.strategy.get_or_insert_with(|| {
            // With an iteration limit the choice must not depend on the clock.
            let deadline = match limits.iterations {
                Some(_) => limits.deadline.clone(),
                None => limits.deadline.part(SURVEY_PART),
            };
            let found = survey(&self.game, N_SURVEYED, limits.seed, &deadline);
            if is_puzzle(&found) {
                return Strategy::Puzzle(PuzzleSearch::new(&self.game, self.options.parts));
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
    fn prepare(&mut self, role: RoleId, limits: &SearchLimits) {
        if !starts_with_a_move(&self.game, role) {
            return;
        }
        self.proved = if self.options.exact { Proved::find(&self.game, limits) } else { None };
        if self.proved.as_ref().is_some_and(|proved| proved.wins(role)) {
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
        limits: &SearchLimits,
    ) -> Opinion {
        if let (Some(proved), Situation::Open(state)) = (&mut self.proved, situation)
            && let Some(report) = proved.win(state, role)
        {
            return Opinion { report, search: "proved".into() };
        }
        let opinion = match (self.strategy(None, limits), situation) {
            (Strategy::Puzzle(search), Situation::Open(state)) => {
                let report = search.search(state, role, limits);
                Opinion { report, search: "puzzle".into() }
            }
            (Strategy::Stages(stages), Situation::Open(state)) => stages.think(state, role, limits),
            (Strategy::Stages(stages), Situation::Hidden(known)) => {
                stages.think_hidden(known, limits)
            }
            (Strategy::Puzzle(_), Situation::Hidden(_)) => {
                panic!("a puzzle has no hidden information")
            }
        };
        match (&mut self.proved, situation) {
            (Some(proved), Situation::Open(state)) => proved.correct(state, role, opinion),
            _ => opinion,
        }
    }
}

fn is_puzzle(survey: &Survey) -> bool {
    let features = &survey.features;
    features.n_roles == 1 && !features.chance && !features.hidden_information
}

/// Whether two roles play for opposite goals without hidden information. Unlike in a duel, they may move
/// simultaneously, and there may be chance.
fn is_opposed(survey: &Survey) -> bool {
    let features = &survey.features;
    features.n_roles == 2 && survey.is_constant_sum && !features.hidden_information
}

/// The winner of a contest in the start clock between the given stages and depth-first searches. It keeps
/// what it learned there.
fn best_of<G: Playable>(
    game: &G,
    role: RoleId,
    stages: &StageList,
    survey: &Survey,
    options: &FlagshipOptions,
    limits: &SearchLimits,
) -> Stages<G> {
    let depth_first = depth_first_stages(survey, options);
    let within = |part: f64| SearchLimits {
        deadline: limits.deadline.part(part),
        hint: Hint::default(),
        // Every contender has a tree or table for each of the two seats, all at the same time.
        memory: limits.memory / (2 * (depth_first.len() + 1)),
        ..limits.clone()
    };
    let mut champion = Contender::new(game, stages);
    let mut challengers: Vec<Contender<G>> =
        depth_first.iter().map(|stages| Contender::new(game, stages)).collect();
    // Evaluations are learned before the first game of the contest.
    for learning in challengers.iter_mut().skip(1) {
        learning.warm_up(&within(LEARNING_PART));
    }
    let limits = within(CONTEST_PART);
    match contest(game, &mut champion, &mut challengers, survey.mean_length, &limits) {
        Some(idx) => challengers.swap_remove(idx).into_mind(role),
        None => champion.into_mind(role),
    }
}

/// The searches for a game, which run one after the other; each takes a part of the remaining time.
///
/// In a duel a short alpha-beta search comes first and finds forced results.
fn stages(survey: &Survey, batches: bool, options: &FlagshipOptions) -> StageList {
    let tree = tree(survey, batches, options);
    if survey.is_duel() {
        let forced = StageSpec { part: FORCED_PART, ..StageSpec::last("alphabeta", FORCED_SEARCH) };
        vec![forced, tree]
    } else {
        vec![tree]
    }
}

/// The tree search that suits a game, by measurements (decision 26):
///
/// | the game | the tree | because |
/// | --- | --- | --- |
/// | hides information | over what roles know, unless a trial finds a better search | searching possible states as if they were known mostly loses to it: decisions 25 and 38 |
/// | has chance | plain UCT | moves that did well later say little when chance comes between |
/// | is played much faster in batches | GRAVE, in batches | learning playouts, which run one by one, lose to it by their number, and progressive history in batches is no better |
/// | any other | GRAVE, playout by playout | games of the corpus that gain nothing from batches have many moves and few playouts; there learning playouts were no better, or worse |
///
/// A batch of 32 leaves with 8 playouts each fills the lanes of most processors. With fewer leaves the tree
/// grows too slowly; with more it cannot learn from one batch what to try in the next.
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
    let tree = StageSpec::last(name, UctOptions { leaves, playouts, ..tree });
    StageSpec { folds: options.fold, ..tree }
}

/// The depth-first searches that challenge the tree in the contest.
///
/// In a duel the evaluation leaves out the likeness to final states, because a horizon one step deeper is
/// mostly worth more. Duels also admit the learned evaluations.
fn depth_first_stages(survey: &Survey, options: &FlagshipOptions) -> Vec<StageList> {
    let searches = if !survey.is_duel() {
        vec![DepthFirstOptions::DEFAULT]
    } else {
        let learning = [(options.learned, LEARNED), (options.rules, BY_RULES)];
        let wanted = learning.into_iter().filter(|(is_wanted, _)| *is_wanted);
        std::iter::once(BY_MOBILITY).chain(wanted.map(|(_, search)| search)).collect()
    };
    searches.into_iter().map(|search| vec![StageSpec::last("alphabeta", search)]).collect()
}

/// How many times faster batches must be before they are used. They have costs that this speed does not
/// show: a batch waits for its longest game, and its leaves are chosen before each other's results.
const BATCH_GAIN: f64 = 3.0;
/// Evaluates states at the horizon by the number of moves of each role.
const BY_MOBILITY: DepthFirstOptions =
    DepthFirstOptions { proximity: 0.0, ..DepthFirstOptions::DEFAULT };
/// Adds what random games say about the fluents of the state.
const LEARNED: DepthFirstOptions = DepthFirstOptions { learned: 4.0, ..BY_MOBILITY };
/// Adds the features that the rules suggest.
const BY_RULES: DepthFirstOptions = DepthFirstOptions { rules: 4.0, ..BY_MOBILITY };
/// The part of the remaining start clock in which one contender learns to evaluate states.
const LEARNING_PART: f64 = 0.15;
/// The part of the rest in which the contenders play each other.
const CONTEST_PART: f64 = 0.8;
