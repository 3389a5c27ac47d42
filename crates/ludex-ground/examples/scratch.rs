//! scratch
use std::time::{Duration, Instant};
fn main() {
    for path in std::env::args().skip(1) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let source = ludex_base::Source::new(path.clone(), text);
        let start = Instant::now();
        let (sheet, _) = ludex_gdl::parse_kif(&source);
        let (program, _) = ludex_gdl::lower(&sheet);
        let limits = ludex_ground::GroundLimits {
            deadline: ludex_base::Deadline::after(Duration::from_secs(20)),
            ..Default::default()
        };
        let result = ludex_ground::ground(&program, &limits);
        let seconds = start.elapsed().as_secs_f64();
        let name = std::path::Path::new(&path).file_stem().unwrap().to_str().unwrap().to_owned();
        match result {
            Ok(g) => println!(
                "{name:30} {seconds:8.3} s  fluents {:6} moves {:6} rules {:8} lits {:9} inst {:9} static {}",
                g.vocabulary.fluents.len(),
                g.vocabulary.moves.len(),
                g.n_rules(),
                g.n_literals(),
                g.sizes.n_instances,
                g.sizes.n_static_atoms
            ),
            Err(e) => println!("{name:30} {seconds:8.3} s  FAILED {e}"),
        }
    }
}
