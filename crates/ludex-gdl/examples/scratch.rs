//! scratch
fn main() {
    for path in std::env::args().skip(1) {
        let text = String::from_utf8_lossy(&std::fs::read(&path).unwrap()).into_owned();
        let source = ludex_base::Source::new(path.clone(), text);
        let checked = ludex_gdl::check_source(&source);
        for d in &checked.diagnostics {
            let (l, c) = source.line_column(d.span.start);
            println!(
                "{path}:{l}:{c} {:?} {} {} | {}",
                d.severity,
                d.code,
                d.message,
                d.help.as_deref().unwrap_or("")
            );
        }
        if std::env::var("SHOW").is_ok() {
            if let Some(program) = checked.program {
                for r in &program.rules {
                    println!("{}", program.display_rule(r));
                }
            }
        }
    }
}
