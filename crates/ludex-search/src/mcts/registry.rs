//! Selections and playout policies by name.

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
        /// Prefer moves that did well anywhere.
        Mast = "mast",
        /// Prefer moves that did well in the tree.
        ToMast = "to-mast",
        /// Prefer moves that did well after the previous moves.
        Nst = "nst",
        /// Prefer moves that did well while the same fluents were true.
        Past = "past",
        /// Prefer moves that did well and led to good fluents.
        Fast = "fast",
    }
}

crate::option_names! {
    /// How playouts choose by the values of moves.
    pub enum DrawName {
        /// By the Gibbs distribution.
        Gibbs = "gibbs",
        /// The best one, except for a part of all choices.
        Greedy = "greedy",
    }
}

/// Sequences, and pairs of moves and fluents, are ignored until they were seen this often; the
/// paper on sequences has 7.
const MIN_SEEN: u32 = 7;
/// The memory for pairs of moves and fluents, per thread.
const PAST_BYTES: usize = 16 << 20;

impl UctOptions {
    /// UCT with all-moves-as-first statistics of an ancestor.
    pub const GRAVE: Self = Self { selection: SelectionName::Grave, c: 0.2, ..Self::DEFAULT };
    /// UCT with playouts that prefer moves that did well before.
    pub const MAST: Self = Self { playout: PlayoutName::Mast, ..Self::DEFAULT };
}

impl SelectionName {
    /// Builds the rule of this name.
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
    /// Builds the policy of this name.
    pub fn build(self, options: &UctOptions) -> Box<dyn PlayoutPolicy> {
        let draw = match options.draw {
            // Smaller temperatures overflow the weights.
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
