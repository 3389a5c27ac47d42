//! Searches on networks for roles that do not know the state.
//!
//! First the search plans the next steps by a stochastic network of what the role knows
//! ([`information`](crate::information)): one step, then two, as many as fit in a part of the time and
//! within [`LookaheadLimits`]. A plan that reaches the end of every play gives exact values. Without such a plan
//! another search plays. In the published variant that is the list of networks, for one possible state after
//! the other. Otherwise it is a search by what roles know, without the possible states whose result is
//! certain: the network proves that every play from them ends alike.
//!
//! Invariant: nothing here receives the true state. A certain result holds for every move, so leaving the
//! state out changes no choice.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ludex_base::{BitSet, Deadline, Goal, MoveId, PerceptId, Rng, RoleId};
use ludex_circuit::Rules;
use ludex_encode::{LookaheadError, LookaheadLimits};
use ludex_game::{
    Belief, BeliefError, BeliefLimits, Cursor, Describe, Game, MAX_RANDOM_STEPS, Observe, OneByOne,
    PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts, Role, StateOf,
};
use ludex_search::hyperplay::{ImperfectPlay, ImperfectPlayOptions};
use ludex_search::ismcts::{Ismcts, IsmctsOptions};
use ludex_search::{
    HiddenSearcher, Information, InformationSearcher, MoveReport, SearchLimits, SearchReport,
    Searchable, Searcher,
};

use crate::information::{Estimate, Planned, nothing, plan_moves};
use crate::networks::Networks;
use crate::outlook::Outlook;
use crate::work::NetworkWork;

/// How to plan, and which plans to play.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct PlanOptions {
    /// The part of the time for planning.
    pub share: f64,
    /// Whether to play only plans that reach the end of every play and in which no other role chooses.
    /// Such plans are optimal; all others assume that the other roles play at random.
    pub only_exact: bool,
}

/// Most steps of a plan.
const MAX_STEPS: usize = 30;
/// Fewest steps of a plan that does not reach the end; a shorter one adds little to its playouts.
const MIN_STEPS: usize = 3;
/// Planning one more step takes at least this many times as long; without that time it does not begin.
const MIN_STEP_GROWTH: u32 = 2;
/// Playouts from each state in which a plan ends.
const N_PLAYOUTS: usize = 8;

/// Most beliefs of a plan.
const MAX_BELIEFS: u64 = 1_000;
/// Least bound on the beliefs of a plan, however few iterations are allowed.
const MIN_BELIEFS: u64 = 20;
/// Most possible states of a belief.
const MAX_STATES_OF_BELIEF: usize = 500;

fn limits_of_plan(
    options: PlanOptions,
    limits: &SearchLimits,
    deadline: &Deadline,
) -> LookaheadLimits {
    // With an iteration limit, each belief counts as an iteration.
    let max_beliefs = limits.iterations.map_or(MAX_BELIEFS, |n| n.clamp(MIN_BELIEFS, MAX_BELIEFS));
    LookaheadLimits {
        max_beliefs: max_beliefs as usize,
        max_rows: 1 << 14,
        belief: BeliefLimits {
            max_states: MAX_STATES_OF_BELIEF,
            max_joint_moves: 4 * MAX_STATES_OF_BELIEF,
            deadline: deadline.clone(),
        },
        others_may_choose: !options.only_exact,
        has_fluents: false,
    }
}

/// A search that plans, and falls back on another search when there is no good plan.
pub(crate) struct Informed<G: Playouts> {
    name: &'static str,
    game: G,
    networks: Arc<Networks<StateOf<G>>>,
    options: PlanOptions,
    /// Plays one game after the other, because a batch takes long to start.
    runner: OneByOne<G::Cursor>,
    otherwise: HiddenSearcher<G>,
}

impl<G: Searchable> Informed<G> {
    pub fn new(
        name: &'static str,
        game: &G,
        networks: &Arc<Networks<StateOf<G>>>,
        options: PlanOptions,
        otherwise: HiddenSearcher<G>,
    ) -> Self {
        let runner = OneByOne::new(game);
        let (game, networks) = (game.clone(), Arc::clone(networks));
        Self { name, game, networks, options, runner, otherwise }
    }

    /// The longest plan that fits, or the reason why no plan is good enough.
    fn plan(
        &mut self,
        known: &Information<StateOf<G>>,
        limits: &SearchLimits,
    ) -> Result<Planned, String> {
        // With an iteration limit, only its size bounds a plan, not the clock.
        let deadline = match limits.iterations {
            Some(_) => limits.deadline.clone(),
            None => limits.deadline.part(self.options.share),
        };
        let template = self.networks.template(&limits.deadline)?;
        let rules = self.networks.rules();
        if self.options.only_exact && !known.is_exact() {
            return Err("the possible states are only a sample".into());
        }
        if known.possible().len() > MAX_STATES_OF_BELIEF {
            return Err(format!(
                "{} possible states, the limit is {MAX_STATES_OF_BELIEF}",
                known.possible().len()
            ));
        }
        let game = InFluents { game: &self.game, rules };
        let states =
            known.possible().iter().map(|it| (rules.fluents(&it.state).clone(), it.weight));
        let role = known.role();
        let belief = Belief::of(&game, &[role], states);
        let plan_limits = limits_of_plan(self.options, limits, &deadline);
        let mut estimate: Box<Estimate<'_>> = if self.options.only_exact {
            Box::new(nothing)
        } else {
            let rng = limits.seed.child(PLAYOUT_SEED).rng();
            Box::new(by_playouts(&mut self.runner, rules, role, deadline.clone(), rng))
        };
        let mut longest: Option<Planned> = None;
        let mut why = String::new();
        for n_steps in 1..=MAX_STEPS {
            let begin = Instant::now();
            let planned = plan_moves(
                &template,
                &game,
                &belief,
                n_steps,
                &plan_limits,
                &deadline,
                &mut *estimate,
            );
            match planned {
                // A plan with unfinished playouts is worthless.
                Ok(Some(planned)) if planned.is_exact || !deadline.reached() => {
                    longest = Some(planned);
                }
                Ok(_) | Err(LookaheadError::Belief(BeliefError::Late)) => {
                    why = format!("no time to plan {n_steps} steps");
                }
                Err(error) => why = error.to_string(),
            }
            let is_done = longest.as_ref().is_some_and(|planned| planned.is_exact);
            let is_short = |left| left < MIN_STEP_GROWTH * begin.elapsed();
            if is_done || !why.is_empty() || deadline.remaining().is_some_and(is_short) {
                break;
            }
        }
        let only_exact = self.options.only_exact;
        let is_enough = |plan: &Planned| plan.is_exact || !only_exact && plan.n_steps >= MIN_STEPS;
        match longest {
            Some(planned) if is_enough(&planned) => Ok(planned),
            _ if why.is_empty() => Err("the longest plan that fits does not reach the end".into()),
            _ => Err(why),
        }
    }
}

/// Estimates the rewards of a role by playouts.
fn by_playouts<'a, C: Cursor>(
    runner: &'a mut OneByOne<C>,
    rules: &'a dyn Rules<C::State>,
    role: RoleId,
    deadline: Deadline,
    mut rng: Rng,
) -> impl FnMut(&[&BitSet]) -> Vec<f64> + 'a {
    move |open: &[&BitSet]| {
        let starts: Vec<C::State> = open.iter().map(|it| rules.state(it)).collect();
        let request = PlayoutRequest {
            starts: &starts,
            n_per_start: N_PLAYOUTS,
            max_steps: MAX_RANDOM_STEPS,
            wants_moves: false,
            deadline: &deadline,
        };
        let mut results = PlayoutResults::default();
        runner.run(&request, &mut rng, &mut results);
        let reward = |idx: usize| match results.starts.get(idx) {
            Some(it) if it.n_playouts > 0 => {
                it.goal_sums[role.index()] as f64 / (100 * it.n_playouts) as f64
            }
            _ => 0.0,
        };
        (0..starts.len()).map(reward).collect()
    }
}

/// Separates the randomness of these playouts from that of other searches.
const PLAYOUT_SEED: u64 = 0x9_1A7;

impl<G: Searchable> InformationSearcher<StateOf<G>> for Informed<G> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&mut self, known: &Information<StateOf<G>>, limits: &SearchLimits) -> SearchReport {
        let legal = known.legal_moves();
        if legal.is_empty() || known.possible().is_empty() {
            return SearchReport::unsearched(legal);
        }
        limits.hint.set(legal[0]);
        let start = Instant::now();
        let planned = self.plan(known, limits);
        let mut work = NetworkWork { resolution: start.elapsed(), ..NetworkWork::default() };
        let why = match planned {
            Ok(planned) => {
                // With other roles, the probabilities of the possible states depend on a model of them.
                let is_alone = self.game.roles().iter().filter(|role| !role.is_random).count() == 1;
                let is_proven =
                    planned.is_exact && self.options.only_exact && known.is_exact() && is_alone;
                match report_of(&planned, legal, is_proven) {
                    Some(report) => {
                        let end = if planned.is_exact { "to the end" } else { "then playouts" };
                        work.n_solved = planned.n_solved;
                        work.n_closed = u64::from(planned.is_exact);
                        work.plan = format!("{} steps, {end}", planned.n_steps);
                        return report.extended(work);
                    }
                    None => "the plan contains no legal move".into(),
                }
            }
            Err(why) => why,
        };
        let report = self.otherwise.search(known, limits);
        work.plan = format!("none: {why}");
        report.extension().into_iter().for_each(|done| work.add(done));
        report.extended(work)
    }
}

/// The report of a plan; `None` if it contains no legal move.
fn report_of(planned: &Planned, legal: &[MoveId], is_proven: bool) -> Option<SearchReport> {
    let moves = legal.iter().map(|&id| {
        let found = planned.moves.iter().find(|it| it.0 == id);
        found.map_or(MoveReport::untried(id), |&(_, reward)| MoveReport {
            id,
            n_visits: 1,
            mean_reward: Some(reward),
            proven: is_proven.then_some(reward),
        })
    });
    let moves: Vec<MoveReport> = moves.collect();
    let tried = moves.iter().filter_map(|it| Some((it.id, it.mean_reward?)));
    let (chosen, reward) = tried.reduce(|best, it| if it.1 > best.1 { it } else { best })?;
    Some(SearchReport {
        chosen: Some(chosen),
        reward: Some(reward),
        is_proven,
        n_iterations: planned.n_nodes,
        depth: planned.n_steps as u32,
        moves,
        ..SearchReport::default()
    })
}

/// A game whose states are represented as sets of fluents.
struct InFluents<'a, G: Game> {
    game: &'a G,
    rules: &'a dyn Rules<StateOf<G>>,
}

struct FluentCursor<'a, C: Cursor> {
    cursor: C,
    rules: &'a dyn Rules<C::State>,
}

impl<C: Cursor> Clone for FluentCursor<'_, C> {
    fn clone(&self) -> Self {
        Self { cursor: self.cursor.clone(), rules: self.rules }
    }
}

impl<'a, G: Game> Game for InFluents<'a, G> {
    type Cursor = FluentCursor<'a, G::Cursor>;

    fn roles(&self) -> &[Role] {
        self.game.roles()
    }

    fn cursor(&self) -> Self::Cursor {
        FluentCursor { cursor: self.game.cursor(), rules: self.rules }
    }

    fn has_percepts(&self) -> bool {
        self.game.has_percepts()
    }
}

impl<G: Describe> Describe for InFluents<'_, G> {
    fn move_text(&self, id: MoveId) -> String {
        self.game.move_text(id)
    }

    fn state_texts(&self, state: &BitSet) -> Vec<String> {
        self.game.state_texts(&self.rules.state(state))
    }

    fn percept_text(&self, id: PerceptId) -> String {
        self.game.percept_text(id)
    }

    fn find_move(&self, role: RoleId, text: &str) -> Option<MoveId> {
        self.game.find_move(role, text)
    }

    fn find_percept(&self, role: RoleId, text: &str) -> Option<PerceptId> {
        self.game.find_percept(role, text)
    }
}

impl<C: Cursor> Cursor for FluentCursor<'_, C> {
    type State = BitSet;

    fn state(&self) -> &BitSet {
        self.rules.fluents(self.cursor.state())
    }

    fn set_state(&mut self, state: &BitSet) {
        self.cursor.set_state(&self.rules.state(state));
    }

    fn play(&mut self, joint: &[MoveId]) {
        self.cursor.play(joint);
    }

    fn is_terminal(&mut self) -> bool {
        self.cursor.is_terminal()
    }

    fn legal_moves(&mut self, role: RoleId) -> &[MoveId] {
        self.cursor.legal_moves(role)
    }

    fn goals(&mut self, role: RoleId) -> &[Goal] {
        self.cursor.goals(role)
    }
}

impl<C: Observe> Observe for FluentCursor<'_, C> {
    fn percepts(&self, role: RoleId) -> &[PerceptId] {
        self.cursor.percepts(role)
    }
}

/// One searcher shared by all possible states. What it knows about states holds whichever is the true one.
pub(crate) struct Shared<S>(Arc<Mutex<S>>);

impl<S> Shared<S> {
    pub fn new(searcher: S) -> Self {
        Self(Arc::new(Mutex::new(searcher)))
    }
}

impl<S> Clone for Shared<S> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<C: Cursor, S: Searcher<C>> Searcher<C> for Shared<S> {
    fn name(&self) -> &'static str {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).name()
    }

    fn search(&mut self, root: &C, role: RoleId, limits: &SearchLimits) -> SearchReport {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).search(root, role, limits)
    }
}

/// A search by what roles know, from the possible states whose result is not yet certain.
pub(crate) struct OpenStates<G: Playouts> {
    name: &'static str,
    game: G,
    networks: Arc<Networks<StateOf<G>>>,
    /// The part of the time for the network.
    share: f64,
    search: HiddenSearcher<G>,
    outlook: Option<Outlook>,
}

/// The search by what roles know: `hyperplay-ii` for one role, where it did better than `ismcts` on short
/// clocks (decision 44), and `ismcts` for several.
///
/// The flagship tries both in its start clock, which a single search does not have.
fn by_knowledge<G: Searchable>(game: &G) -> HiddenSearcher<G> {
    match game.roles().iter().filter(|role| !role.is_random).count() {
        1 => Box::new(ImperfectPlay::new(game, ImperfectPlayOptions::default())),
        _ => Box::new(Ismcts::new(game, IsmctsOptions::default())),
    }
}

/// Most possible states to ask the network about in a turn.
const MAX_ASKED: usize = 200;
/// States after which asking stops if none of them had a certain result.
const MIN_ASKED_TO_JUDGE: usize = 12;

/// The possible states with a certain result.
struct Certain {
    /// The index of each such state, and the reward of the role, 0 to 1.
    rewards: Vec<(usize, f64)>,
    work: NetworkWork,
}

impl<G: Searchable> OpenStates<G> {
    pub fn new(
        name: &'static str,
        game: &G,
        networks: &Arc<Networks<StateOf<G>>>,
        share: f64,
    ) -> Self {
        let search = by_knowledge(game);
        let (game, networks) = (game.clone(), Arc::clone(networks));
        Self { name, game, networks, share, search, outlook: None }
    }

    /// Asks the network about the possible states, most probable first.
    fn ask(
        &mut self,
        known: &Information<StateOf<G>>,
        limits: &SearchLimits,
    ) -> Result<Certain, String> {
        if self.share <= 0.0 {
            return Ok(Certain { rewards: Vec::new(), work: NetworkWork::default() });
        }
        let deadline = match limits.iterations {
            Some(_) => limits.deadline.clone(),
            None => limits.deadline.part(self.share),
        };
        let outlook = match self.outlook.take() {
            Some(outlook) => outlook,
            None => self.networks.post(&limits.deadline, Outlook::new)?,
        };
        let outlook = self.outlook.insert(outlook);
        let start = Instant::now();
        let injected = outlook.injection;
        let possible = known.possible();
        let mut likely: Vec<usize> = (0..possible.len()).collect();
        likely.sort_by(|&a, &b| possible[b].weight.total_cmp(&possible[a].weight));
        let (mut rewards, mut n_solved) = (Vec::new(), 0);
        for idx in likely.into_iter().take(MAX_ASKED) {
            if deadline.reached() || rewards.is_empty() && n_solved >= MIN_ASKED_TO_JUDGE as u64 {
                break;
            }
            n_solved += 1;
            let fluents = self.networks.rules().fluents(&possible[idx].state);
            if let Some(goals) = outlook.certain_goals(fluents, &deadline) {
                rewards.push((idx, f64::from(goals[known.role().index()]) / 100.0));
            }
        }
        let injection = outlook.injection - injected;
        let work = NetworkWork {
            n_solved,
            n_closed: rewards.len() as u64,
            injection,
            resolution: start.elapsed().saturating_sub(injection),
            ..NetworkWork::default()
        };
        Ok(Certain { rewards, work })
    }
}

impl<G: Searchable> InformationSearcher<StateOf<G>> for OpenStates<G> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&mut self, known: &Information<StateOf<G>>, limits: &SearchLimits) -> SearchReport {
        let certain = self.ask(known, limits).unwrap_or_else(|note| Certain {
            rewards: Vec::new(),
            work: NetworkWork { note, ..NetworkWork::default() },
        });
        let start = Instant::now();
        let report = if certain.rewards.is_empty() {
            self.search.search(known, limits)
        } else {
            // The old tree contains playouts from states that are left out now. Moves with such playouts
            // could not be compared with moves without them.
            self.search = by_knowledge(&self.game);
            let is_certain = |idx| certain.rewards.iter().any(|it| it.0 == idx);
            let weight = |idx: usize| known.possible()[idx].weight;
            let part: f64 = certain.rewards.iter().map(|it| weight(it.0)).sum();
            let sum: f64 = certain.rewards.iter().map(|it| it.1 * weight(it.0)).sum();
            let report = match known.without(is_certain) {
                Some(open) => self.search.search(&open, limits),
                None => SearchReport {
                    reward: Some(0.0),
                    is_proven: known.is_exact(),
                    ..SearchReport::unsearched(known.legal_moves())
                },
            };
            with_certain(report, sum, (1.0 - part).max(0.0))
        };
        let work = NetworkWork { simulation: start.elapsed(), ..certain.work };
        report.extended(work)
    }
}

/// Adds the certain results to a report on the open states. `certain` is their weighted reward, `open` the
/// weight of the open states.
fn with_certain(mut report: SearchReport, certain: f64, open: f64) -> SearchReport {
    let whole = |reward: f64| (certain + open * reward).clamp(0.0, 1.0);
    report.reward = report.reward.map(whole);
    for found in &mut report.moves {
        found.mean_reward = found.mean_reward.map(whole);
        found.proven = found.proven.map(whole);
    }
    report
}
