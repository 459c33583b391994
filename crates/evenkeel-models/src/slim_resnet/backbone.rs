//! The structure of the convolutional part: described once, for whatever its layers are made of.

use burn::module::Module;

/// Stem and residual blocks of layers `L`: plans, modules ([`ConvNorm`](super::ConvNorm)) or folded convolutions.
#[derive(Module, Debug)]
pub struct Backbone<L> {
    /// 3×3 convolution on the image.
    pub stem: L,
    /// Two blocks per stage.
    pub blocks: Vec<ResidualBlock<L>>,
}

/// Two 3×3 convolutions around a shortcut: `second(first(x)) + shortcut(x)`.
#[derive(Module, Debug)]
pub struct ResidualBlock<L> {
    /// The convolution that sees the block's input; it has the block's stride.
    pub first: L,
    /// The convolution to whose result the shortcut is added.
    pub second: L,
    /// 1×1 convolution where the shape changes; elsewhere `x` itself is added.
    pub shortcut: Option<L>,
}

/// What has to be known of a convolution to make one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ConvPlan {
    /// Channels that come in.
    pub inputs: usize,
    /// Channels that go out.
    pub outputs: usize,
    /// Height and width of the kernel: 3 or 1.
    pub kernel: usize,
    /// Distance between outputs: 1 or 2.
    pub stride: usize,
}

impl Backbone<ConvPlan> {
    /// Four stages of two blocks with `channels`, 2, 4 and 8 times as many; each stage but the first halves height and width.
    pub fn plan(inputs: usize, channels: usize) -> Self {
        let three = |inputs, outputs, stride| ConvPlan { inputs, outputs, kernel: 3, stride };
        let mut inputs_of_block = channels;
        let blocks = (0..4).flat_map(|stage| [(stage, true), (stage, false)]).map(|(stage, first)| {
            let (inputs, outputs) = (inputs_of_block, channels << stage);
            let stride = if stage > 0 && first { 2 } else { 1 };
            let changes = inputs != outputs || stride != 1;
            inputs_of_block = outputs;
            ResidualBlock {
                first: three(inputs, outputs, stride),
                second: three(outputs, outputs, 1),
                shortcut: changes.then_some(ConvPlan { inputs, outputs, kernel: 1, stride }),
            }
        });
        Self { stem: three(inputs, channels, 1), blocks: blocks.collect() }
    }
}

impl<L> Backbone<L> {
    /// What `make` makes of each layer, which it is given with what flows into it (`x` flows into the stem); it returns what flows out
    /// as well. The layers come in the order of [`layers`](Self::layers). Returns also what flows out of the last block.
    pub fn follow<X: Clone, M>(&self, x: X, mut make: impl FnMut(&L, X) -> (M, X)) -> (Backbone<M>, X) {
        let (stem, mut x) = make(&self.stem, x);
        let mut blocks = Vec::with_capacity(self.blocks.len());
        for block in &self.blocks {
            let (first, middle) = make(&block.first, x.clone());
            let (second, y) = make(&block.second, middle);
            let shortcut = block.shortcut.as_ref().map(|shortcut| make(shortcut, x).0);
            blocks.push(ResidualBlock { first, second, shortcut });
            x = y;
        }
        (Backbone { stem, blocks }, x)
    }

    /// What `make` makes of each layer, in the order of [`layers`](Self::layers).
    pub fn map_layers<M>(&self, mut make: impl FnMut(&L) -> M) -> Backbone<M> {
        self.follow((), |layer, ()| (make(layer), ())).0
    }

    /// All layers: the stem, then first, second and shortcut of each block.
    pub fn layers(&self) -> impl Iterator<Item = &L> {
        [&self.stem].into_iter().chain(self.blocks.iter().flat_map(ResidualBlock::layers))
    }

    /// The paths of the [`layers`](Self::layers), in the same order.
    pub fn paths(&self) -> impl Iterator<Item = String> {
        let of_block = |(i, block): (usize, &ResidualBlock<L>)| {
            let parts = ["first", "second", "shortcut"].into_iter().take(block.layers().count());
            parts.map(move |part| format!("blocks.{i}.{part}")).collect::<Vec<_>>()
        };
        ["stem".to_string()].into_iter().chain(self.blocks.iter().enumerate().flat_map(of_block))
    }
}

impl<L> ResidualBlock<L> {
    /// First, second and, if there is one, shortcut.
    pub fn layers(&self) -> impl Iterator<Item = &L> {
        [&self.first, &self.second].into_iter().chain(&self.shortcut)
    }
}
