//! Decomposition: a game as several games that can be played one by one.
//!
//! [`decompose`] partitions the fluents of a game into subgames. What the circuit proves comes
//! first: fluents that never change again, fluents that no move can influence. Sampled states
//! decide the rest. The goals then join what can only be won together.
//!
//! Read the modules in this order; each uses only those before it.

mod lanes; // 1. the circuit for 64 states at once
mod known; // 2. the circuit with unknown inputs; fluents that never change
mod structure; // 3. what gates read; fluents that no move can influence
mod sample; // 4. random playouts
mod evidence; // 5. what choices change, and what they depend on
mod parts; // 6. a partition that grows together
mod goals; // 7. winning conditions and subgoals
mod serial; // 8. parts that are played one after the other
mod equal; // 9. subgames with the same rules
mod split; // 10. parts that are proved to be games of their own
mod views; // 11. what the goals see of a part
mod words; // subgames in words

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use ludex_base::{BitSet, Deadline, FluentId, MoveId, RoleId, Seed};
use ludex_circuit::{Circuit, Gate};
use rustc_hash::{FxHashMap, FxHashSet};

pub use goals::Condition;
pub use serial::Crossing;
pub use split::{Composition, Split};
pub use structure::Reads;
pub use views::{Outcome, View, Views};
pub use words::{fluents_in_words, moves_in_words};

use evidence::{Choice, Evidence, Tally, bits, gather, is_most};
use parts::Parts;
use structure::{Label, Reader};

/// A game taken apart.
#[derive(Clone, Debug)]
pub struct Decomposition {
    /// The parts that moves decide about; those that matter for the goals or the end come first.
    pub subgames: Vec<Subgame>,
    /// Groups of fluents that change whatever the roles do: whose turn it is, steps, and the like.
    pub independent_parts: Vec<IndependentPart>,
    /// Subgames that are played one after the other.
    pub crossings: Vec<Crossing>,
    /// Winning conditions and subgoals; `None` if the goals have too many gates to look at.
    pub conditions: Option<Vec<Condition>>,
    /// The fluents that provably never change.
    pub fixed: Vec<FluentId>,
    /// The fluents that the playouts did not show to change and that belong to no one subgame.
    pub unseen: Vec<FluentId>,
    /// The moves that were not seen to change anything by choice.
    pub idle_moves: Vec<MoveId>,
    /// Playouts that were finished.
    pub n_playouts: usize,
    /// States that were looked at.
    pub n_states: usize,
}

/// A part of a game that moves decide about.
#[derive(Clone, Debug)]
pub struct Subgame {
    /// Its fluents.
    pub fluents: Vec<FluentId>,
    /// The moves that were seen to change it by choice.
    pub moves: Vec<MoveId>,
    /// The roles that were seen to choose.
    pub roles: Vec<RoleId>,
    /// What it is good for.
    pub worth: Worth,
    /// Whether the circuit proves that it depends on no other part.
    pub is_proved: bool,
    /// The first subgame with the same rules up to names; its own position if there is none before.
    pub equal_to: usize,
}

/// What a subgame is good for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Worth {
    /// The best goal can be reached in it alone.
    Wins,
    /// The goals read it.
    Scores,
    /// It opens another subgame or ends the game, but the goals do not read it.
    Ends,
    /// Neither the goals nor the end of the game depend on it.
    Useless,
}

impl Worth {
    /// Returns what people read.
    pub fn name(self) -> &'static str {
        match self {
            Worth::Wins => "wins",
            Worth::Scores => "scores",
            Worth::Ends => "ends the game",
            Worth::Useless => "useless",
        }
    }
}

/// Fluents that change whatever the roles do.
#[derive(Clone, Debug)]
pub struct IndependentPart {
    /// Its fluents.
    pub fluents: Vec<FluentId>,
    /// Whether the circuit proves that no move can influence it.
    pub is_proved: bool,
    /// Whether the goals or the end of the game read it.
    pub is_read: bool,
}

/// How much to look at.
#[derive(Clone, Copy, Debug)]
pub struct DecomposeConfig {
    /// Random playouts; fewer in games with very many gates.
    pub n_playouts: usize,
    /// States to look at; fewer in games with very many gates.
    pub n_states: usize,
    /// Gates and inputs of gates to evaluate in each step, 64 lanes at once, before it ends early.
    pub max_work: usize,
    /// Decides which playouts and which states.
    pub seed: Seed,
}

impl DecomposeConfig {
    /// 1,000 playouts and 600 states.
    pub fn usual() -> Self {
        Self { n_playouts: 1_000, n_states: 600, max_work: 400_000_000, seed: Seed(1) }
    }
}

impl Decomposition {
    /// Iterates over the subgames that matter.
    pub fn useful(&self) -> impl Iterator<Item = &Subgame> {
        self.subgames.iter().filter(|it| it.worth != Worth::Useless)
    }
}

/// Takes a game apart, as it is from a state on.
///
/// The [optimized](Circuit::optimized) circuit is the right one to give.
pub fn decompose(
    circuit: &Circuit,
    start: &BitSet,
    config: &DecomposeConfig,
    deadline: &Deadline,
) -> Decomposition {
    let n_fluents = circuit.next.len();
    let all = || (0..n_fluents).map(FluentId::new);

    // Step 1. What can be proved: constants, and fluents that no move influences.
    let fixed = known::fixed_fluents(circuit, start);
    let depends = lanes::depends_on_moves(circuit);
    let independent = structure::proved_independent(circuit, &depends);

    // Step 2. Play, and question the states.
    let mut rng = config.seed.rng();
    let effort = sample::Effort {
        n_playouts: config.n_playouts,
        max_states: config.n_states,
        max_work: config.max_work / 2,
    };
    let sample = sample::sample(circuit, start, effort, &mut rng, deadline);
    let mut ignored = independent.clone();
    fixed.iter().for_each(|idx| ignored.insert(idx));
    let evidence = gather(circuit, &sample, &ignored, config.max_work, &mut rng, deadline);

    // Step 3. Clocks are fluents that nobody chooses and that depend on clocks alone.
    let mut clocks = find_clocks(&evidence, &independent, &fixed);

    // Step 4. Join the other fluents by the links that the evidence shows.
    let mut reader = Reader::new(circuit, &fixed);
    let goal_reads: Vec<(RoleId, Vec<FluentId>)> =
        (circuit.goals.iter()).map(|&(role, _, gate)| (role, reader.reads(gate).fluents)).collect();
    let mut parts = Parts::new(n_fluents);
    let mut is_seen = vec![false; n_fluents];
    let mut unseen = Vec::new();
    {
        let is_inside = |it: FluentId| !clocks.contains(it.index()) && !fixed.contains(it.index());
        for (&(a, b), tally) in &evidence.tallies {
            if is_inside(a) && is_inside(b) && tally.is_link() {
                parts.join(a, b);
            }
        }
        join_bound(&mut parts, &is_inside, &evidence);
        join_unfree(&mut parts, &is_inside, &evidence);
        let is_chosen = |it: FluentId| evidence.choosers[it.index()] != 0;
        let chosen: FxHashSet<usize> =
            all().filter(|&it| is_inside(it) && is_chosen(it)).map(|it| parts.part(it)).collect();
        for fluent in all().filter(|&it| is_inside(it)) {
            is_seen[fluent.index()] = chosen.contains(&parts.part(fluent));
        }

        // The rules of the others tell where they belong, unless they name several parts. So do
        // the rules of clocks that are not proved, if the goals read them: they may show what the
        // roles achieved.
        let seen: Vec<Label> = all()
            .map(|it| if is_seen[it.index()] { Label::One(parts.part(it)) } else { Label::None })
            .collect();
        let labels = structure::labels(circuit, |it| seen[it.index()], |_| Label::None);
        let label_of = |it: FluentId| labels[circuit.next[it.index()].index()];
        let mut results: Vec<FluentId> = goal_reads.iter().flat_map(|it| it.1.clone()).collect();
        results.retain(|it| clocks.contains(it.index()) && !independent.contains(it.index()));
        results.sort_unstable();
        results.dedup();
        for fluent in all().filter(|&it| is_inside(it) && !is_seen[it.index()]) {
            match label_of(fluent) {
                Label::One(part) => parts.join(fluent, FluentId::new(part)),
                _ => unseen.push(fluent),
            }
        }
        for fluent in results {
            if let Label::One(part) = label_of(fluent) {
                parts.join(fluent, FluentId::new(part));
                clocks.remove(fluent.index());
            }
        }
    }
    let clocks = clocks;
    let is_inside = |it: FluentId| !clocks.contains(it.index()) && !fixed.contains(it.index());
    let is_unseen = |it: FluentId| unseen.binary_search(&it).is_ok();

    // Step 5. Join what can only be won together.
    let conditions = goals::goal_conditions(circuit, start, &fixed, config.max_work);
    let inside_of = |fluents: &[FluentId]| -> Vec<FluentId> {
        fluents.iter().copied().filter(|&it| is_inside(it) && !is_unseen(it)).collect()
    };
    let goal_fluents: Vec<(RoleId, Vec<FluentId>)> =
        goal_reads.iter().map(|(role, fluents)| (*role, inside_of(fluents))).collect();
    match &conditions {
        Some(conditions) => {
            for condition in conditions {
                parts.join_all(&inside_of(&condition.fluents));
            }
            // What the goals read without a condition of its own can't be judged alone.
            let judged: FxHashSet<usize> = (conditions.iter())
                .flat_map(|it| inside_of(&it.fluents))
                .map(|it| parts.part(it))
                .collect();
            let mut rest: Vec<FluentId> =
                goal_fluents.iter().flat_map(|it| it.1.iter().copied()).collect();
            rest.retain(|&it| !judged.contains(&parts.part(it)));
            rest.sort_unstable();
            goals::join_unjudged(circuit, &mut parts, &rest);
        }
        None => goal_fluents.iter().for_each(|it| parts.join_all(&it.1)),
    }
    join_rivals(&mut parts, &goal_fluents, &evidence);
    let end_fluents = reader.reads(circuit.terminal).fluents;
    if let Some(conditions) = goals::end_conditions(circuit, start, &fixed, config.max_work) {
        // What the goals do not read matters by ending the game: join what can only end it together.
        let read: FxHashSet<usize> =
            goal_fluents.iter().flat_map(|it| &it.1).map(|&it| parts.part(it)).collect();
        for condition in conditions {
            let mut inside = inside_of(&condition.fluents);
            inside.retain(|&it| !read.contains(&parts.part(it)));
            parts.join_all(&inside);
        }
    }
    join_by_tempo(&mut parts, conditions.as_deref().unwrap_or_default(), &is_inside, &evidence);

    // Step 6. Describe the parts.
    let mut lists: Vec<Vec<FluentId>> = vec![Vec::new(); n_fluents];
    for fluent in all().filter(|&it| is_inside(it) && !is_unseen(it)) {
        lists[parts.part(fluent)].push(fluent);
    }
    lists.retain(|list| list.iter().any(|it| is_seen[it.index()]));
    let mut decomposition = Decomposition {
        subgames: lists.into_iter().map(|it| subgame(circuit, it, &evidence)).collect(),
        independent_parts: Vec::new(),
        crossings: Vec::new(),
        conditions,
        fixed: all().filter(|it| fixed.contains(it.index())).collect(),
        unseen,
        idle_moves: Vec::new(),
        n_playouts: sample.n_playouts,
        n_states: evidence.n_states,
    };
    decomposition.list_moves(circuit, &evidence);
    decomposition.crossings =
        serial::find_crossings(circuit, &decomposition.subgames, &fixed, &evidence, &sample);
    decomposition.judge(&goal_fluents, &end_fluents);
    decomposition.independent_parts =
        group_clocks(circuit, &mut reader, &clocks, &independent, &end_fluents);
    decomposition.prove(circuit, &independent, &fixed);
    equal::mark_equal(circuit, start, &mut decomposition.subgames, deadline);
    decomposition
}

impl Tally {
    /// Whether two fluents belong to one part: the value of one decides about the other, or the
    /// choice of one is often bound to the other.
    fn is_link(&self) -> bool {
        self.read > 0 || self.bound > MIN_BOUND && self.bound >= self.free
    }

    /// The same for two parts and all that was seen of them; once is enough if nothing contradicts.
    fn is_link_of_parts(&self) -> bool {
        self.bound > 0 && self.bound >= self.free || self.stuck > 0 && self.free == 0
    }
}

/// States in which two fluents must be seen bound before these states alone count. The paper has
/// the same number, and calls it Ψ.
const MIN_BOUND: u32 = 3;

/// Joins parts that the evidence about all of their fluents binds, until there are no more.
fn join_bound(parts: &mut Parts, is_inside: &impl Fn(FluentId) -> bool, evidence: &Evidence) {
    loop {
        let mut is_open = false;
        for ((one, other), tally) in between(parts, is_inside, evidence) {
            if tally.is_link_of_parts() {
                parts.join(FluentId::new(one), FluentId::new(other));
                is_open = true;
            }
        }
        if !is_open {
            return;
        }
    }
}

/// Finds the fluents that nobody chooses and whose next values depend on no other fluents.
fn find_clocks(evidence: &Evidence, independent: &BitSet, fixed: &BitSet) -> BitSet {
    let n_fluents = evidence.choosers.len();
    let mut clocks = BitSet::new(n_fluents);
    for idx in (0..n_fluents).filter(|&idx| !fixed.contains(idx)) {
        let is_moved = evidence.changed.contains(idx) && evidence.choosers[idx] == 0;
        if independent.contains(idx) || is_moved {
            clocks.insert(idx);
        }
    }
    loop {
        let wrong: Vec<usize> = (evidence.premises.iter())
            .filter(|(fluent, premise)| {
                clocks.contains(fluent.index()) && !clocks.contains(premise.index())
            })
            .map(|(fluent, _)| fluent.index())
            .collect();
        if wrong.is_empty() {
            return clocks;
        }
        wrong.into_iter().for_each(|idx| clocks.remove(idx));
    }
}

/// Sums up what the evidence says about pairs of different parts.
fn between(
    parts: &mut Parts,
    is_inside: &impl Fn(FluentId) -> bool,
    evidence: &Evidence,
) -> BTreeMap<(usize, usize), Tally> {
    let mut pairs: BTreeMap<(usize, usize), Tally> = BTreeMap::new();
    for (&(a, b), tally) in &evidence.tallies {
        let (one, other) = (parts.part(a), parts.part(b));
        if is_inside(a) && is_inside(b) && one != other {
            let sum = pairs.entry((one.min(other), one.max(other))).or_default();
            sum.bound += tally.bound;
            sum.free += tally.free;
            sum.stuck += tally.stuck;
            sum.tempo += tally.tempo;
            sum.read += tally.read;
        }
    }
    pairs
}

/// Joins parts that one move changes together if many combinations of their changes are missing:
/// then they are not free of each other, even if each two fluents of them are.
///
/// Some games exclude a few combinations, so half of them must be missing between two parts, and a
/// quarter between several.
fn join_unfree(parts: &mut Parts, is_inside: &impl Fn(FluentId) -> bool, evidence: &Evidence) {
    let mut is_open = true;
    while is_open {
        is_open = false;
        for choice in &evidence.choices {
            is_open |= join_choice(parts, is_inside, choice);
        }
    }
}

/// The same for one choice; returns whether parts were joined.
fn join_choice(parts: &mut Parts, is_inside: &impl Fn(FluentId) -> bool, choice: &Choice) -> bool {
    // By option, the parts it changes, each with the class of fluents that it changes there.
    let n_options = choice.options.len();
    let mut changed: Vec<Vec<(usize, usize)>> = vec![Vec::new(); n_options];
    for (class_idx, (changes, fluents)) in choice.classes.iter().enumerate() {
        let Some(&fluent) = fluents.iter().find(|&&it| is_inside(it)) else { continue };
        if !is_most(*changes, n_options) {
            let part = parts.part(fluent);
            bits(*changes).for_each(|option| changed[option].push((part, class_idx)));
        }
    }
    let parts_of = |changed: &Vec<(usize, usize)>| -> Vec<usize> {
        let mut parts: Vec<usize> = changed.iter().map(|it| it.0).collect();
        parts.sort_unstable();
        parts.dedup();
        parts
    };
    let together: BTreeSet<Vec<usize>> =
        changed.iter().map(parts_of).filter(|it| it.len() > 1).collect();
    let mut is_open = false;
    for together in together {
        let n_different = |wanted: &[usize]| -> usize {
            let of_option = |all: &Vec<(usize, usize)>| -> Vec<(usize, usize)> {
                all.iter().copied().filter(|it| wanted.contains(&it.0)).collect()
            };
            changed.iter().map(of_option).collect::<FxHashSet<_>>().len()
        };
        let n_all =
            (together.iter()).fold(1_usize, |all, &part| all.saturating_mul(n_different(&[part])));
        // If not all moves were compared, there are at most as many combinations as moves.
        let n_seen =
            if choice.n_legal > n_options { choice.n_legal } else { n_different(&together) };
        let is_unfree = match together.len() {
            2 => n_seen <= n_all / 2,
            _ => n_seen <= n_all / 4 * 3,
        };
        if is_unfree {
            let joined: Vec<FluentId> = together.iter().map(|&it| FluentId::new(it)).collect();
            parts.join_all(&joined);
            is_open = true;
        }
    }
    is_open
}

/// Joins parts that different roles decide about and that the goal of one role reads: what a role
/// gets there, another role decides.
fn join_rivals(parts: &mut Parts, goal_fluents: &[(RoleId, Vec<FluentId>)], evidence: &Evidence) {
    let n_fluents = evidence.choosers.len();
    let mut choosers = vec![0; n_fluents];
    for (idx, roles) in evidence.choosers.iter().enumerate() {
        choosers[parts.part(FluentId::new(idx))] |= roles;
    }
    let mut roles: Vec<RoleId> = goal_fluents.iter().map(|it| it.0).collect();
    roles.dedup();
    for role in roles {
        let read = goal_fluents.iter().filter(|it| it.0 == role).flat_map(|it| &it.1);
        let mut read: Vec<usize> = read.map(|&it| parts.part(it)).collect();
        read.sort_unstable();
        read.dedup();
        for (place, &one) in read.iter().enumerate() {
            for &other in &read[place + 1..] {
                if choosers[one] & choosers[other] == 0
                    && choosers[one] != 0
                    && choosers[other] != 0
                {
                    parts.join(FluentId::new(one), FluentId::new(other));
                }
            }
        }
    }
}

/// Joins parts of which one changes while the moves go to the other, unless one role can win in each
/// alone.
///
/// Lamps that go out while others are lit are the example: only one of them can be kept at a time,
/// so that no sequence of moves in the one leaves the other as it is. That contradicts the free
/// choice of transitions, but does no harm where one part is enough to win.
fn join_by_tempo(
    parts: &mut Parts,
    conditions: &[Condition],
    is_inside: &impl Fn(FluentId) -> bool,
    evidence: &Evidence,
) {
    let mut wins: FxHashMap<usize, Vec<RoleId>> = FxHashMap::default();
    for condition in conditions.iter().filter(|it| it.wins) {
        for &fluent in condition.fluents.iter().filter(|&&it| is_inside(it)) {
            wins.entry(parts.part(fluent)).or_default().extend(&condition.roles);
        }
    }
    for ((one, other), tally) in between(parts, is_inside, evidence) {
        let can_win = match (wins.get(&one), wins.get(&other)) {
            (Some(one), Some(other)) => one.iter().any(|role| other.contains(role)),
            _ => false,
        };
        // Parts that a compound move changes, each freely, do not compete for moves.
        if tally.tempo >= MIN_TEMPO && tally.free == 0 && !can_win {
            parts.join(FluentId::new(one), FluentId::new(other));
        }
    }
}

/// States in which a part must be seen to change by itself before that counts.
const MIN_TEMPO: u32 = 3;

fn subgame(circuit: &Circuit, fluents: Vec<FluentId>, evidence: &Evidence) -> Subgame {
    let choosers = fluents.iter().fold(0, |all, it| all | evidence.choosers[it.index()]);
    let roles = (0..circuit.n_roles()).filter(|&it| choosers >> it.min(63) & 1 == 1);
    Subgame {
        fluents,
        moves: Vec::new(),
        roles: roles.map(RoleId::new).collect(),
        worth: Worth::Useless,
        is_proved: false,
        equal_to: 0,
    }
}

impl Decomposition {
    /// By fluent, the subgame it belongs to.
    fn part_of(&self, n_fluents: usize) -> Vec<Option<usize>> {
        let mut part_of = vec![None; n_fluents];
        for (idx, subgame) in self.subgames.iter().enumerate() {
            subgame.fluents.iter().for_each(|it| part_of[it.index()] = Some(idx));
        }
        part_of
    }

    /// Decides what each subgame is good for, and puts the good ones first.
    fn judge(&mut self, goal_fluents: &[(RoleId, Vec<FluentId>)], end_fluents: &[FluentId]) {
        let winning = self.conditions.iter().flatten().filter(|it| it.wins);
        let winning: Vec<&Vec<FluentId>> = winning.map(|it| &it.fluents).collect();
        for subgame in &mut self.subgames {
            let has = |it: &FluentId| subgame.fluents.binary_search(it).is_ok();
            subgame.worth = if winning.iter().any(|it| it.iter().all(has)) {
                Worth::Wins
            } else if goal_fluents.iter().any(|it| it.1.iter().any(has)) {
                Worth::Scores
            } else if end_fluents.iter().any(has) {
                Worth::Ends
            } else {
                Worth::Useless
            };
        }
        // A crossing to a useless subgame says nothing; one to a useful one makes its origin useful.
        for crossing in self.crossings.iter().rev().filter(|it| it.is_proved) {
            if self.subgames[crossing.to].worth != Worth::Useless {
                let from = &mut self.subgames[crossing.from].worth;
                *from = (*from).min(Worth::Ends);
            }
        }
        let subgames = &self.subgames;
        let is_useful = |idx: usize| subgames[idx].worth != Worth::Useless;
        self.crossings.retain(|it| is_useful(it.from) && is_useful(it.to));
        let mut order: Vec<usize> = (0..self.subgames.len()).collect();
        order.sort_by_key(|&idx| self.subgames[idx].worth == Worth::Useless);
        let place = |old: usize| order.iter().position(|&it| it == old).expect("all are listed");
        for crossing in &mut self.crossings {
            (crossing.from, crossing.to) = (place(crossing.from), place(crossing.to));
        }
        self.subgames = order.iter().map(|&idx| self.subgames[idx].clone()).collect();
    }

    fn list_moves(&mut self, circuit: &Circuit, evidence: &Evidence) {
        let part_of = self.part_of(circuit.next.len());
        let mut is_idle = vec![true; circuit.legal.len()];
        for &(played, fluent) in evidence.effects.keys() {
            if let Some(part) = part_of[fluent.index()] {
                self.subgames[part].moves.push(played);
                is_idle[played.index()] = false;
            }
        }
        for subgame in &mut self.subgames {
            subgame.moves.sort_unstable();
            subgame.moves.dedup();
        }
        self.idle_moves = (0..is_idle.len()).filter(|&idx| is_idle[idx]).map(MoveId::new).collect();
    }

    /// Proves where it can be done by reading alone that a subgame depends on nothing else: the
    /// next values of its fluents and the moves they read need no fluent but its own and clocks, and
    /// no other subgame reads these moves.
    fn prove(&mut self, circuit: &Circuit, independent: &BitSet, fixed: &BitSet) {
        let part_of = self.part_of(circuit.next.len());
        let of_fluent = |it: FluentId| match part_of[it.index()] {
            Some(part) => Label::One(part),
            None if independent.contains(it.index()) || fixed.contains(it.index()) => Label::None,
            None => Label::Several,
        };
        let legal = structure::labels(circuit, of_fluent, |_| Label::None);
        let of_move = |it: MoveId| legal[circuit.legal[it.index()].index()];
        let labels = structure::labels(circuit, of_fluent, of_move);
        // The moves that each subgame reads, to see that no two of them read the same.
        let n_subgames = self.subgames.len();
        let mut readers: Vec<Option<usize>> = vec![None; circuit.legal.len()];
        let mut shares_moves = vec![false; n_subgames];
        for (idx, subgame) in self.subgames.iter().enumerate() {
            let next: Vec<_> = subgame.fluents.iter().map(|it| circuit.next[it.index()]).collect();
            let cone = circuit.cone(next);
            for gate in circuit.gate_ids().filter(|it| cone[it.index()]) {
                let Gate::Move(played) = circuit.gate(gate) else { continue };
                let before = readers[played.index()].replace(idx);
                if let Some(before) = before.filter(|&it| it != idx) {
                    shares_moves[before] = true;
                    shares_moves[idx] = true;
                }
            }
        }
        for (idx, subgame) in self.subgames.iter_mut().enumerate() {
            let is_own = subgame.fluents.iter().all(|fluent| {
                let label = labels[circuit.next[fluent.index()].index()];
                label == Label::None || label == Label::One(idx)
            });
            subgame.is_proved = is_own && !shares_moves[idx];
        }
    }
}

/// Groups clocks that read each other.
fn group_clocks(
    circuit: &Circuit,
    reader: &mut Reader<'_>,
    clocks: &BitSet,
    independent: &BitSet,
    end_fluents: &[FluentId],
) -> Vec<IndependentPart> {
    let mut parts = Parts::new(circuit.next.len());
    for idx in clocks.iter() {
        for other in reader.reads(circuit.next[idx]).fluents {
            if clocks.contains(other.index()) {
                parts.join(FluentId::new(idx), other);
            }
        }
    }
    let mut lists: Vec<Vec<FluentId>> = vec![Vec::new(); circuit.next.len()];
    for idx in clocks.iter() {
        lists[parts.part(FluentId::new(idx))].push(FluentId::new(idx));
    }
    let goals: Vec<Vec<FluentId>> =
        circuit.goals.iter().map(|it| reader.reads(it.2).fluents).collect();
    (lists.into_iter().filter(|list| !list.is_empty()))
        .map(|fluents| {
            let has = |it: &FluentId| fluents.binary_search(it).is_ok();
            IndependentPart {
                is_proved: fluents.iter().all(|it| independent.contains(it.index())),
                is_read: end_fluents.iter().any(has) || goals.iter().flatten().any(has),
                fluents,
            }
        })
        .collect()
}
