use std::time::{Duration, Instant};
use ludex_analysis::symmetry::*;
use ludex_base::{Deadline, Limits, Source};
fn main() {
    for path in std::env::args().skip(1) {
        let name = path.rsplit('/').next().unwrap().to_owned();
        let text = std::fs::read_to_string(&path).unwrap();
        let start = Instant::now();
        let Some(program) = ludex_gdl::check_source(&Source::new(&name, &text)).program else { println!("{name} no program"); continue };
        let limits = Limits::usual().until(Deadline::after(Duration::from_secs(20)));
        let Ok(ground) = ludex_ground::ground(&program, &limits) else { println!("{name} no ground"); continue };
        let Ok(circuit) = ludex_circuit::compile_within(&ground, &limits) else { println!("{name} no circuit"); continue };
        let circuit = circuit.optimized();
        let loaded = start.elapsed().as_secs_f64();
        let deadline = Deadline::after(Duration::from_secs(10));
        if let Ok(name) = std::env::var("FLUENT") { for f in (0..circuit.next.len()).map(ludex_base::FluentId::new) { if circuit.vocabulary.fluent_text(f) == name { println!("{}", show(&circuit, circuit.next[f.index()], 3)); } } }
        let mut orders = Vec::new();
        let start = Instant::now();
        let mut folded = String::new();
        for exchange in [RoleExchange::Forbidden, RoleExchange::Allowed] {
            let it = find_symmetries(&circuit, exchange, None, &deadline);
            orders.push(format!("{}{} ({} gens)", it.order, if it.is_complete {""} else {"+"}, it.generators.len()));
            if std::env::var("SHOW").is_ok() { for g in &it.generators {
                let v = &circuit.vocabulary;
                println!("   {}", in_words(g, v)); 
} }
            if exchange == RoleExchange::Forbidden {
                let f = it.folding();
                folded = format!("{} {}", f.order(), f.is_whole());
            }
        }
        println!("{name}\tgates {} edges {}\tload {loaded:.2}\tsym {:.2}\t{}\tfold {folded}", circuit.n_gates(), circuit.n_edges(), start.elapsed().as_secs_f64(), orders.join("\t"));
    }
}
#[allow(dead_code)]
fn show(c: &ludex_circuit::Circuit, g: ludex_circuit::GateId, d: usize) -> String {
    use ludex_circuit::Gate;
    match c.gate(g) { Gate::Fluent(f) => c.vocabulary.fluent_text(f), Gate::Move(m) => format!("does {}", c.vocabulary.move_text(m)), Gate::Not(x) => format!("not {}", show(c, x, d)), Gate::And(i) if d > 0 => format!("and[{}]({})", i.len(), i.iter().take(6).map(|&x| show(c, x, d-1)).collect::<Vec<_>>().join(", ")), Gate::Or(i) if d > 0 => format!("or[{}]({})", i.len(), i.iter().take(6).map(|&x| show(c, x, d-1)).collect::<Vec<_>>().join(", ")), Gate::Constant(b) => b.to_string(), _ => "…".into() }
}
