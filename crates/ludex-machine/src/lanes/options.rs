//! The legal moves of a role, in blocks, and the tree of their counts.

/// Where an option is found and where it is told that it was drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DrawOption {
    /// The slot that says which lanes have the option.
    pub source: u32,
    /// The slot for the lanes that drew it.
    pub target: u32,
}

/// How many options are in a block: those of a tree of four levels with an option at every node.
pub(crate) const BLOCK_OPTIONS: usize = 15;

/// The bits of the count of a block.
pub(crate) const BLOCK_BITS: usize = 4;

/// Options 0 to 7 are the leaves, 8 to 11 the nodes above, 12 and 13 those above, 14 is the root.
pub(crate) type Block = [DrawOption; BLOCK_OPTIONS];

/// Fills up a block. Slot 0 is false, and stays so: no lane draws what it does not have.
pub(crate) const NO_OPTION: DrawOption = DrawOption { source: 0, target: 0 };

/// Bits of a count: enough for sixteen million moves.
pub(crate) const MAX_BITS: usize = 24;

/// The options of a role. The blocks are the leaves of a tree.
#[derive(Clone, Debug)]
pub(crate) struct OptionTree {
    pub blocks: Vec<Block>,
    /// Where the counts of each level are: `BLOCK_BITS + level` slots a node, lowest bits first. Level 0
    /// is the blocks. Counts of nodes that only fill up a level are zero, and nobody writes them.
    pub levels: Vec<std::ops::Range<usize>>,
}

impl OptionTree {
    /// A tree of some options with its counts in the slots from `first_count` on.
    pub fn new(options: &[DrawOption], first_count: usize) -> Self {
        let block = |chunk: &[DrawOption]| {
            std::array::from_fn(|idx| chunk.get(idx).copied().unwrap_or(NO_OPTION))
        };
        let mut blocks: Vec<Block> = options.chunks(BLOCK_OPTIONS).map(block).collect();
        if blocks.is_empty() {
            blocks.push([NO_OPTION; BLOCK_OPTIONS]);
        }
        let mut levels = Vec::new();
        let (mut n_nodes, mut start) = (blocks.len(), first_count);
        loop {
            // Every node but the root has a sibling, if need be one without options.
            let n_padded = if n_nodes == 1 { 1 } else { n_nodes.next_multiple_of(2) };
            let end = start + n_padded * (BLOCK_BITS + levels.len());
            levels.push(start..end);
            start = end;
            if n_nodes == 1 {
                break;
            }
            n_nodes = n_padded / 2;
        }
        assert!(BLOCK_BITS + levels.len() <= MAX_BITS, "there are more moves than can be listed");
        Self { blocks, levels }
    }

    /// Puts the counts elsewhere, and says where they end.
    pub fn move_counts(&mut self, first_count: usize) -> usize {
        let start = self.levels[0].start;
        for level in &mut self.levels {
            *level = level.start - start + first_count..level.end - start + first_count;
        }
        self.end()
    }

    /// The slots that say which lanes have the options.
    pub fn sources(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks.iter().flatten().filter(|it| **it != NO_OPTION).map(|it| it.source)
    }

    /// Where its counts end.
    pub fn end(&self) -> usize {
        self.levels.last().expect("the root is a level").end
    }

    /// The option, if there is only one; it is not counted.
    pub fn only_option(&self) -> Option<DrawOption> {
        match self.blocks[..] {
            [[option, NO_OPTION, ..]] => Some(option),
            _ => None,
        }
    }
}
