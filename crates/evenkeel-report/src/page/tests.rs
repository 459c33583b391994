use super::*;
use crate::document::{Part, Progress, Section, Term};
use crate::svg::tests::every_kind;
use crate::table::tests::example;

fn document() -> Document {
    let hostile = "<script>alert(1)</script>";
    let mut section = Section::new(hostile, hostile);
    section.paragraphs = vec![hostile.into(), "{{main}}".into()];
    section.commands = vec!["evenkeel run '</pre>'".into()];
    section.warnings = vec!["<img src=x onerror=alert(1)>".into()];
    section.tables = vec![example()];
    section.figures = vec![every_kind()];
    let glossary = vec![Term::new("only", hostile), Term::new(hostile, hostile)];
    Document { title: hostile.into(), sections: vec![section.clone(), section], glossary }
}

#[test]
fn text_from_files_stays_text() {
    let page = document().to_html();
    // The page's own script, and twice the data of four panels, one of them in two widths.
    assert_eq!(page.matches("<script").count(), 1 + 2 * 5);
    assert_eq!(page.matches("</script").count(), 1 + 2 * 5);
    assert!(!page.contains("<img") && page.contains("&lt;img src=x onerror"));
    assert!(page.contains("<p>{{main}}</p>"), "a place of the template in a text is no place");
}

#[test]
fn nothing_is_loaded_from_anywhere() {
    let page = document().to_html();
    for external in ["src=\"", "@import", "url(", "<link"] {
        assert!(!page.contains(external), "{external}");
    }
    // Names of XML dialects are the only addresses.
    assert_eq!(page.matches("http://").count(), page.matches("http://www.w3.org/2000/svg").count());
    assert!(!page.contains("https://"));
}

#[test]
fn the_policy_allows_this_script_and_no_other() {
    let page = document().to_html();
    let script = page.rsplit_once("<script>").unwrap().1.split_once("</script>").unwrap().0;
    assert!(page.contains(&format!("script-src 'sha256-{}'", STANDARD.encode(Sha256::digest(script)))));
}

#[test]
fn anchors_are_unique() {
    let page = document().to_html();
    let ids: Vec<&str> = page.split(" id=\"").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
    let unique: HashSet<&&str> = ids.iter().collect();
    assert_eq!(ids.len(), unique.len(), "{ids:?}");
}

#[test]
fn only_the_live_page_asks_for_news() {
    assert!(!document().to_html().contains("<body data-live"));
    assert!(document().to_live_html("v\"1").contains("<body data-live=\"v&quot;1\""));
}

#[test]
fn the_answer_stands_before_its_table_and_details_are_folded() {
    let mut section = Section::new("a", "A");
    section.verdict = Some("<b> has the smallest gap".into());
    section.cautions = vec!["it learns <less>".into()];
    section.progress = Some(Progress {
        summary: "1 runs".into(),
        parts: vec![Part { name: "<i>".into(), done: 3, total: 10, note: "5 s left".into() }],
    });
    let mut ranking = example();
    (ranking.id, ranking.drawn) = ("ranking".into(), Some(2));
    section.ranking = Some(ranking);
    section.tables = vec![example()];
    section.paragraphs = vec!["made by".into()];
    let page = Document { sections: vec![section], ..Document::default() }.to_html();
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is not in {page}"));
    let order = [
        "&lt;b&gt; has the smallest gap",
        "it learns &lt;less&gt;",
        "<progress max=\"10\" value=\"3\" aria-label=\"&lt;i&gt;\">",
        "<table id=\"ranking\"",
        "<svg class=\"bar\"",
        "<details class=\"fold\"",
        "<p>made by</p>",
        "<table id=\"main-2\"",
    ];
    assert!(order.windows(2).all(|pair| at(pair[0]) < at(pair[1])), "{order:?}");
}

#[test]
fn panels_of_one_range_have_twins_with_their_own() {
    let mut figure = every_kind();
    figure.shared_range = true;
    let mut section = Section::new("a", "A");
    section.figures = vec![figure];
    let page = Document { sections: vec![section], ..Document::default() }.to_html();
    assert_eq!((page.matches(" shared\"").count(), page.matches(" own\"").count()), (5, 5));
    assert!(page.contains("data-do=\"zoom\""));
}
