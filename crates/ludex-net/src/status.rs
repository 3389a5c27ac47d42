//! The status page of an endpoint.

use std::fmt::Write as _;

use ludex_protocol::Status;

use crate::endpoint::{Endpoint, Sight};

/// Renders the status page.
pub(crate) fn page(endpoint: &Endpoint) -> String {
    let name = escaped(endpoint.name());
    let status = match endpoint.status() {
        Status::Available => "available",
        _ => "busy",
    };
    let mut page = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\
         <meta http-equiv=\"refresh\" content=\"5\"><title>{name}</title></head>\n<body>\n\
         <h1>{name}</h1>\n<p>A player of the General Game Playing protocol: {status}.</p>\n"
    );
    let sights = endpoint.sights();
    page.push_str("<h2>Running matches</h2>\n");
    if sights.is_empty() {
        page.push_str("<p>None.</p>\n");
    } else {
        page.push_str(
            "<table>\n<tr><th>match</th><th>role</th><th>clocks</th><th>engine</th>\
             <th>turn</th><th>last move</th><th>expects</th><th>since</th></tr>\n",
        );
        sights.iter().for_each(|sight| row(&mut page, sight));
        page.push_str("</table>\n");
    }
    page.push_str("<h2>Past matches</h2>\n<ul>\n");
    for past in endpoint.past() {
        let (id, role) = (escaped(&past.match_id), escaped(&past.role));
        let words = format!("{id} as {role}: {} turns, {}", past.n_turns, past.how);
        line(&mut page, format_args!("<li>{words}</li>"));
    }
    page.push_str("</ul>\n</body>\n</html>\n");
    page
}

fn row(page: &mut String, sight: &Sight) {
    let Sight { order, time, progress } = sight;
    let (last, expects) = match &progress.last {
        Some((text, thought)) => {
            (escaped(text), thought.goal.map_or("–".into(), |goal| format!("{goal:.0}")))
        }
        None => ("–".into(), "–".into()),
    };
    line(
        page,
        format_args!(
            "<tr><td>{}</td><td>{}</td><td>{} s, {} s</td><td>{}</td><td>{}</td><td>{last}</td>\
             <td>{expects}</td><td>{:.0} s</td></tr>",
            escaped(&order.match_id),
            escaped(&order.role),
            order.start_clock.as_secs(),
            order.play_clock.as_secs(),
            progress.engine.unwrap_or("loading"),
            progress.turn,
            time.as_secs_f64(),
        ),
    );
}

fn line(page: &mut String, words: std::fmt::Arguments<'_>) {
    writeln!(page, "{words}").expect("writing to a string cannot fail");
}

/// Escapes and shortens received text for HTML.
fn escaped(text: &str) -> String {
    const MAX_CHARS: usize = 200;
    let mut escaped = String::new();
    for c in text.chars().take(MAX_CHARS) {
        match c {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            c => escaped.push(c),
        }
    }
    escaped
}
