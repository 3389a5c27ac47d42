//! What a searcher is built from, and how.
//!
//! A kind of search is its struct of options, which implements [`Search`]. What it may ask for is in
//! [`Ingredients`]: every search needs the game, some can use what is known of its rules, and searches
//! of other crates extend the trait by what they need.

use ludex_game::{Describe, FeatureFinder, Game, Observe, Playouts, StateOf};

use crate::hyperplay::HyperPlay;
use crate::information::InformationSearcher;
use crate::options::Options;
use crate::searcher::Searcher;

/// A searcher for a game whose state is known.
pub type OpenSearcher<G> = Box<dyn Searcher<<G as Game>::Cursor> + Send>;

/// A searcher for a role that does not see the state.
pub type HiddenSearcher<G> = Box<dyn InformationSearcher<StateOf<G>> + Send>;

/// A game that searchers can be built for. Copies of it must be cheap: each thread takes one.
pub trait Searchable:
    Game<Cursor: Observe + 'static> + Playouts + Describe + Clone + 'static
{
}

impl<G> Searchable for G where
    G: Game<Cursor: Observe + 'static> + Playouts + Describe + Clone + 'static
{
}

/// What a searcher is built from. A game alone is enough.
pub trait Ingredients {
    /// The game.
    type Game: Searchable;

    /// The game.
    fn game(&self) -> &Self::Game;

    /// Finds what the rules suggest to look at in a state; `None`, which is the default, where nobody
    /// looks into the rules.
    fn feature_finder(&self) -> Option<FeatureFinder> {
        None
    }
}

impl<G: Searchable> Ingredients for G {
    type Game = G;

    fn game(&self) -> &G {
        self
    }
}

/// A kind of search with its options.
pub trait Search<I: Ingredients>: Options {
    /// A searcher that goes by this name.
    fn build(&self, name: &'static str, from: &I) -> OpenSearcher<I::Game>;

    /// The same for a role that does not see the state. A search for complete information gives
    /// [`as_if_known`].
    fn build_informed(&self, name: &'static str, from: &I) -> HiddenSearcher<I::Game>;
}

/// A search for complete information that looks at possible states as if each were known.
pub fn as_if_known<G, S>(search: &S, name: &'static str, game: &G) -> HiddenSearcher<G>
where
    G: Searchable,
    S: Search<G> + Clone + Send + 'static,
{
    let search = search.clone();
    let build = Box::new(move |game: &G| search.build(name, game));
    Box::new(HyperPlay::over(name, game, build))
}

/// Defines an enum over kinds of searches, each a struct of options, that is again a [`Search`].
///
/// The trait after `from` says what the kinds are built from: [`Ingredients`] or an extension of it.
#[macro_export]
macro_rules! search_enum {
    (
        $(#[$meta:meta])*
        $vis:vis enum $name:ident from $ingredients:path {
            $($(#[doc = $help:literal])* $variant:ident($options:ty),)*
        }
    ) => {
        $crate::options_enum! {
            $(#[$meta])*
            $vis enum $name {
                $($(#[doc = $help])* $variant($options),)*
            }
        }

        impl<I: $ingredients> $crate::ingredients::Search<I> for $name {
            fn build(
                &self,
                name: &'static str,
                from: &I,
            ) -> $crate::ingredients::OpenSearcher<I::Game> {
                match self {
                    $(Self::$variant(search) => search.build(name, from),)*
                }
            }

            fn build_informed(
                &self,
                name: &'static str,
                from: &I,
            ) -> $crate::ingredients::HiddenSearcher<I::Game> {
                match self {
                    $(Self::$variant(search) => search.build_informed(name, from),)*
                }
            }
        }
    };
}
