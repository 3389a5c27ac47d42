//! Directed graphs and their strongly connected components.

/// A directed graph on the nodes `0..n`, with the edges of each node stored contiguously.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    starts: Vec<u32>,
    targets: Vec<u32>,
}

impl Graph {
    /// Creates the graph with these edges, each given as `(from, to)`.
    ///
    /// ```
    /// use ludex_base::graph::Graph;
    /// let graph = Graph::new(3, &[(0, 1), (1, 0), (1, 2)]);
    /// assert_eq!(graph.components(), vec![vec![2], vec![0, 1]]);
    /// ```
    pub fn new(n_nodes: usize, edges: &[(u32, u32)]) -> Self {
        let mut starts = vec![0_u32; n_nodes + 1];
        for &(from, _) in edges {
            starts[from as usize + 1] += 1;
        }
        for node in 0..n_nodes {
            starts[node + 1] += starts[node];
        }
        let mut fill = starts.clone();
        let mut targets = vec![0; edges.len()];
        for &(from, to) in edges {
            targets[fill[from as usize] as usize] = to;
            fill[from as usize] += 1;
        }
        Self { starts, targets }
    }

    /// Returns the number of nodes.
    pub fn n_nodes(&self) -> usize {
        self.starts.len() - 1
    }

    /// Returns the targets of the edges from `node`.
    pub fn successors(&self, node: usize) -> &[u32] {
        &self.targets[self.starts[node] as usize..self.starts[node + 1] as usize]
    }

    /// Returns the strongly connected components, each after every component that it has an edge
    /// to.
    ///
    /// If edges lead from a thing to its dependencies, this is an order of evaluation. The nodes of
    /// a component ascend.
    ///
    /// After Tarjan, *Depth-First Search and Linear Graph Algorithms*, 1972, with an explicit
    /// stack, because ground programs are deeper than a thread's stack.
    pub fn components(&self) -> Vec<Vec<u32>> {
        const UNSEEN: u32 = u32::MAX;
        let n_nodes = self.n_nodes();
        let mut order = vec![UNSEEN; n_nodes];
        let mut lowest = vec![0_u32; n_nodes];
        let mut is_open = vec![false; n_nodes];
        let mut open: Vec<u32> = Vec::new();
        let mut path: Vec<(u32, u32)> = Vec::new();
        let mut components = Vec::new();
        let mut n_seen = 0;

        for root in 0..n_nodes as u32 {
            if order[root as usize] != UNSEEN {
                continue;
            }
            path.push((root, 0));
            while let Some(&(node, edge_idx)) = path.last() {
                let node_idx = node as usize;
                if edge_idx == 0 {
                    order[node_idx] = n_seen;
                    lowest[node_idx] = n_seen;
                    n_seen += 1;
                    open.push(node);
                    is_open[node_idx] = true;
                }
                if let Some(&next) = self.successors(node_idx).get(edge_idx as usize) {
                    path.last_mut().expect("the path has a last node").1 += 1;
                    if order[next as usize] == UNSEEN {
                        path.push((next, 0));
                    } else if is_open[next as usize] {
                        lowest[node_idx] = lowest[node_idx].min(order[next as usize]);
                    }
                    continue;
                }
                path.pop();
                if let Some(&(parent, _)) = path.last() {
                    lowest[parent as usize] = lowest[parent as usize].min(lowest[node_idx]);
                }
                if lowest[node_idx] == order[node_idx] {
                    let start = open
                        .iter()
                        .rposition(|&other| other == node)
                        .expect("the first node of a component is on the stack");
                    let mut component = open.split_off(start);
                    for &member in &component {
                        is_open[member as usize] = false;
                    }
                    component.sort_unstable();
                    components.push(component);
                }
            }
        }
        components
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_chain_does_not_overflow_the_stack() {
        let edges: Vec<(u32, u32)> = (0..300_000).map(|node| (node, node + 1)).collect();
        let components = Graph::new(300_001, &edges).components();
        assert_eq!(components.len(), 300_001);
        assert_eq!(components[0], [300_000]);
    }

    #[test]
    fn nested_cycles_are_one_component() {
        let graph = Graph::new(5, &[(0, 1), (1, 2), (2, 0), (2, 3), (3, 1), (3, 4)]);
        assert_eq!(graph.components(), vec![vec![4], vec![0, 1, 2, 3]]);
    }

    #[test]
    fn self_loops_and_lone_nodes_stand_alone() {
        let graph = Graph::new(3, &[(1, 1)]);
        assert_eq!(graph.components(), vec![vec![0], vec![1], vec![2]]);
    }
}
