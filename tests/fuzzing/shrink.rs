//! Makes an input smaller that shows a finding, by leaving out parts.

use super::parts::{self, Part};

/// Returns a smaller input that still fails, after at most `max_tries` tries. The input itself must fail.
pub fn shrink(input: &[u8], max_tries: usize, fails: &mut dyn FnMut(&[u8]) -> bool) -> Vec<u8> {
    let mut n_tries = 0;
    let mut fails = |input: &[u8]| {
        n_tries += 1;
        n_tries <= max_tries && fails(input)
    };
    let mut best = input.to_vec();
    // Step 1. Leave out clauses, if the text is a list of them.
    if let Ok(text) = std::str::from_utf8(&best) {
        let clauses = parts::read(text);
        if fails(parts::write(&clauses).as_bytes()) {
            let clauses =
                leave_out(clauses, &mut |clauses| fails(parts::write(clauses).as_bytes()));
            let clauses =
                leave_out_inside(clauses, &mut |clauses| fails(parts::write(clauses).as_bytes()));
            return parts::write(&clauses).into_bytes();
        }
    }
    // Step 2. Otherwise leave out lines, then bytes.
    let lines: Vec<Vec<u8>> =
        best.split_inclusive(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    best = leave_out(lines, &mut |lines| fails(&lines.concat())).concat();
    leave_out(best, &mut |bytes| fails(bytes))
}

/// Leaves out items while the rest fails: halves first, single items last.
fn leave_out<T: Clone>(mut items: Vec<T>, fails: &mut dyn FnMut(&[T]) -> bool) -> Vec<T> {
    let mut size = items.len().div_ceil(2);
    while size > 0 {
        let mut start = 0;
        while start < items.len() {
            let end = (start + size).min(items.len());
            let rest: Vec<T> = [&items[..start], &items[end..]].concat();
            if fails(&rest) {
                items = rest;
            } else {
                start = end;
            }
        }
        size = if size == 1 { 0 } else { size.div_ceil(2) };
    }
    items
}

/// Leaves out parts of clauses, and puts parts in place of the lists around them.
fn leave_out_inside(mut clauses: Vec<Part>, fails: &mut dyn FnMut(&[Part]) -> bool) -> Vec<Part> {
    for place in 0..clauses.len() {
        let mut n = 0;
        while n < clauses[place].n_parts() {
            let mut smaller = None;
            for candidate in smaller_at(&clauses[place], n) {
                let mut changed = clauses.clone();
                changed[place] = candidate;
                if fails(&changed) {
                    smaller = Some(changed);
                    break;
                }
            }
            match smaller {
                Some(changed) => clauses = changed,
                None => n += 1,
            }
        }
    }
    clauses
}

/// The clause without one of the parts of its list number `n`, or with one in place of that list.
fn smaller_at(clause: &Part, n: usize) -> Vec<Part> {
    let mut clause = clause.clone();
    let Some(Part::List(parts)) = clause.nth_mut(n).cloned() else { return Vec::new() };
    let mut candidates = Vec::new();
    let with = |clause: &Part, part: Part| {
        let mut clause = clause.clone();
        *clause.nth_mut(n).expect("the list is there") = part;
        clause
    };
    for skipped in (1..parts.len()).rev() {
        let mut rest = parts.clone();
        rest.remove(skipped);
        candidates.push(with(&clause, Part::List(rest)));
    }
    for part in parts.iter().skip(1) {
        if n > 0 {
            candidates.push(with(&clause, part.clone()));
        }
    }
    candidates.retain(|it| *it != clause);
    clause = Part::List(Vec::new());
    candidates.retain(|it| *it != clause);
    candidates
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_fails_is_left() {
        let sheet = "(role p)\n(<= (next (f ?x)) (true (f ?x)) (bad ?x ?y))\n(init a)\n";
        let mut fails = |input: &[u8]| String::from_utf8_lossy(input).contains("(bad");
        let small = String::from_utf8(shrink(sheet.as_bytes(), 100, &mut fails)).expect("text");
        assert_eq!(small, "(<= (bad))\n");
        let mut fails = |input: &[u8]| input.contains(&7) && input.contains(&9);
        assert_eq!(shrink(&[1, 2, 7, 255, 4, 9, 3], 100, &mut fails), [7, 9]);
    }
}
