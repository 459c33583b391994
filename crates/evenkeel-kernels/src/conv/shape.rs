//! What a convolution computes and by which algorithm.

use crate::layout::BatchShape;

/// How a convolution is computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Algorithm {
    /// Multiply every tap: exact to a few ulp, for any kernel size and stride.
    Direct,
    /// Winograd F(4×4, 3×3): a quarter of the multiplications, about ten times the rounding error.
    /// Only for 3×3 with stride 1.
    Winograd,
}

/// A square convolution without bias, padded so that stride 1 keeps the size.
///
/// | field | meaning | values |
/// |---|---|---|
/// | `batch` | images | ≥ 1 |
/// | `inputs`, `outputs` | channels | ≥ 1 |
/// | `height`, `width` | size of the input map | ≥ 1 |
/// | `kernel` | filter size; padding is `(kernel − 1) / 2` | 1 or 3 |
/// | `stride` | output spacing | 1 or 2 |
///
/// Weights are `[outputs][inputs][kernel][kernel]` at every public function, as in PyTorch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConvShape {
    pub(crate) batch: usize,
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
    pub(crate) height: usize,
    pub(crate) width: usize,
    pub(crate) kernel: usize,
    pub(crate) stride: usize,
    pub(crate) algorithm: Algorithm,
}

impl ConvShape {
    /// A 3×3 convolution of `input` with padding 1.
    pub fn three(input: BatchShape, outputs: usize, stride: usize) -> Self {
        Self::new(input, outputs, 3, stride)
    }

    /// A 1×1 convolution of `input`.
    pub fn one(input: BatchShape, outputs: usize, stride: usize) -> Self {
        Self::new(input, outputs, 1, stride)
    }

    /// A convolution of `input` with a kernel of 1×1, or of 3×3 with padding 1.
    pub fn new(input: BatchShape, outputs: usize, kernel: usize, stride: usize) -> Self {
        let BatchShape { batch, channels: inputs, height, width } = input;
        assert!(
            batch > 0 && inputs > 0 && outputs > 0 && height > 0 && width > 0,
            "empty convolution: {input:?}"
        );
        assert!(kernel == 1 || kernel == 3, "kernel {kernel} is neither 1 nor 3");
        assert!(stride == 1 || stride == 2, "stride {stride} is neither 1 nor 2");
        // Few channels do not pay for the transforms, and a map of one or two rows wastes most of a tile.
        let pays = inputs >= 8 && outputs >= 8 && height >= 3 && width >= 3;
        let algorithm =
            if kernel == 3 && stride == 1 && pays { Algorithm::Winograd } else { Algorithm::Direct };
        Self { batch, inputs, outputs, height, width, kernel, stride, algorithm }
    }

    /// The same convolution by another algorithm.
    ///
    /// # Panics
    /// If Winograd is asked for and this is not 3×3 with stride 1.
    #[must_use]
    pub fn with_algorithm(self, algorithm: Algorithm) -> Self {
        let possible = self.kernel == 3 && self.stride == 1;
        assert!(algorithm == Algorithm::Direct || possible, "Winograd needs 3×3 and stride 1: {self:?}");
        Self { algorithm, ..self }
    }

    /// The same convolution of another number of images.
    #[must_use]
    pub fn with_batch(self, batch: usize) -> Self {
        assert!(batch > 0, "empty batch");
        Self { batch, ..self }
    }

    /// The algorithm in use.
    pub fn algorithm(&self) -> Algorithm {
        self.algorithm
    }

    /// Shape of the input.
    pub fn input(&self) -> BatchShape {
        BatchShape::new(self.batch, self.inputs, self.height, self.width)
    }

    /// Shape of the output.
    pub fn output(&self) -> BatchShape {
        let (height, width) = (self.height.div_ceil(self.stride), self.width.div_ceil(self.stride));
        BatchShape::new(self.batch, self.outputs, height, width)
    }

    /// Numbers in the weights.
    pub fn weight_len(&self) -> usize {
        self.outputs * self.inputs * self.kernel * self.kernel
    }

    /// Floating-point operations of one pass as a textbook counts them, padding included.
    pub fn flops(&self) -> f64 {
        let output = self.output();
        2.0 * self.weight_len() as f64 * (output.batch * output.height * output.width) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strided_output_rounds_up() {
        let conv = ConvShape::three(BatchShape::new(1, 20, 21, 11), 40, 2);
        assert_eq!(conv.output(), BatchShape::new(1, 40, 11, 6));
    }

    #[test]
    fn the_stem_is_direct_and_wide_layers_are_winograd() {
        let image = BatchShape::new(1, 3, 32, 32);
        assert_eq!(ConvShape::three(image, 20, 1).algorithm(), Algorithm::Direct);
        let map = BatchShape { channels: 20, ..image };
        assert_eq!(ConvShape::three(map, 20, 1).algorithm(), Algorithm::Winograd);
    }

    #[test]
    #[should_panic(expected = "Winograd needs 3×3 and stride 1")]
    fn winograd_with_stride_is_refused() {
        let _ = ConvShape::three(BatchShape::new(1, 20, 8, 8), 40, 2).with_algorithm(Algorithm::Winograd);
    }
}
