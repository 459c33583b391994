pub(super) use crate::ops::{scaled_quotient, scaled_sum, scaled_sum_of_squares};
