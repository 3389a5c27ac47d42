//! Encoding and posting: all searches of a match share one network, made from the circuit of the game.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ludex_base::Deadline;
use ludex_circuit::{Circuit, Rules};
use ludex_encode::{EncodeConfig, EncodeError, Template, encode};
use ludex_game::{FeatureFinder, Game, StateOf};
use ludex_search::{Ingredients, Searchable};

/// The ingredients from which searches on networks are built.
pub trait NetworkIngredients: Ingredients {
    /// The networks of the game, shared by the searchers of a match.
    fn networks(&self) -> &Arc<Networks<StateOf<Self::Game>>>;
}

/// A game with everything that searches can use of its rules.
pub struct WithNetworks<G: Game> {
    /// The game.
    pub game: G,
    /// Finds features of states in the rules; `None` for an engine that has no finder.
    pub feature_finder: Option<FeatureFinder>,
    /// The networks.
    pub networks: Arc<Networks<StateOf<G>>>,
}

impl<G: Searchable> Ingredients for WithNetworks<G> {
    type Game = G;

    fn game(&self) -> &G {
        &self.game
    }

    fn feature_finder(&self) -> Option<FeatureFinder> {
        self.feature_finder.clone()
    }
}

impl<G: Searchable> NetworkIngredients for WithNetworks<G> {
    fn networks(&self) -> &Arc<Networks<StateOf<G>>> {
        &self.networks
    }
}

/// Bounds on the size of a network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NetworkBounds {
    /// Most gates of the circuit, checked before encoding begins, and most gates that unrolling its loops
    /// may add.
    pub max_gates: usize,
    /// Most variables of the network.
    pub max_variables: usize,
    /// Most bytes of the network, and of its propagators.
    pub max_bytes: u64,
}

impl Default for NetworkBounds {
    fn default() -> Self {
        Self { max_gates: 60_000, max_variables: 20_000, max_bytes: 400_000_000 }
    }
}

/// The network of a game, encoded at the first request and shared from then on.
pub struct Networks<S> {
    rules: Option<Arc<dyn Rules<S>>>,
    bounds: NetworkBounds,
    made: Mutex<Made>,
    /// The longest time that was too short to post it.
    posting: Mutex<Duration>,
}

enum Made {
    /// Not encoded yet, or not in time.
    NotYet {
        /// The longest time that was too short.
        tried: Duration,
    },
    Template(Arc<Template>),
    /// It can't be encoded, for this reason.
    Refused(String),
}

/// Least time to encode a gate of the circuit: measured were 10 to 70 µs on a quiet machine. With less time,
/// encoding does not begin. It stops at the deadline, except while unrolling loops and simplifying, which do
/// not check the clock; these took less than half of this time on a busy machine.
const MIN_NANOS_PER_GATE: u64 = 10_000;
/// Encoding may take the time for a move divided by this.
const ENCODE_DIVISOR: u32 = 2;

impl<S> Networks<S> {
    /// The networks of a game with these rules; without rules there is no network.
    pub fn new(rules: Option<Arc<dyn Rules<S>>>) -> Arc<Self> {
        Self::within(rules, NetworkBounds::default())
    }

    /// The networks of a game with these rules, within other bounds.
    pub fn within(rules: Option<Arc<dyn Rules<S>>>, bounds: NetworkBounds) -> Arc<Self> {
        let made = Mutex::new(Made::NotYet { tried: Duration::ZERO });
        Arc::new(Self { rules, bounds, made, posting: Mutex::new(Duration::ZERO) })
    }

    /// The rules. Call it only when there is a network.
    pub(crate) fn rules(&self) -> &dyn Rules<S> {
        &**self.rules.as_ref().expect("a network has rules")
    }

    /// Posts the network of a step within half of the remaining time. `post` receives the template, a
    /// deadline, and the most bytes that it may use.
    ///
    /// # Errors
    /// The reason why there is no posted network.
    pub(crate) fn post<T>(
        &self,
        deadline: &Deadline,
        post: impl FnOnce(Arc<Template>, &Deadline, u64) -> Result<T, EncodeError>,
    ) -> Result<T, String> {
        let template = self.template(deadline)?;
        let time = deadline.remaining().map(|left| left / ENCODE_DIVISOR);
        let mut tried = self.posting.lock().unwrap_or_else(PoisonError::into_inner);
        if time.is_some_and(|time| time < *tried * 2) {
            return Err("the network is not posted yet: too little time".into());
        }
        let start = Instant::now();
        let deadline = match time {
            Some(time) => deadline.no_later_than(start + time),
            None => deadline.clone(),
        };
        post(template, &deadline, self.bounds.max_bytes).map_err(|error| {
            if deadline.reached() {
                *tried = start.elapsed().max(*tried);
            } else {
                let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
                *made = Made::Refused(error.to_string());
            }
            error.to_string()
        })
    }

    /// The network of a step, if it exists or can be encoded within half of the time.
    ///
    /// # Errors
    /// The reason why there is no network.
    pub(crate) fn template(&self, deadline: &Deadline) -> Result<Arc<Template>, String> {
        let Some(rules) = &self.rules else {
            return Err("the engine has no circuit, so there is no network".into());
        };
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let tried = match &*made {
            Made::Template(template) => return Ok(Arc::clone(template)),
            Made::Refused(why) => return Err(why.clone()),
            Made::NotYet { tried } => *tried,
        };
        let n_gates = rules.circuit().n_gates();
        let time = deadline.remaining().map(|left| left / ENCODE_DIVISOR);
        let least = Duration::from_nanos(MIN_NANOS_PER_GATE * n_gates as u64).max(tried * 2);
        if n_gates > self.bounds.max_gates {
            let max = self.bounds.max_gates;
            *made = Made::Refused(format!(
                "the network is too large: {n_gates} gates, the limit is {max}"
            ));
        } else if time.is_some_and(|time| time < least) {
            return Err("the network is not encoded yet: too little time".into());
        } else {
            *made = self.encode(rules.circuit(), time, deadline);
        }
        match &*made {
            Made::Template(template) => Ok(Arc::clone(template)),
            Made::Refused(why) => Err(why.clone()),
            Made::NotYet { .. } => Err("the network was not encoded in time".into()),
        }
    }

    fn encode(&self, circuit: &Circuit, time: Option<Duration>, deadline: &Deadline) -> Made {
        let start = Instant::now();
        let config = EncodeConfig {
            deadline: match time {
                Some(time) => deadline.no_later_than(start + time),
                None => deadline.clone(),
            },
            max_bytes: self.bounds.max_bytes,
            max_unrolled: self.bounds.max_gates,
            ..EncodeConfig::default()
        };
        let (max, late) = (self.bounds.max_variables, config.deadline.clone());
        match encode(circuit, &config) {
            Ok(template) => match template.network.variables().len() {
                n if n > max => Made::Refused(format!(
                    "the network is too large: {n} variables, the limit is {max}"
                )),
                _ => Made::Template(Arc::new(template)),
            },
            Err(_) if late.reached() => Made::NotYet { tried: start.elapsed() },
            Err(error) => Made::Refused(error.to_string()),
        }
    }
}
