//! Drawings of every kind: well-formed, complete, and safe whatever the names.

use super::*;
use crate::figure::{
    Axis, Band, BarSeries, Bars, Dot, ErrorPoint, Heatmap, Lines, Mark, Scatter, ScatterSeries, Series, Shade,
};

/// One panel of every kind, with hostile names.
pub(crate) fn every_kind() -> Figure {
    let axis = Axis::new;
    let x: Vec<f64> = (0..50).map(f64::from).collect();
    let y: Vec<f64> = x.iter().map(|x| if *x == 25.0 { f64::NAN } else { 50.0 + x }).collect();
    let band = Band { low: y.iter().map(|y| y - 3.0).collect(), high: y.iter().map(|y| y + 3.0).collect() };
    let arrow = Dot { arrow_to: Some([30.0, 70.0]), ..Dot::new(10.0, 60.0) };
    let lines = Lines {
        series: vec![
            Series {
                name: "ngm-sgd".into(),
                x: x.clone(),
                y,
                band: Some(band),
                dots: vec![arrow],
                ..Series::default()
            },
            Series { name: "<script>alert(1)</script>".into(), y: x.clone(), x, ..Series::default() },
        ],
        marks: vec![Mark { at: 20.0, label: "task 2 & more".into() }],
        rules: vec![Mark { at: 55.0, label: "chance".into() }],
        shades: vec![Shade { from: 30.0, to: 40.0, label: "T₂".into() }],
    };
    let bars = Bars {
        groups: vec!["1→2".into(), "\"quoted\"".into()],
        series: vec![BarSeries {
            name: "msgd".into(),
            style: None,
            values: vec![1.0, f64::NAN],
            errors: Some(vec![0.1, 0.1]),
            reference: Some(vec![0.9, 0.5]),
        }],
    };
    let point = ErrorPoint { x: 1.0, y: 2.0, x_error: Some(0.1), y_error: None, label: "tonic".into() };
    let scatter = Scatter {
        series: vec![ScatterSeries { name: "tonic".into(), style: None, points: vec![point], joined: true }],
        rules: vec![],
    };
    let heatmap = Heatmap {
        x_names: vec!["0.1".into(), "0.2".into()],
        y_names: vec!["0.8".into(), "0.9".into()],
        values: vec![vec![1.0, 2.0], vec![f64::NAN, 4.0]],
        label: "avg-SG".into(),
        digits: 2,
        low_is_good: true,
        groups: vec![],
    };
    let mut figure = Figure::new("every-kind", "Every kind <b>", 2);
    figure.panels = vec![
        Panel::new("Lines", axis("iteration"), axis("accuracy, %"), lines).with_span(2),
        Panel::new("Bars", axis("transition"), axis("SG"), bars),
        Panel::new("Scatter", axis("avg-SG"), axis("accuracy").log(), scatter),
        Panel::new("Heat map", axis("η"), axis("γ"), heatmap),
    ];
    figure
}

#[test]
fn every_kind_is_well_formed_and_names_stay_text() {
    for theme in [Theme::Light, Theme::Dark, Theme::Auto] {
        let svg = every_kind().to_svg(theme);
        assert!(resvg::usvg::Tree::from_str(&svg, &resvg::usvg::Options::default()).is_ok());
        assert!(!svg.contains("<script") && svg.contains("&lt;script&gt;"));
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "numbers that no viewer reads");
    }
}

#[test]
fn a_gap_interrupts_the_line_and_its_band() {
    let svg = every_kind().to_svg(Theme::Light);
    let drawn: Vec<&str> = svg
        .split("<g class=\"s\" data-s=\"0\">")
        .nth(1)
        .unwrap()
        .split("</g>")
        .next()
        .unwrap()
        .lines()
        .collect();
    let bands = drawn.iter().filter(|line| line.contains("fill-opacity=\"0.18\"")).count();
    let line = drawn.iter().find(|line| line.contains("stroke-width=\"1.6\"")).unwrap();
    assert_eq!((bands, line.matches('M').count()), (2, 2));
}

#[test]
fn a_map_over_time_names_the_ends_of_groups_and_has_no_best_cell() {
    let map = Heatmap {
        x_names: (1..=8).map(|i| (100 * i).to_string()).collect(),
        y_names: vec!["1".into(), "2".into()],
        values: vec![vec![0.0; 8], vec![f64::NAN; 8]],
        groups: vec![4, 4],
        ..Heatmap::default()
    };
    let drawn = |map: &Heatmap| {
        let mut figure = Figure::new("map", "Map", 1);
        figure.panels = vec![Panel::new("", Axis::new("iteration"), Axis::new("task"), map.clone())];
        figure.to_svg(Theme::Light)
    };
    let svg = drawn(&map);
    let named =
        |svg: &str| (1..=8).filter(|i| svg.contains(&format!(">{}</text>", 100 * i))).collect::<Vec<_>>();
    assert_eq!(named(&svg), [4, 8]);
    assert!(!svg.contains("stroke-width=\"3\"") && !svg.contains(">–</text>"));
    let alone = drawn(&Heatmap { groups: vec![], ..map });
    assert_eq!(named(&alone).len(), 8);
    assert!(alone.contains("stroke-width=\"3\"") && alone.contains(">–</text>"));
}

#[test]
fn panels_that_do_not_fit_go_to_the_next_row() {
    let figure = every_kind();
    assert_eq!(places(&figure.panels, 2), [(0, 0, 2), (1, 0, 1), (1, 1, 1), (2, 0, 1)]);
}

#[test]
fn an_empty_figure_is_still_a_file() {
    let figure = Figure {
        panels: vec![Panel::new("", Axis::default(), Axis::default(), Lines::default())],
        ..Figure::default()
    };
    assert!(!figure.to_svg(Theme::Light).contains("NaN"));
}

#[test]
fn a_drawing_for_both_themes_is_light_where_style_sheets_are_not_known() {
    let (light, both) = (every_kind().to_svg(Theme::Light), every_kind().to_svg(Theme::Auto));
    let (before, rest) = both.split_once("<style>").unwrap();
    let (style, after) = rest.split_once("</style>\n").unwrap();
    assert_eq!(format!("{before}{after}"), light);
    // Every colour of the light drawing has its dark one.
    for color in light.split("=\"#").skip(1).map(|rest| &rest[..6]) {
        let known = style.contains(&format!("[fill=\"#{color}\"]"))
            || !light.contains(&format!("stroke=\"#{color}\""));
        assert!(known, "#{color} stays as it is in the dark");
    }
}
