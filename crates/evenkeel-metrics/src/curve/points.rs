//! The points of a curve, or of a part of it.

use std::ops::Range;

use super::{Curve, Point};

/// A view of successive points. Points are put together as they are asked for; loops over one column of a long curve read
/// [`Curve::iterations`] and [`Curve::task1_acc`] instead.
#[derive(Debug, Clone, Copy)]
pub struct Points<'a> {
    curve: &'a Curve,
    start: usize,
    end: usize,
}

impl<'a> Points<'a> {
    pub(super) fn of(curve: &'a Curve) -> Self {
        Self { curve, start: 0, end: curve.task1_acc.len() }
    }

    /// How many there are.
    pub fn len(self) -> usize {
        self.end - self.start
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// One after the other.
    pub fn iter(self) -> impl ExactSizeIterator<Item = Point> + DoubleEndedIterator + Clone + use<'a> {
        (self.start..self.end).map(move |index| self.curve.point(index))
    }

    /// The point of this index, if there is one.
    pub fn get(self, index: usize) -> Option<Point> {
        (index < self.len()).then(|| self.curve.point(self.start + index))
    }

    /// The point of this index.
    ///
    /// # Panics
    /// If there is none.
    pub fn at(self, index: usize) -> Point {
        self.get(index).expect("there is such a point")
    }

    /// The first one.
    pub fn first(self) -> Option<Point> {
        self.get(0)
    }

    /// The last one.
    pub fn last(self) -> Option<Point> {
        self.get(self.len().checked_sub(1)?)
    }

    /// Those within a range of indices.
    ///
    /// # Panics
    /// If they are not all there.
    #[must_use]
    pub fn slice(self, range: Range<usize>) -> Self {
        assert!(range.start <= range.end && range.end <= self.len(), "there are such points");
        Self { start: self.start + range.start, end: self.start + range.end, ..self }
    }
}
