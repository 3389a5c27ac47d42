//! Typed indices, so that a role is never mistaken for a move.

use std::fmt;

/// Defines an index type over `u32` with its conversions.
///
/// ```
/// ludex_base::define_id! {
///     /// One gate of a circuit.
///     pub struct GateId;
/// }
/// assert_eq!(GateId::new(7).index(), 7);
/// ```
#[macro_export]
macro_rules! define_id {
    ($(#[$meta:meta])* $vis:vis struct $name:ident;) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis struct $name(u32);

        impl $name {
            /// Creates the id with this index.
            ///
            /// # Panics
            /// When the index does not fit in 32 bits.
            #[inline]
            $vis fn new(index: usize) -> Self {
                assert!(index <= u32::MAX as usize, "an id must fit in 32 bits");
                Self(index as u32)
            }

            /// Creates the id with this index; `None` if the index does not fit in 32 bits.
            #[inline]
            #[allow(dead_code)]
            $vis fn checked(index: usize) -> Option<Self> {
                u32::try_from(index).ok().map(Self)
            }

            /// Returns the index, for lookups in a slice.
            #[inline]
            $vis fn index(self) -> usize {
                self.0 as usize
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                write!(f, "{}({})", stringify!($name), self.0)
            }
        }
    };
}

define_id! {
    /// A role, by its position in the rulesheet; `random` is a role like any other.
    pub struct RoleId;
}

define_id! {
    /// A move of one role. The same term is a different move for another role.
    pub struct MoveId;
}

define_id! {
    /// A fluent: a fact that can be true in a state.
    pub struct FluentId;
}

define_id! {
    /// A percept of one role. The same term is a different percept for another role.
    pub struct PerceptId;
}

/// Returns an index as 32 bits, for tables whose size was checked when they grew.
///
/// # Panics
/// When the index does not fit.
#[inline]
pub fn narrow(index: usize) -> u32 {
    u32::try_from(index).expect("tables have fewer than four billion entries")
}

/// A goal value, 0 to 100.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Goal(u8);

impl Goal {
    /// The worst goal; also the goal of a role for which no goal is derivable.
    pub const MIN: Goal = Goal(0);
    /// The best goal.
    pub const MAX: Goal = Goal(100);

    /// Creates a goal of this value; `None` outside 0 to 100.
    pub fn new(value: u32) -> Option<Goal> {
        (value <= 100).then_some(Goal(value as u8))
    }

    /// Parses a goal value as a rulesheet writes it.
    ///
    /// ```
    /// use ludex_base::Goal;
    /// assert_eq!(Goal::parse("50").map(Goal::value), Some(50));
    /// assert_eq!(Goal::parse("101"), None);
    /// assert_eq!(Goal::parse("+5"), None);
    /// ```
    pub fn parse(text: &str) -> Option<Goal> {
        let is_digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        is_digits.then(|| text.parse().ok()).flatten().and_then(Goal::new)
    }

    /// Returns the value, 0 to 100.
    #[inline]
    pub fn value(self) -> u8 {
        self.0
    }
}

impl fmt::Debug for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Goal({})", self.0)
    }
}

impl fmt::Display for Goal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}
