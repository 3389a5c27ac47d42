//! The policies there are: selections and playout policies by name.

use super::UctOptions;
use super::playout::{Draw, Fast, Mast, Nst, Past, PlayoutPolicy, Uniform};
use super::selection::{Grave, History, Rave, Selection, Ucb};

crate::option_names! {
    /// How a role chooses the edge to follow.
    pub enum SelectionName {
        /// UCB1 with first-play urgency.
        Ucb = "ucb",
        /// RAVE.
        Rave = "rave",
        /// GRAVE.
        Grave = "grave",
        /// Progressive history.
        History = "history",
    }
}

crate::option_names! {
    /// How playouts choose.
    pub enum PlayoutName {
        /// Every legal move equally likely.
        Uniform = "uniform",
        /// Moves that did well anywhere more often.
        Mast = "mast",
        /// Moves that did well in the tree more often.
        ToMast = "to-mast",
        /// Moves that did well after the moves before them more often.
        Nst = "nst",
        /// Moves that did well while the same fluents held more often.
        Past = "past",
        /// Moves that did well, and that led to good fluents, more often.
        Fast = "fast",
    }
}

crate::option_names! {
    /// How playouts draw by the values of moves.
    pub enum DrawName {
        /// By the Gibbs distribution.
        Gibbs = "gibbs",
        /// The best one, but for a part of all choices.
        Greedy = "greedy",
    }
}

/// Sequences, and pairs of moves and fluents, that were seen less often say nothing yet; the paper on
/// sequences has 7.
const MIN_SEEN: u32 = 7;
/// What pairs of moves and fluents may take, for each thread.
const PAST_BYTES: usize = 16 << 20;

impl UctOptions {
    /// With the all-moves-as-first statistics of an ancestor.
    pub const GRAVE: Self = Self { selection: SelectionName::Grave, c: 0.2, ..Self::DEFAULT };
    /// With playouts that prefer moves that did well before.
    pub const MAST: Self = Self { playout: PlayoutName::Mast, ..Self::DEFAULT };
}

impl SelectionName {
    /// The rule of this name.
    pub fn build(self, options: &UctOptions) -> Box<dyn Selection> {
        let (c, fpu) = (options.c as f32, options.fpu as f32);
        match self {
            Self::Ucb => Box::new(Ucb { c, fpu }),
            Self::Rave => Box::new(Rave { c, fpu, equivalence: options.equivalence as f32 }),
            Self::History => Box::new(History { c, fpu, weight: options.history as f32 }),
            Self::Grave => Box::new(Grave {
                c,
                fpu,
                bias: options.bias as f32,
                min_playouts: u32::try_from(options.reference).unwrap_or(u32::MAX),
            }),
        }
    }
}

impl PlayoutName {
    /// The policy of this name.
    pub fn build(self, options: &UctOptions) -> Box<dyn PlayoutPolicy> {
        let draw = match options.draw {
            // Below this, weights overflow.
            DrawName::Gibbs => Draw::Gibbs { temperature: options.temperature.max(0.02) as f32 },
            DrawName::Greedy => Draw::Greedy { epsilon: options.epsilon as f32 },
        };
        match self {
            Self::Uniform => Box::new(Uniform),
            Self::Mast => Box::new(Mast::new(draw, false)),
            Self::ToMast => Box::new(Mast::new(draw, true)),
            Self::Nst => Box::new(Nst::new(draw, MIN_SEEN)),
            Self::Past => Box::new(Past::new(draw, MIN_SEEN, PAST_BYTES)),
            Self::Fast => Box::new(Fast::new(draw)),
        }
    }
}
