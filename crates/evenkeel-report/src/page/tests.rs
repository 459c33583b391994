use super::*;
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
    Document { title: hostile.into(), sections: vec![section.clone(), section] }
}

#[test]
fn text_from_files_stays_text() {
    let page = document().to_html();
    // The page's own script and the data of one panel in two widths, twice.
    assert_eq!(page.matches("<script").count(), 1 + 2 * 2);
    assert_eq!(page.matches("</script").count(), 1 + 2 * 2);
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
