//! The player `ludex`: looks at the game, then chooses what to think with.

use ludex_base::RoleId;
use ludex_game::{Cursor, StateOf};
use ludex_search::duel::{FORCED_PART, forced_search, is_duel};
use ludex_search::{Hint, Limits, SearchSpec};

use crate::Playable;
use crate::contest::{Contender, contest};
use crate::hidden_contest::best_plan;
use crate::knowledge::Situation;
use crate::mind::{Mind, Opinion};
use crate::puzzle::PuzzleSearch;
use crate::stages::{Plan, Stages};
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
    way: Option<Way<G>>,
}

/// How a game is played.
enum Way<G: Playable> {
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
        Self { game: game.clone(), options: options.clone(), way: None }
    }

    /// Looks at the game if it has not yet, and takes its searches.
    ///
    /// In the start clock, for the role that will play, searches can be tried against each other.
    fn way(&mut self, starting: Option<RoleId>, limits: &Limits) -> &mut Way<G> {
        self.way.get_or_insert_with(|| {
            // With a limit of iterations the choice must not depend on the clock.
            let deadline = match limits.iterations {
                Some(_) => limits.deadline.clone(),
                None => limits.deadline.part(SURVEY_PART),
            };
            let found = survey(&self.game, N_SURVEYED, limits.seed, &deadline);
            if is_puzzle(&found) {
                return Way::Puzzle(PuzzleSearch::new(&self.game));
            }
            // So must whether batches are worth it: without a clock they are not asked about.
            let is_faster = found.batched_per_second > BATCH_GAIN * found.playouts_per_second;
            let batches = limits.iterations.is_none() && is_faster;
            let plan = plan(&found, batches, &self.options);
            if found.features.hidden_information
                && self.options.beliefs
                && starting.is_some()
                && limits.iterations.is_none()
            {
                let plan = best_plan(&self.game, plan, &found, limits);
                return Way::Stages(Stages::new(&self.game, &plan));
            }
            let tried = starting
                .filter(|_| is_opposed(&found) && limits.iterations.is_none())
                .map(|role| best_of(&self.game, role, &plan, &found, &self.options, limits));
            Way::Stages(tried.unwrap_or_else(|| Stages::new(&self.game, &plan)))
        })
    }
}

impl<G: Playable> Mind<G> for Flagship<G> {
    fn prepare(&mut self, role: RoleId, limits: &Limits) {
        let mut cursor = self.game.cursor();
        if cursor.is_terminal() || cursor.legal_moves(role).is_empty() {
            return;
        }
        match self.way(Some(role), limits) {
            Way::Puzzle(search) => drop(search.search(cursor.state(), role, limits)),
            Way::Stages(stages) => stages.warm_up(role, limits),
        }
    }

    fn think(
        &mut self,
        situation: &Situation<StateOf<G>>,
        role: RoleId,
        limits: &Limits,
    ) -> Opinion {
        match (self.way(None, limits), situation) {
            (Way::Puzzle(search), Situation::Open(state)) => {
                let report = search.search(state, role, limits);
                Opinion { report, search: "puzzle".into() }
            }
            (Way::Stages(stages), Situation::Open(state)) => stages.think(state, role, limits),
            (Way::Stages(stages), Situation::Hidden(known)) => stages.think_hidden(known, limits),
            (Way::Puzzle(_), Situation::Hidden(_)) => panic!("a puzzle hides nothing"),
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

/// The plan, or a way to look at all moves to some depth, whichever plays the game better as far as the
/// start clock can tell; with what it learned there.
fn best_of<G: Playable>(
    game: &G,
    role: RoleId,
    plan: &Plan,
    survey: &Survey,
    options: &FlagshipOptions,
    limits: &Limits,
) -> Stages<G> {
    let plans = depth_plans(survey, options);
    let within = |part: f64| Limits {
        deadline: limits.deadline.part(part),
        hint: Hint::default(),
        // All have their trees and tables at once, one for each seat.
        memory: limits.memory / (2 * (plans.len() + 1)),
        ..limits.clone()
    };
    let mut champion = Contender::new(game, plan);
    let mut challengers: Vec<Contender<G>> =
        plans.iter().map(|plan| Contender::new(game, plan)).collect();
    // What it learns is to be had in the first game already.
    for learning in challengers.iter_mut().skip(1) {
        learning.warm_up(&within(LEARNING_PART));
    }
    let limits = within(CONTEST_PART);
    match contest(game, &mut champion, &mut challengers, survey.mean_length, &limits) {
        Some(place) => challengers.swap_remove(place).into_mind(role),
        None => champion.into_mind(role),
    }
}

/// The searches for a game, one after the other, each with its part of the time that is left then.
///
/// In a duel a short search in depth first sees what is forced.
fn plan(survey: &Survey, batches: bool, options: &FlagshipOptions) -> Plan {
    let tree = (search(tree(survey, batches, options)), 1.0);
    if is_duel(&survey.features, survey.is_constant_sum) {
        vec![(forced_search(), FORCED_PART), tree]
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
fn tree(survey: &Survey, batches: bool, options: &FlagshipOptions) -> &'static str {
    let features = &survey.features;
    match (features.chance, batches) {
        _ if features.hidden_information => {
            if options.beliefs {
                "ismcts"
            } else {
                "uct"
            }
        }
        (true, true) => "uct:leaves=32,playouts=8",
        (true, false) => "uct",
        (false, true) => "grave:leaves=32,playouts=8",
        (false, false) => "grave",
    }
}

/// Looks at all moves to some depth, which may be worth more than playouts. Where roles take turns, one
/// more step mostly tells more than how much a state looks like final ones, and states can be learned
/// about.
fn depth_plans(survey: &Survey, options: &FlagshipOptions) -> Vec<Plan> {
    let names = if !is_duel(&survey.features, survey.is_constant_sum) {
        vec!["alphabeta"]
    } else {
        let learning = [(options.learned, LEARNED), (options.rules, BY_RULES)];
        let tried = learning.into_iter().filter(|it| it.0).map(|it| it.1);
        std::iter::once(DEEP).chain(tried).collect()
    };
    names.iter().map(|name| vec![(search(name), 1.0)]).collect()
}

/// How much faster playouts have to be side by side: games that wait for the longest of a batch, and
/// leaves that are chosen before others are known, cost something too.
const BATCH_GAIN: f64 = 3.0;
/// Values what is left at the horizon by the moves each role has.
const DEEP: &str = "alphabeta:proximity=0";
/// Values it by what random games say of the fluents that hold as well.
const LEARNED: &str = "alphabeta:proximity=0,learned=4";
/// Values it by what the rules suggest to look at.
const BY_RULES: &str = "alphabeta:proximity=0,rules=4";
/// The part of the start clock in which one contender learns about states, and the part of what is left then in
/// which ways to play are tried against each other.
const LEARNING_PART: f64 = 0.15;
const CONTEST_PART: f64 = 0.8;

fn search(name: &str) -> SearchSpec {
    SearchSpec::parse(name).expect("the search is registered")
}
