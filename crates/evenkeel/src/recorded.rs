//! A number of 64 bits that belongs to a module's record.

use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use burn::module::{
    Content, Devices, Module, ModuleDisplay, ModuleDisplayDefault, ModuleMapper, ModuleVisitor, Param,
    ParamId,
};
use burn::tensor::{DType, Device, Int, Tensor, TensorData};

/// Where the bits are kept: a number of one's own, or one that clones share.
pub(crate) trait Word: Clone + Debug + Send + Sync + 'static {
    fn get(&self) -> u64;
    fn set(&mut self, bits: u64);
}

impl Word for u64 {
    fn get(&self) -> u64 {
        *self
    }

    fn set(&mut self, bits: u64) {
        *self = bits;
    }
}

impl Word for Arc<AtomicU64> {
    fn get(&self) -> u64 {
        self.load(Ordering::Relaxed)
    }

    fn set(&mut self, bits: u64) {
        self.store(bits, Ordering::Relaxed);
    }
}

/// A number that is recorded and restored with the module that has it as a field.
///
/// Records hold it as two 32-bit integers, for there are devices without 64-bit numbers. As integers they are no parameters: neither
/// optimizers nor quantisation nor a change of device touches them.
#[derive(Debug, Clone)]
pub(crate) struct Recorded<W> {
    id: ParamId,
    pub(crate) word: W,
}

impl<W: Word> Recorded<W> {
    pub(crate) fn new(word: W) -> Self {
        Self { id: ParamId::new(), word }
    }

    /// The number as integers that are computed when somebody asks for them.
    fn parameter(&self) -> Param<Tensor<1, Int>> {
        let bits = self.word.get();
        let words = move |device: &Device, _: bool| {
            let data = TensorData::new(vec![bits as i32, (bits >> 32) as i32], [2]);
            Tensor::from_data(data, (device, DType::I32))
        };
        Param::uninitialized(self.id, words, record_device(), false, [2].into())
    }
}

fn from_words(data: &TensorData) -> u64 {
    let words: Vec<u64> = data.iter::<i64>().map(|word| u64::from(word as u32)).collect();
    words[0] | words[1] << 32
}

/// Where two integers are put on their way to a record: the CPU if Burn has it.
fn record_device() -> Device {
    #[cfg(feature = "flex")]
    return Device::flex();
    #[cfg(not(feature = "flex"))]
    return Device::default();
}

impl<W: Word> Module for Recorded<W> {
    fn visit<V: ModuleVisitor>(&self, visitor: &mut V) {
        visitor.visit_int(&self.parameter());
    }

    fn map<M: ModuleMapper>(mut self, mapper: &mut M) -> Self {
        let mapped = mapper.map_int(self.parameter());
        // Untouched it is still waiting for its value, and no device is asked for it.
        if mapped.is_initialized() {
            self.word.set(from_words(&mapped.val().into_data()));
        }
        self
    }

    fn collect_devices(&self, devices: Devices) -> Devices {
        devices
    }

    fn fork(self, _: &Device) -> Self {
        self
    }

    fn to_device(self, _: &Device) -> Self {
        self
    }

    fn train(self) -> Self {
        self
    }

    fn valid(&self) -> Self {
        self.clone()
    }

    fn materialize(self) -> Self {
        self
    }
}

impl<W: Word> ModuleDisplayDefault for Recorded<W> {
    fn content(&self, content: Content) -> Option<Content> {
        content.add_formatted(&"recorded number".to_string()).optional()
    }
}

impl<W: Word> ModuleDisplay for Recorded<W> {}

#[cfg(test)]
mod tests {
    use burn::store::ModuleRecord;

    use super::*;

    #[test]
    fn every_bit_goes_through_a_record() {
        for bits in [0, 1, u64::MAX, 1 << 31, 1 << 32, 1 << 63, 1.68_f64.to_bits()] {
            let bytes = Recorded::new(bits).into_record().into_bytes().unwrap();
            let loaded = Recorded::new(7_u64).load_record(ModuleRecord::from_bytes(bytes).unwrap());
            assert_eq!(loaded.word, bits);
        }
    }

    #[test]
    fn only_loading_changes_it() {
        struct Nothing;
        impl ModuleMapper for Nothing {}
        let recorded = Recorded::new(5_u64);
        assert_eq!(Module::num_params(&recorded), 0);
        assert_eq!(recorded.map(&mut Nothing).to_device(&Device::flex()).valid().train().word, 5);
    }
}
