//! Group orders against those of nauty and Traces, where they are installed.

mod families;
mod oracle;

use ludex_automorphism::automorphisms;
use ludex_base::Deadline;
use oracle::{Mode, Oracle, mixed};

#[test]
fn orders_are_those_of_nauty_and_traces() {
    let Some(oracle) = Oracle::find() else {
        eprintln!("skipped: dreadnaut is not installed");
        return;
    };
    for seed in 0..96 {
        let sketch = mixed(seed);
        let ours = automorphisms(&sketch.graph(), &Deadline::never());
        for mode in [Mode::Nauty, Mode::Traces] {
            let theirs = oracle.ask(&sketch, mode, 1).expect("dreadnaut answers");
            assert!(theirs.has_order(&ours.order), "{seed}: {theirs:?}, not {}", ours.order);
        }
    }
}
