//! `outcome.json`, and everything that is drawn of it.
#![no_main]

use evenkeel_report::{Document, Section, Theme};

libfuzzer_sys::fuzz_target!(|data: &[u8]| {
    let Ok(section) = serde_json::from_slice::<Section>(data) else { return };
    for table in &section.tables {
        let _ = (table.to_csv(), table.to_latex(), table.to_markdown());
    }
    for figure in &section.figures {
        let _ = (figure.to_csv(), figure.to_svg(Theme::Auto));
    }
    let page = Document { title: "fuzzed".into(), sections: vec![section], glossary: vec![] }.to_html();
    assert!(page.trim_end().ends_with("</html>"));
});
