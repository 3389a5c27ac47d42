//! Checks every engine against the contract of `Game`, on every game of the library.

use ludex_tests::{machine, reasoner, wide};

ludex_testkit::game_suite! {
    by_reasoner: reasoner, 65;
    by_machine: machine, 65;
    by_wide_machine: wide, 65;
}
