//! Building a searcher from a game.
//!
//! Each kind of search is a struct of options that implements [`Search`]. [`Ingredients`] provides
//! what a search may use: the game always, and facts about its rules if they are known. Other
//! crates extend the trait with what their searches need.

use ludex_game::{Describe, FeatureFinder, Game, Observe, Playouts, StateOf};

use crate::hyperplay::HyperPlay;
use crate::information::InformationSearcher;
use crate::options::Options;
use crate::searcher::Searcher;

/// A searcher for a game whose state is known.
pub type OpenSearcher<G> = Box<dyn Searcher<<G as Game>::Cursor> + Send>;

/// A searcher for a role that does not see the state.
pub type HiddenSearcher<G> = Box<dyn InformationSearcher<StateOf<G>> + Send>;

/// A game that searchers can be built for. Clones must be cheap, because each thread makes one.
pub trait Searchable:
    Game<Cursor: Observe + 'static> + Playouts + Describe + Clone + 'static
{
}

impl<G> Searchable for G where
    G: Game<Cursor: Observe + 'static> + Playouts + Describe + Clone + 'static
{
}

/// The inputs from which a searcher is built. A game alone is enough.
pub trait Ingredients {
    /// The game.
    type Game: Searchable;

    /// Returns the game.
    fn game(&self) -> &Self::Game;

    /// Returns a function that finds features of states from the rules.
    ///
    /// The default is `None`: the rules are not analysed.
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
    /// Builds a searcher with this name.
    fn build(&self, name: &'static str, from: &I) -> OpenSearcher<I::Game>;

    /// Builds a searcher with this name for a role that does not see the state.
    ///
    /// A search for complete information uses [`as_if_known`].
    fn build_informed(&self, name: &'static str, from: &I) -> HiddenSearcher<I::Game>;
}

/// Builds a searcher for hidden states that searches possible states as if each were known.
pub fn as_if_known<G, S>(search: &S, name: &'static str, game: &G) -> HiddenSearcher<G>
where
    G: Searchable,
    S: Search<G> + Clone + Send + 'static,
{
    let search = search.clone();
    let build = Box::new(move |game: &G| search.build(name, game));
    Box::new(HyperPlay::over(name, game, build))
}

/// Defines an enum over kinds of searches, each a struct of options, that implements [`Search`]
/// itself.
///
/// The trait after `from` is what the kinds are built from: [`Ingredients`] or an extension of it.
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
