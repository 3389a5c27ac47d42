//! The policies there are: selections and playout policies by name.

use super::UctOptions;
use super::playout::{Mast, PlayoutPolicy, Uniform};
use super::selection::{Grave, Rave, Selection, Ucb};

crate::option_names! {
    /// How a role chooses the edge to follow.
    pub enum SelectionName {
        /// UCB1 with first-play urgency.
        Ucb = "ucb",
        /// RAVE.
        Rave = "rave",
        /// GRAVE.
        Grave = "grave",
    }
}

crate::option_names! {
    /// How playouts choose.
    pub enum PlayoutName {
        /// Every legal move equally likely.
        Uniform = "uniform",
        /// Moves that did well anywhere more often.
        Mast = "mast",
    }
}

impl SelectionName {
    /// The rule of this name.
    pub fn build(self, options: &UctOptions) -> Box<dyn Selection> {
        let (c, fpu) = (options.c as f32, options.fpu as f32);
        match self {
            Self::Ucb => Box::new(Ucb { c, fpu }),
            Self::Rave => Box::new(Rave { c, fpu, equivalence: options.equivalence as f32 }),
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
        match self {
            Self::Uniform => Box::new(Uniform),
            Self::Mast => Box::new(Mast::new(options.temperature)),
        }
    }
}
