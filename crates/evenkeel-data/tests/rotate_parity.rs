//! Rotation agrees with Pillow pixel for pixel; `fixtures/rotate_parity.py` made the expected images.

use evenkeel_data::rotate::Rotation;

#[test]
fn rotation_equals_pillow() {
    let mut fixture = &include_bytes!("fixtures/rotate_parity.bin")[..];
    for (height, width) in [(28, 28), (28, 28), (28, 28), (9, 12)] {
        let mut take = || fixture.split_off(..height * width).expect("the fixture is complete");
        let image = take();
        for angle in [80.0, 160.0] {
            let mut turned = vec![0; image.len()];
            Rotation::new(height, width, angle).apply(image, &mut turned);
            assert_eq!(turned, take(), "{height}×{width} at {angle}°");
        }
    }
    assert!(fixture.is_empty());
}
