//! Evaluation of the gates.

use crate::gates::schedule::{Kind, Section};

/// One byte per gate: 1 if it is true.
pub(crate) type Values = Vec<u8>;

impl Section {
    /// Evaluates the gates of the section; those of the sections before it must have their values.
    pub fn evaluate(&self, values: &mut Values) {
        let (mut next, mut first_input) = (0, 0);
        for it in &self.loops {
            self.run(next..it.operations.start, first_input, values);
            for &(feedback, _) in &it.feedback {
                values[feedback as usize] = 0;
            }
            loop {
                self.run(it.operations.clone(), it.first_input, values);
                let mut has_changed = false;
                for &(feedback, source) in &it.feedback {
                    has_changed |= values[feedback as usize] != values[source as usize];
                    values[feedback as usize] = values[source as usize];
                }
                if !has_changed {
                    break;
                }
            }
            next = it.operations.end;
            first_input = self.end_of_inputs(next);
        }
        self.run(next..self.operations.len(), first_input, values);
    }

    /// Returns the end of the inputs of the operations before this one.
    fn end_of_inputs(&self, operation: usize) -> u32 {
        if operation == 0 { 0 } else { self.operations[operation - 1].end }
    }

    fn run(&self, operations: std::ops::Range<usize>, first_input: u32, values: &mut Values) {
        let mut start = first_input as usize;
        for operation in &self.operations[operations] {
            let inputs = &self.inputs[start..operation.end as usize];
            start = operation.end as usize;
            values[operation.gate as usize] = match operation.kind {
                Kind::Not => values[inputs[0] as usize] ^ 1,
                Kind::And => u8::from(inputs.iter().all(|&input| values[input as usize] != 0)),
                Kind::Or => u8::from(inputs.iter().any(|&input| values[input as usize] != 0)),
            };
        }
    }
}
