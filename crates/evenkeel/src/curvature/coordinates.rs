//! With respect to which weights a loss is differentiated.

use burn::module::ParamGroup;

use super::CurvatureError;
use super::flat::Parameter;

/// The coordinates in which a curvature is measured.
///
/// With `W = D w`, where `D` is diagonal with the gain `g` at modulated weights and 1 elsewhere (Lemma 2):
///
/// ```text
/// H_w = D H_W D       so       H_W = D⁻¹ H_w D⁻¹
/// ```
///
/// If every parameter is under the one gain, all eigenvalues in effective coordinates are those in base coordinates
/// divided by `g²` (Corollary 1). If only some are, as in a convolutional network whose head alone is modulated, there is
/// no such shortcut, and the transformed Hessian is iterated on.
///
/// ```
/// use evenkeel::curvature::Coordinates;
///
/// let all = Coordinates::effective(1.8, ".*")?;         // the MLP: every layer under the gain
/// let head = Coordinates::effective(1.8, "^head\\.")?;   // the ResNet: its head alone
/// # Ok::<(), evenkeel::curvature::CurvatureError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub enum Coordinates {
    /// The weights `w` that the optimizer updates.
    #[default]
    Base,
    /// The weights `W` that the forward pass uses.
    Effective {
        /// The gain `g > 0` of the model at the time of the measurement.
        gain: f64,
        /// The modulated parameters; as for [`modulate`](crate::nn::modulate), those of rank 1 are not.
        group: ParamGroup,
    },
}

impl Coordinates {
    /// Effective coordinates of a model whose weights (of rank 2 or more) with a path that matches `pattern` are under the
    /// gain `g`: the pattern that was given to [`modulate`](crate::nn::modulate).
    pub fn effective(gain: f64, pattern: &str) -> Result<Self, CurvatureError> {
        if !(gain > 0.0 && gain.is_finite()) {
            return Err(CurvatureError::Gain(gain));
        }
        let group =
            ParamGroup::from_regex(pattern).map_err(|_| CurvatureError::Pattern(pattern.to_string()))?;
        Ok(Self::Effective { gain, group })
    }

    /// The diagonal of `D`, one entry per weight.
    pub(super) fn diagonal(&self, parameters: &[Parameter]) -> Result<Vec<f64>, CurvatureError> {
        let total = parameters.iter().map(|parameter| parameter.len).sum();
        let Self::Effective { gain, group } = self else { return Ok(vec![1.0; total]) };
        if !(*gain > 0.0 && gain.is_finite()) {
            return Err(CurvatureError::Gain(*gain));
        }
        let mut diagonal = Vec::with_capacity(total);
        let mut matched = false;
        for parameter in parameters {
            let modulated = parameter.rank >= 2 && group.matches(&parameter.id, Some(&parameter.path));
            matched |= modulated;
            let entry = if modulated { *gain } else { 1.0 };
            diagonal.extend(std::iter::repeat_n(entry, parameter.len));
        }
        if matched { Ok(diagonal) } else { Err(CurvatureError::NothingMatches) }
    }
}
