//! Where networks come from: a game that has a circuit offers it, and one network is made of it for
//! all searches of a match.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ludex_base::Deadline;
use ludex_circuit::{Circuit, Rules};
use ludex_encode::{EncodeConfig, EncodeError, Template, encode};
use ludex_game::{FeatureFinder, Game, StateOf};
use ludex_search::{Ingredients, Searchable};

/// What searches on networks are built from.
pub trait NetworkIngredients: Ingredients {
    /// The networks of the game, which the searchers of a match share.
    fn networks(&self) -> &Arc<Networks<StateOf<Self::Game>>>;
}

/// A game with all that searches can use of its rules.
pub struct WithNetworks<G: Game> {
    /// The game.
    pub game: G,
    /// Finds what the rules suggest to look at in a state, if somebody does.
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

/// How large a network may become.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NetworkBounds {
    /// Gates of the circuit, which is asked before anything is built, and those that unrolling its loops
    /// may add.
    pub max_gates: usize,
    /// Variables of the network.
    pub max_variables: usize,
    /// Bytes of the network, and of what is posted from it.
    pub max_bytes: u64,
}

impl Default for NetworkBounds {
    fn default() -> Self {
        Self { max_gates: 60_000, max_variables: 20_000, max_bytes: 400_000_000 }
    }
}

/// The network of a game, made when it is first asked for and shared from then on.
pub struct Networks<S> {
    rules: Option<Arc<dyn Rules<S>>>,
    bounds: NetworkBounds,
    made: Mutex<Made>,
    /// The most time that was not enough to post it.
    posting: Mutex<Duration>,
}

enum Made {
    /// Not tried, or not in the time there was.
    NotYet {
        /// The most time that was not enough.
        tried: Duration,
    },
    Template(Arc<Template>),
    /// It will never be.
    Refused(String),
}

/// The least that encoding takes for each gate of the circuit: 10 to 70 µs in the games measured on a quiet
/// machine. With less time it is not begun. It stops at the deadline; what does not look at the clock in it,
/// unrolling loops and simplifying, took less than half of this on a busy one.
const MIN_NANOS_PER_GATE: u64 = 10_000;
/// The part of the time for a move that encoding may take.
const ENCODE_DIVISOR: u32 = 2;

impl<S> Networks<S> {
    /// The networks of a game with these rules; without rules there are none.
    pub fn new(rules: Option<Arc<dyn Rules<S>>>) -> Arc<Self> {
        Self::within(rules, NetworkBounds::default())
    }

    /// The same with other bounds.
    pub fn within(rules: Option<Arc<dyn Rules<S>>>, bounds: NetworkBounds) -> Arc<Self> {
        let made = Mutex::new(Made::NotYet { tried: Duration::ZERO });
        Arc::new(Self { rules, bounds, made, posting: Mutex::new(Duration::ZERO) })
    }

    /// The rules; only asked where there is a network.
    pub(crate) fn rules(&self) -> &dyn Rules<S> {
        &**self.rules.as_ref().expect("a network has rules")
    }

    /// Posts the network of a step in half of the time that is left, by `post`, which is given the
    /// template, a deadline and the bytes it may take.
    ///
    /// # Errors
    /// Why it can't be, in words.
    pub(crate) fn post<T>(
        &self,
        deadline: &Deadline,
        post: impl FnOnce(Arc<Template>, &Deadline, u64) -> Result<T, EncodeError>,
    ) -> Result<T, String> {
        let template = self.template(deadline)?;
        let time = deadline.remaining().map(|left| left / ENCODE_DIVISOR);
        let mut tried = self.posting.lock().unwrap_or_else(PoisonError::into_inner);
        if time.is_some_and(|time| time < *tried * 2) {
            return Err("the network is not posted yet: there was too little time for it".into());
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

    /// The network of a step, if it is there or can be made within half of the time.
    ///
    /// # Errors
    /// Why there is none, in words.
    pub(crate) fn template(&self, deadline: &Deadline) -> Result<Arc<Template>, String> {
        let Some(rules) = &self.rules else {
            return Err("the engine has no circuit to make a network of".into());
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
            *made = Made::Refused(format!("the network is too large: {n_gates} gates of {max}"));
        } else if time.is_some_and(|time| time < least) {
            return Err("the network is not made yet: there was too little time for it".into());
        } else {
            *made = self.encode(rules.circuit(), time, deadline);
        }
        match &*made {
            Made::Template(template) => Ok(Arc::clone(template)),
            Made::Refused(why) => Err(why.clone()),
            Made::NotYet { .. } => Err("making the network took too long".into()),
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
                n if n > max => {
                    Made::Refused(format!("the network is too large: {n} variables of {max}"))
                }
                _ => Made::Template(Arc::new(template)),
            },
            Err(_) if late.reached() => Made::NotYet { tried: start.elapsed() },
            Err(error) => Made::Refused(error.to_string()),
        }
    }
}
