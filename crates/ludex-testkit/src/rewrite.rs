//! Rulesheets with the same meaning in another form.
//!
//! Clauses and the literals of their bodies change places, some bodies move into predicates of their
//! own, some literals occur twice, and some rules are there a second time.

use ludex_base::{Rng, Seed};

/// A list or a word of a rulesheet.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Form {
    Word(String),
    List(Vec<Form>),
}

impl Form {
    fn text(&self) -> String {
        match self {
            Form::Word(word) => word.clone(),
            Form::List(forms) => {
                let texts: Vec<String> = forms.iter().map(Form::text).collect();
                format!("({})", texts.join(" "))
            }
        }
    }

    fn variables(&self, found: &mut Vec<String>) {
        match self {
            Form::Word(word) if word.starts_with('?') && !found.contains(word) => {
                found.push(word.clone());
            }
            Form::Word(_) => {}
            Form::List(forms) => forms.iter().for_each(|it| it.variables(found)),
        }
    }
}

/// Returns an equivalent form of a rulesheet in prefix notation; the seed decides which.
pub fn rewritten(rules: &str, seed: Seed) -> String {
    let mut rng = seed.rng();
    let mut clauses: Vec<Form> = Vec::new();
    for (number, clause) in forms(rules).into_iter().enumerate() {
        let Form::List(parts) = &clause else {
            clauses.push(clause);
            continue;
        };
        if parts.first() != Some(&Form::Word("<=".into())) || parts.len() < 3 {
            clauses.push(clause);
            continue;
        }
        let head = parts[1].clone();
        let mut body: Vec<Form> = parts[2..].to_vec();
        shuffle(&mut body, &mut rng);
        if rng.below(4) == 0 {
            body.push(body[0].clone());
        }
        let rule = |head: Form, body: Vec<Form>| {
            Form::List([vec![Form::Word("<=".into()), head], body].concat())
        };
        if rng.below(4) == 0 {
            clauses.push(rule(head.clone(), body.clone()));
        }
        if rng.below(3) > 0 {
            clauses.push(rule(head, body));
            continue;
        }
        let mut variables = Vec::new();
        head.variables(&mut variables);
        let name = Form::Word(format!("because_{number}"));
        let reason = if variables.is_empty() {
            name
        } else {
            let variables = variables.into_iter().map(Form::Word);
            Form::List(std::iter::once(name).chain(variables).collect())
        };
        clauses.push(rule(head, vec![reason.clone()]));
        clauses.push(rule(reason, body));
    }
    // Roles have an order.
    let is_role = |it: &Form| it.text().starts_with("(role ");
    let (roles, mut others): (Vec<Form>, Vec<Form>) = clauses.into_iter().partition(is_role);
    shuffle(&mut others, &mut rng);
    let lines: Vec<String> = roles.iter().chain(&others).map(Form::text).collect();
    lines.join("\n") + "\n"
}

fn shuffle(forms: &mut [Form], rng: &mut Rng) {
    for place in 1..forms.len() {
        forms.swap(place, rng.below(place + 1));
    }
}

/// Reads the forms of a text.
fn forms(text: &str) -> Vec<Form> {
    let mut stack: Vec<Vec<Form>> = vec![Vec::new()];
    for line in text.lines() {
        let line = line.split(';').next().unwrap_or_default();
        for word in line.replace('(', " ( ").replace(')', " ) ").split_whitespace() {
            match word {
                "(" => stack.push(Vec::new()),
                ")" => {
                    let list = stack.pop().unwrap_or_default();
                    if stack.is_empty() {
                        stack.push(Vec::new());
                    }
                    stack.last_mut().expect("it has an end").push(Form::List(list));
                }
                word => stack.last_mut().expect("it has an end").push(Form::Word(word.into())),
            }
        }
    }
    stack.swap_remove(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sheet_takes_other_forms_and_keeps_its_roles() {
        let rules = "(role a) (role b) ; two\n(<= (p ?x) (q ?x) (not (r ?x)))\n(<= s (p ?x))";
        let texts: Vec<String> = (0..20).map(|seed| rewritten(rules, Seed(seed))).collect();
        assert!(texts.iter().all(|it| it.starts_with("(role a)\n(role b)\n")));
        assert!(texts.iter().any(|it| it.contains("(because_2 ?x)")));
        assert!(texts.iter().any(|it| it.contains("(<= (p ?x) (not (r ?x)) (q ?x))")));
        assert!(texts.iter().any(|it| it != &texts[0]));
    }
}
