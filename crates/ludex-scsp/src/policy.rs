//! Policies as graphs that share equal parts.

use ludex_csp::{Value, VarId};
use rustc_hash::FxHashMap;

ludex_base::define_id! {
    /// A node of a policy.
    pub struct PolicyId;
}

/// A decision for every combination of previous draws.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Policy {
    /// The nodes; children come before their parents.
    pub nodes: Vec<PolicyNode>,
    /// The node where plays begin.
    pub root: PolicyId,
}

/// A node of a policy.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum PolicyNode {
    /// Every variable has its value.
    End,
    /// The policy gives up: either the constraints can no longer all hold, or the rest of the
    /// policy suffices. Plays that end here count as not satisfied.
    GivenUp,
    /// A variable is decided. Decisions of one stage may come in any order.
    Decide {
        /// The variable.
        variable: VarId,
        /// Its value.
        value: Value,
        /// The node that follows.
        next: PolicyId,
    },
    /// A variable is drawn. The policy gives up on values without a branch.
    Draw {
        /// The variable.
        variable: VarId,
        /// The node that follows each value.
        branches: Vec<(Value, PolicyId)>,
    },
}

impl Policy {
    /// Returns a node.
    pub fn node(&self, id: PolicyId) -> &PolicyNode {
        &self.nodes[id.index()]
    }

    /// Returns the number of nodes of the graph.
    pub fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// Returns the number of nodes of the tree that the graph represents, saturating.
    pub fn n_tree_nodes(&self) -> u128 {
        let mut sizes: Vec<u128> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let below = match node {
                PolicyNode::End | PolicyNode::GivenUp => 0,
                PolicyNode::Decide { next, .. } => sizes[next.index()],
                PolicyNode::Draw { branches, .. } => branches
                    .iter()
                    .fold(0_u128, |sum, (_, next)| sum.saturating_add(sizes[next.index()])),
            };
            sizes.push(below.saturating_add(1));
        }
        sizes[self.root.index()]
    }
}

/// Builds policies and shares equal nodes.
pub(crate) struct PolicyBuilder {
    nodes: Vec<PolicyNode>,
    known: FxHashMap<PolicyNode, PolicyId>,
    n_bytes: usize,
}

/// Estimates the size of a node in bytes, in the list and in the table.
fn n_bytes(node: &PolicyNode) -> usize {
    const BYTES_PER_NODE: usize = 160;
    match node {
        PolicyNode::Draw { branches, .. } => BYTES_PER_NODE + 2 * size_of_val(&branches[..]),
        _ => BYTES_PER_NODE,
    }
}

impl PolicyBuilder {
    pub const END: PolicyId = PolicyId(0);
    pub const GIVEN_UP: PolicyId = PolicyId(1);

    pub fn new() -> Self {
        let mut builder = Self { nodes: Vec::new(), known: FxHashMap::default(), n_bytes: 0 };
        builder.add(PolicyNode::End);
        builder.add(PolicyNode::GivenUp);
        builder
    }

    pub fn add(&mut self, node: PolicyNode) -> PolicyId {
        if let Some(&id) = self.known.get(&node) {
            return id;
        }
        let id = PolicyId::new(self.nodes.len());
        self.n_bytes += n_bytes(&node);
        self.known.insert(node.clone(), id);
        self.nodes.push(node);
        id
    }

    pub fn decide(&mut self, variable: VarId, value: Value, next: PolicyId) -> PolicyId {
        match next {
            Self::GIVEN_UP => next,
            _ => self.add(PolicyNode::Decide { variable, value, next }),
        }
    }

    pub fn draw(&mut self, variable: VarId, mut branches: Vec<(Value, PolicyId)>) -> PolicyId {
        branches.retain(|(_, next)| *next != Self::GIVEN_UP);
        if branches.is_empty() {
            Self::GIVEN_UP
        } else {
            self.add(PolicyNode::Draw { variable, branches })
        }
    }

    /// Estimates the total size of the nodes in bytes.
    pub fn n_bytes(&self) -> usize {
        self.n_bytes
    }

    /// Returns the number of nodes, for [`PolicyBuilder::rewind`].
    pub fn mark(&self) -> usize {
        self.nodes.len()
    }

    /// Removes the nodes added since a mark; no kept node may refer to them.
    pub fn rewind(&mut self, mark: usize) {
        for node in self.nodes.drain(mark..) {
            self.n_bytes -= n_bytes(&node);
            self.known.remove(&node);
        }
    }

    /// Returns the policy from a root, without unreachable nodes.
    pub fn finish(self, root: PolicyId) -> Policy {
        let mut is_used = vec![false; self.nodes.len()];
        is_used[root.index()] = true;
        for (i, node) in self.nodes.iter().enumerate().rev() {
            if !is_used[i] {
                continue;
            }
            match node {
                PolicyNode::End | PolicyNode::GivenUp => {}
                PolicyNode::Decide { next, .. } => is_used[next.index()] = true,
                PolicyNode::Draw { branches, .. } => {
                    for (_, next) in branches {
                        is_used[next.index()] = true;
                    }
                }
            }
        }
        let mut to = vec![PolicyId::new(0); self.nodes.len()];
        let mut nodes = Vec::new();
        for (i, mut node) in self.nodes.into_iter().enumerate() {
            if !is_used[i] {
                continue;
            }
            match &mut node {
                PolicyNode::End | PolicyNode::GivenUp => {}
                PolicyNode::Decide { next, .. } => *next = to[next.index()],
                PolicyNode::Draw { branches, .. } => {
                    for (_, next) in branches {
                        *next = to[next.index()];
                    }
                }
            }
            to[i] = PolicyId::new(nodes.len());
            nodes.push(node);
        }
        Policy { nodes, root: to[root.index()] }
    }
}
