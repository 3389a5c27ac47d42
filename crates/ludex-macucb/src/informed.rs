//! Searches on networks for roles who do not know the state.
//!
//! First the next steps are planned, by a stochastic network of what the role knows
//! ([`information`](crate::information)): one step, two, as many as fit in a part of the time and
//! within [`PlanLimits`]. A plan that comes to the end of every play says exactly what moves are
//! worth. Where there is none, another search plays: as it was published the list of networks, for one
//! possible state after the other; else a search by what roles know, without the possible states of
//! which the network says that every play from them ends alike.
//!
//! Invariant: nothing here is given the true state. What is certain of a possible state holds for
//! every move, so that leaving it out changes no choice.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use ludex_base::{BitSet, Deadline, Goal, MoveId, PerceptId, Rng, RoleId};
use ludex_circuit::Rules;
use ludex_encode::{PlanError, PlanLimits};
use ludex_game::{
    Belief, BeliefError, BeliefLimits, Cursor, Describe, Game, MAX_RANDOM_STEPS, Observe, OneByOne,
    PlayoutRequest, PlayoutResults, PlayoutRunner, Playouts, Role, StateOf,
};
use ludex_search::hyperplay::{ImperfectPlay, ImperfectPlayOptions};
use ludex_search::ismcts::{Ismcts, IsmctsOptions};
use ludex_search::{
    HiddenSearcher, Information, InformationSearcher, Limits, MoveReport, SearchReport, Searchable,
    Searcher,
};

use crate::information::{Estimate, Planned, nothing, plan_moves};
use crate::networks::Networks;
use crate::outlook::Outlook;
use crate::work::NetworkWork;

/// Which plans are played.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct PlanOptions {
    /// The part of the time in which plans are made.
    pub share: f64,
    /// Whether only those are that come to the end of every play, in which nobody else has a choice:
    /// then they are the best there is, while others may play better than at random.
    pub only_exact: bool,
}

/// Steps that are planned at most.
const MAX_STEPS: usize = 30;
/// The fewest steps of a plan that does not come to an end: with fewer, it is only playouts.
const MIN_STEPS: usize = 3;
/// How much longer the next step takes at least: without that much time it is not begun.
const MIN_STEP_GROWTH: u32 = 2;
/// Games played out from each state in which a plan ends.
const N_PLAYOUTS: usize = 8;

/// Beliefs of a plan, and possible states of one of them.
const MAX_BELIEFS: u64 = 1_000;
const MIN_BELIEFS: u64 = 20;
const MAX_STATES_OF_BELIEF: usize = 500;

fn limits_of_plan(options: PlanOptions, limits: &Limits, deadline: &Deadline) -> PlanLimits {
    // Where only iterations count, a belief is one.
    let max_beliefs = limits.iterations.map_or(MAX_BELIEFS, |n| n.clamp(MIN_BELIEFS, MAX_BELIEFS));
    PlanLimits {
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

/// Plans, and has another search where that is not enough.
pub(crate) struct Informed<G: Playouts> {
    name: &'static str,
    game: G,
    networks: Arc<Networks<StateOf<G>>>,
    options: PlanOptions,
    /// One game after the other: a batch takes long to begin.
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

    /// The longest plan that fits, or why there is none that is good enough.
    fn plan(
        &mut self,
        known: &Information<StateOf<G>>,
        limits: &Limits,
    ) -> Result<Planned, String> {
        // Where only iterations count, only sizes bound a plan.
        let deadline = match limits.iterations {
            Some(_) => limits.deadline.clone(),
            None => limits.deadline.part(self.options.share),
        };
        let template = self.networks.template(&limits.deadline)?;
        let rules = self.networks.rules();
        if self.options.only_exact && !known.is_exact() {
            return Err("the possible states are a sample".into());
        }
        if known.possible().len() > MAX_STATES_OF_BELIEF {
            return Err(format!("{} states are possible", known.possible().len()));
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
                // Playouts that were not finished say nothing.
                Ok(Some(planned)) if planned.is_exact || !deadline.reached() => {
                    longest = Some(planned);
                }
                Ok(_) | Err(PlanError::Belief(BeliefError::Late)) => {
                    why = format!("there was no time for {n_steps} steps");
                }
                Err(error) => why = error.to_string(),
            }
            let is_done = longest.as_ref().is_some_and(|it| it.is_exact);
            let is_short = |left| left < MIN_STEP_GROWTH * begin.elapsed();
            if is_done || !why.is_empty() || deadline.remaining().is_some_and(is_short) {
                break;
            }
        }
        let only_exact = self.options.only_exact;
        let is_enough = |it: &Planned| it.is_exact || !only_exact && it.n_steps >= MIN_STEPS;
        match longest {
            Some(planned) if is_enough(&planned) => Ok(planned),
            _ if why.is_empty() => Err("the plays do not end in as many steps as fit".into()),
            _ => Err(why),
        }
    }
}

/// What states are worth to a role by games that are played out from them.
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

/// Tells the draws of playouts from those of other searches.
const PLAYOUT_SEED: u64 = 0x9_1A7;

impl<G: Searchable> InformationSearcher<StateOf<G>> for Informed<G> {
    fn name(&self) -> &'static str {
        self.name
    }

    fn search(&mut self, known: &Information<StateOf<G>>, limits: &Limits) -> SearchReport {
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
                // How likely it is what others did so far is by a model of them.
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
                    None => "no legal move was planned".into(),
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

/// The report of a plan; `None` if it has none of the legal moves.
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

/// A game whose states are the sets of fluents that are true in them.
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

/// One searcher for all possible states: what it knows of states is true whichever it is.
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

    fn search(&mut self, root: &C, role: RoleId, limits: &Limits) -> SearchReport {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).search(root, role, limits)
    }
}

/// A search by what roles know, from the possible states in which it still matters what is played.
pub(crate) struct OpenStates<G: Playouts> {
    name: &'static str,
    game: G,
    networks: Arc<Networks<StateOf<G>>>,
    /// The part of the time in which the network is asked.
    share: f64,
    search: HiddenSearcher<G>,
    outlook: Option<Outlook>,
}

/// What plays by what roles know: with one role, games in which it chooses by what it has seen, which
/// did better on short clocks than a tree over what it knows (decision 44); else the tree.
///
/// The flagship tries both in its start clock; a search has none.
fn by_knowledge<G: Searchable>(game: &G) -> HiddenSearcher<G> {
    match game.roles().iter().filter(|role| !role.is_random).count() {
        1 => Box::new(ImperfectPlay::new(game, ImperfectPlayOptions::default())),
        _ => Box::new(Ismcts::new(game, IsmctsOptions::default())),
    }
}

/// Possible states that the network is asked about in a turn, and those after which it is not asked
/// about more if none of them was certain.
const MAX_ASKED: usize = 200;
const MIN_ASKED_TO_JUDGE: usize = 12;

/// What is certain.
struct Certain {
    /// By place among the possible states, what the role gets, 0 to 1.
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

    /// Asks the network about the likeliest states.
    fn ask(&mut self, known: &Information<StateOf<G>>, limits: &Limits) -> Result<Certain, String> {
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

    fn search(&mut self, known: &Information<StateOf<G>>, limits: &Limits) -> SearchReport {
        let certain = self.ask(known, limits).unwrap_or_else(|note| Certain {
            rewards: Vec::new(),
            work: NetworkWork { note, ..NetworkWork::default() },
        });
        let start = Instant::now();
        let report = if certain.rewards.is_empty() {
            self.search.search(known, limits)
        } else {
            // A tree that knows of states in which nothing matters would compare moves that were
            // tried there with others that were not.
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

/// A report on the open part of what is possible, with what is certain of the rest.
fn with_certain(mut report: SearchReport, certain: f64, open: f64) -> SearchReport {
    let whole = |reward: f64| (certain + open * reward).clamp(0.0, 1.0);
    report.reward = report.reward.map(whole);
    for found in &mut report.moves {
        found.mean_reward = found.mean_reward.map(whole);
        found.proven = found.proven.map(whole);
    }
    report
}
