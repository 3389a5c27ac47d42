//! scratch
fn main() {
    for path in std::env::args().skip(1) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let source = ludex_base::Source::new(path.clone(), text);
        let (sheet, d1) = ludex_gdl::parse_kif(&source);
        let (program, d2) = ludex_gdl::lower(&sheet);
        let n = program.rules.len();
        for d in d1.iter().chain(&d2) {
            let (l, c) = source.line_column(d.span.start);
            println!("{path}:{l}:{c} {:?} {} {}", d.severity, d.code, d.message);
        }
        println!("{path} clauses {} rules {n}", sheet.clauses.len());
        if std::env::var("SHOW").is_ok() {
            for r in &program.rules {
                println!("{}", program.display_rule(r));
            }
        }
    }
}
