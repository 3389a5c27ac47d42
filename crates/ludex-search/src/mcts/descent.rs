//! One descent from the root to a leaf.

use ludex_base::RoleId;

use super::tree::{EdgeId, NodeId};

/// The nodes visited and the edges followed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Descent {
    steps: Vec<Step>,
    picks: Vec<Pick>,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    node: NodeId,
    first_pick: u32,
    value_above: Option<NodeId>,
}

/// The choice of one role at one node.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pick {
    pub(crate) role: RoleId,
    pub(crate) edge: EdgeId,
}

impl Descent {
    pub(crate) fn clear(&mut self) {
        self.steps.clear();
        self.picks.clear();
    }

    /// Begins a step at a node; the following picks belong to it.
    #[inline]
    pub(crate) fn step(&mut self, node: NodeId) {
        let first_pick = self.picks.len() as u32;
        self.steps.push(Step { node, first_pick, value_above: None });
    }

    #[inline]
    pub(crate) fn pick(&mut self, role: RoleId, edge: EdgeId) {
        self.picks.push(Pick { role, edge });
    }

    /// Makes a proved node count above the last step, instead of what is found below.
    pub(crate) fn set_value_above(&mut self, node: NodeId) {
        if let Some(step) = self.steps.last_mut() {
            step.value_above = Some(node);
        }
    }

    #[inline]
    pub(crate) fn value_above(&self, step_idx: usize) -> Option<NodeId> {
        self.steps[step_idx].value_above
    }

    #[inline]
    pub(crate) fn n_steps(&self) -> usize {
        self.steps.len()
    }

    #[inline]
    pub(crate) fn node(&self, step_idx: usize) -> NodeId {
        self.steps[step_idx].node
    }

    #[inline]
    pub(crate) fn picks(&self, step_idx: usize) -> &[Pick] {
        let first = self.steps[step_idx].first_pick as usize;
        let end = self.steps.get(step_idx + 1);
        let end = end.map_or(self.picks.len(), |step| step.first_pick as usize);
        &self.picks[first..end]
    }
}
