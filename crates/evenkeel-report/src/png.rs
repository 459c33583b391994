//! Figures as PNG, with a font of our own: the same pixels on every machine.

use std::sync::{Arc, LazyLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{Options, Tree, fontdb};
use thiserror::Error;

use crate::figure::Figure;
use crate::svg::Theme;

static FONTS: LazyLock<Arc<fontdb::Database>> = LazyLock::new(|| {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(include_bytes!("../font/DejaVuSans.subset.ttf").to_vec());
    fonts.load_font_data(include_bytes!("../font/DejaVuSans-Bold.subset.ttf").to_vec());
    fonts.set_sans_serif_family("DejaVu Sans");
    Arc::new(fonts)
});

/// A figure that cannot be painted.
#[derive(Debug, Error)]
#[error("the figure {id} cannot be drawn as PNG: {reason}")]
pub struct PngError {
    id: String,
    reason: String,
}

impl Figure {
    /// The figure as a PNG file, so many pixels a unit of its SVG (3 is about 300 dpi in a paper's column).
    pub fn to_png(&self, theme: Theme, scale: f32) -> Result<Vec<u8>, PngError> {
        let failed = |reason: String| PngError { id: self.id.clone(), reason };
        let options =
            Options { fontdb: FONTS.clone(), font_family: "DejaVu Sans".into(), ..Options::default() };
        let tree =
            Tree::from_str(&self.to_svg(theme), &options).map_err(|error| failed(error.to_string()))?;
        let size = tree.size().to_int_size().scale_by(scale).ok_or_else(|| failed("no size".into()))?;
        let mut pixels =
            Pixmap::new(size.width(), size.height()).ok_or_else(|| failed("too large for memory".into()))?;
        resvg::render(&tree, Transform::from_scale(scale, scale), &mut pixels.as_mut());
        pixels.encode_png().map_err(|error| failed(error.to_string()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svg::tests::every_kind;

    #[test]
    fn text_and_curves_are_painted() {
        let png = every_kind().to_png(Theme::Light, 1.0).unwrap();
        assert_eq!(&png[1..4], b"PNG");
        let pixels = Pixmap::decode_png(&png).unwrap();
        let dark = pixels.pixels().iter().filter(|p| p.red() < 60 && p.green() < 60 && p.blue() < 60).count();
        let orange =
            pixels.pixels().iter().filter(|p| p.red() > 200 && p.green() < 140 && p.blue() < 40).count();
        assert!(dark > 1000 && orange > 100, "{dark} dark pixels (text), {orange} of the first curve");
    }
}
