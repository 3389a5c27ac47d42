//! Groups and slides: templates of constraints, filled with text.

use std::sync::Arc;

use ludex_csp::Value;

use super::super::text::{self, Problem};
use super::super::xml::Node;
use super::Reader;
use crate::FormatError;

impl Reader {
    pub(super) fn group(&mut self, node: &Node) -> Result<(), FormatError> {
        let template = node.children.iter().find(|child| child.name != "args");
        let template = template.ok_or_else(|| node.error("a group has no template"))?;
        for args in node.children_named("args") {
            let tokens = self.arguments(args)?;
            let filled =
                fill(template, &tokens, args.line).map_err(|problem| args.error(problem))?;
            self.constraint(&filled)?;
        }
        Ok(())
    }

    /// Returns the arguments of a template; a token for several variables counts as several
    /// arguments.
    pub(super) fn arguments(&self, node: &Node) -> Result<Vec<String>, FormatError> {
        let mut arguments = Vec::new();
        for token in text::tokens(&node.text) {
            let is_number = token.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
            if !is_number && !token.contains('(') && (token.contains("[]") || token.contains(".."))
            {
                let vars = self.vars(token).map_err(|problem| node.error(problem))?;
                arguments.extend(vars.iter().map(|&x| self.network.variable(x).name.clone()));
            } else if is_number && (token.contains("..") || token.contains('x')) {
                let values =
                    text::integers(token, &self.symbols).map_err(|problem| node.error(problem))?;
                arguments.extend(values.iter().map(Value::to_string));
            } else {
                arguments.push(token.to_string());
            }
        }
        Ok(arguments)
    }

    pub(super) fn slide(&mut self, node: &Node) -> Result<(), FormatError> {
        let lists: Vec<&Node> = node.children_named("list").collect();
        let [list] = lists[..] else {
            return Err(node.unsupported("`slide` over several lists"));
        };
        let template = node.children.iter().find(|child| child.name != "list");
        let template = template.ok_or_else(|| node.error("a slide has no template"))?;
        let attribute = |name: &str, default: usize| -> Result<usize, FormatError> {
            let Some(text) = list.attribute(name) else {
                return Ok(default);
            };
            let n: Option<usize> = text.parse().ok().filter(|&n| n > 0);
            n.ok_or_else(|| list.error(format!("`{name}` is not a positive integer")))
        };
        let offset = attribute("offset", 1)?;
        let width = attribute("collect", n_parameters(template))?;
        if width == 0 {
            return Err(node.error("the template of a slide has no parameters"));
        }
        let tokens = self.arguments(list)?;
        let is_circular = node.attribute("circular") == Some("true");
        if is_circular && width > tokens.len() {
            return Err(list.error(format!(
                "the list has {} terms, but the template needs {width}",
                tokens.len()
            )));
        }
        let mut at = 0;
        while at < tokens.len() && (is_circular || at + width <= tokens.len()) {
            let window: Vec<String> =
                (at..at + width).map(|i| tokens[i % tokens.len()].clone()).collect();
            let filled =
                fill(template, &window, node.line).map_err(|problem| node.error(problem))?;
            self.constraint(&filled)?;
            at += offset;
        }
        Ok(())
    }
}

/// Replaces `%0`, `%1`, … and `%...` in the template by the arguments, which are on this line.
fn fill(template: &Node, args: &[String], line: usize) -> Result<Node, Problem> {
    let n_named = n_parameters(template);
    fill_node(template, args, n_named, line)
}

fn fill_node(
    template: &Node,
    args: &[String],
    n_named: usize,
    line: usize,
) -> Result<Node, Problem> {
    let text = if template.text.contains('%') {
        fill_text(&template.text, args, n_named)?.into()
    } else {
        Arc::clone(&template.text)
    };
    let children: Result<Vec<Node>, Problem> =
        template.children.iter().map(|child| fill_node(child, args, n_named, line)).collect();
    Ok(Node {
        name: template.name.clone(),
        attributes: template.attributes.iter().filter(|(key, _)| key != "id").cloned().collect(),
        children: children?,
        text,
        line,
    })
}

fn fill_text(text: &str, args: &[String], n_named: usize) -> Result<String, Problem> {
    let mut filled = String::with_capacity(text.len() + 16);
    let mut parts = text.split('%');
    filled.push_str(parts.next().unwrap_or_default());
    for part in parts {
        if let Some(rest) = part.strip_prefix("...") {
            filled.push_str(&args.get(n_named..).unwrap_or_default().join(" "));
            filled.push_str(rest);
            continue;
        }
        let n_digits = part.bytes().take_while(u8::is_ascii_digit).count();
        let (number, rest) = part.split_at(n_digits);
        let number: usize = number.parse().map_err(|_| "a `%` without a number".to_string())?;
        let arg =
            args.get(number).ok_or_else(|| format!("there is no argument for `%{number}`"))?;
        filled.push_str(arg);
        filled.push_str(rest);
    }
    Ok(filled)
}

/// Returns the number of numbered parameters of a template: one more than the greatest number.
fn n_parameters(node: &Node) -> usize {
    let mut n = 0;
    if node.text.contains('%') {
        for part in node.text.split('%').skip(1) {
            let n_digits = part.bytes().take_while(u8::is_ascii_digit).count();
            if let Ok(number) = part[..n_digits].parse::<usize>() {
                n = n.max(number.saturating_add(1));
            }
        }
    }
    node.children.iter().map(n_parameters).fold(n, usize::max)
}
