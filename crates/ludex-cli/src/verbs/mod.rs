//! One module per verb.

pub mod bench;
pub mod check;
pub mod csp;
pub mod csp_symmetries;
pub mod decompose;
pub mod draw;
pub mod games;
pub mod ground;
pub mod manual;
pub mod matches;
pub mod merge;
pub mod perft;
pub mod play;
pub mod player;
pub mod players;
pub mod print;
pub mod qcsp;
pub mod referee;
pub mod scsp;
pub mod serve;
pub mod solve;
pub mod symmetries;
pub mod trace;
pub mod translate;
pub mod verify;
