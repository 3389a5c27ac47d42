//! Every engine against the contract of `Game`, on every game of the library.

use ludex_tests::{machine, reasoner, wide};

ludex_testkit::game_suite! {
    by_reasoner: reasoner,
    by_machine: machine,
    by_wide_machine: wide,
}
