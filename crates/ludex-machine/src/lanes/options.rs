//! The legal moves of a role in blocks, and the tree of their counts.

/// The slots of an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct DrawOption {
    /// The slot with the lanes that have the option.
    pub source: u32,
    /// The slot for the lanes that drew it.
    pub target: u32,
}

/// Options in a block: a tree of four levels with an option at every node.
pub(crate) const BLOCK_OPTIONS: usize = 15;

/// Bits of the count of a block.
pub(crate) const BLOCK_BITS: usize = 4;

/// Options 0 to 7 are the leaves, 8 to 11 the nodes above, 12 and 13 those above, 14 is the root.
pub(crate) type Block = [DrawOption; BLOCK_OPTIONS];

/// Padding of a block. Slot 0 is always false, so no lane draws it.
pub(crate) const NO_OPTION: DrawOption = DrawOption { source: 0, target: 0 };

/// Bits of a count, enough for sixteen million moves.
pub(crate) const MAX_BITS: usize = 24;

/// The options of a role. The blocks are the leaves of a tree.
#[derive(Clone, Debug)]
pub(crate) struct OptionTree {
    pub blocks: Vec<Block>,
    /// The slots of the counts of each level: `BLOCK_BITS + level` slots per node, lowest bits
    /// first. The blocks are level 0. Counts of padding nodes are zero, and nothing writes them.
    pub levels: Vec<std::ops::Range<usize>>,
}

impl OptionTree {
    /// Makes a tree of options with its counts in the slots from `first_count` on.
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
            // Every node but the root has a sibling, if necessary one without options.
            let n_padded = if n_nodes == 1 { 1 } else { n_nodes.next_multiple_of(2) };
            let end = start + n_padded * (BLOCK_BITS + levels.len());
            levels.push(start..end);
            start = end;
            if n_nodes == 1 {
                break;
            }
            n_nodes = n_padded / 2;
        }
        assert!(BLOCK_BITS + levels.len() <= MAX_BITS, "too many moves for the bits of a count");
        Self { blocks, levels }
    }

    /// Moves the counts to other slots and returns the end of those slots.
    pub fn move_counts(&mut self, first_count: usize) -> usize {
        let start = self.levels[0].start;
        for level in &mut self.levels {
            *level = level.start - start + first_count..level.end - start + first_count;
        }
        self.end()
    }

    /// Lists the options.
    pub fn options(&self) -> impl Iterator<Item = DrawOption> + '_ {
        self.blocks.iter().flatten().filter(|it| **it != NO_OPTION).copied()
    }

    /// Lists the slots with the lanes that have the options.
    pub fn sources(&self) -> impl Iterator<Item = u32> + '_ {
        self.options().map(|it| it.source)
    }

    /// Returns the end of the slots of its counts.
    pub fn end(&self) -> usize {
        self.levels.last().expect("the root is a level").end
    }

    /// Returns the option if there is only one, which needs no count.
    pub fn only_option(&self) -> Option<DrawOption> {
        match self.blocks[..] {
            [[option, NO_OPTION, ..]] => Some(option),
            _ => None,
        }
    }
}
