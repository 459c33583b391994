//! The list of the paper's claims, from its abstract to its appendix: which result judges each, or why none can.

use std::fmt::Write as _;
use std::sync::LazyLock;

use serde::Deserialize;

const LIST: &str = include_str!("../../paper/claims.toml");

/// A claim of the paper.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PaperClaim {
    /// The name by which results refer to it.
    pub id: String,
    /// Every place where it stands.
    pub place: String,
    /// The paper's own words.
    pub quote: String,
    /// What it says, in ours.
    pub says: String,
    /// The benchmarks of which the paper says it; none for theory.
    pub benchmarks: Vec<String>,
    /// The result that judges it.
    #[serde(default)]
    pub result: Option<String>,
    /// How it is judged.
    #[serde(default)]
    pub test: Option<String>,
    /// The unit test that checks it, for what is true by construction: file and function.
    #[serde(default)]
    pub tested_by: Option<String>,
    /// Why it is not.
    #[serde(default)]
    pub untested: Option<String>,
}

#[derive(Deserialize)]
struct List {
    claim: Vec<PaperClaim>,
}

static CLAIMS: LazyLock<Vec<PaperClaim>> = LazyLock::new(|| {
    let list: List = toml::from_str(LIST).expect("the list of claims is part of the program");
    list.claim
});

impl PaperClaim {
    /// All claims, in the order of the paper.
    pub fn all() -> &'static [PaperClaim] {
        &CLAIMS
    }

    /// The claim of that name.
    ///
    /// # Panics
    /// If there is none: a test walks the results.
    pub fn named(id: &str) -> &'static PaperClaim {
        CLAIMS.iter().find(|claim| claim.id == id).unwrap_or_else(|| panic!("there is no claim '{id}'"))
    }
}

/// The whole list as a page: which result judges each claim, which unit test checks it, or why it is not tested.
pub fn to_markdown() -> String {
    let all = PaperClaim::all();
    let count = |wanted: fn(&PaperClaim) -> bool| all.iter().filter(|claim| wanted(claim)).count();
    let mut text = format!(
        "# The paper's claims\n\nMade by `evenkeel reproduce --claims` from `crates/evenkeel-lab/paper/claims.toml`: {} claims, of which {} are judged by a \
         result (`evenkeel reproduce NAME`), {} are identities that a unit test checks, and {} are not tested, each with the reason.\n",
        all.len(),
        count(|claim| claim.result.is_some()),
        count(|claim| claim.tested_by.is_some()),
        count(|claim| claim.untested.is_some()),
    );
    for claim in all {
        let judged = match (&claim.result, &claim.test, &claim.tested_by, &claim.untested) {
            (Some(result), test, ..) => format!("`{result}`: {}", test.as_deref().unwrap_or_default()),
            (None, _, Some(test), _) => format!("identity, checked by `{test}`"),
            (None, _, None, why) => format!("not tested: {}", why.as_deref().unwrap_or_default()),
        };
        let benchmarks = if claim.benchmarks.is_empty() {
            "none in particular".to_string()
        } else {
            claim.benchmarks.join(", ")
        };
        let _ = write!(
            text,
            "\n**{}**: {}\n- Where: {} (\"{}\")\n- Benchmarks: {benchmarks}\n- {judged}\n",
            claim.id, claim.says, claim.place, claim.quote
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::reproduce::RESULTS;

    #[test]
    fn the_documentation_has_the_whole_list() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/claims.md");
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text, to_markdown(), "`evenkeel reproduce --claims > docs/claims.md` makes it anew");
    }

    #[test]
    fn every_claim_is_judged_by_a_result_or_says_why_not() {
        for (i, claim) in PaperClaim::all().iter().enumerate() {
            assert!(PaperClaim::all()[..i].iter().all(|other| other.id != claim.id), "{} twice", claim.id);
            assert!(
                !claim.place.is_empty() && !claim.quote.is_empty() && !claim.says.is_empty(),
                "{}",
                claim.id
            );
            match (&claim.result, &claim.tested_by, &claim.untested) {
                (Some(name), None, None) => {
                    let result = RESULTS.iter().find(|result| result.name == name);
                    let result = result.unwrap_or_else(|| panic!("{}: no result '{name}'", claim.id));
                    let named = format!("\"{}\"", claim.id);
                    assert!(result.source.contains(&named), "{name} does not judge '{}'", claim.id);
                    assert!(claim.test.is_some(), "{} does not say how", claim.id);
                }
                (None, Some(test), None) => {
                    let (file, function) = test.split_once(": ").unwrap();
                    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
                    let text = std::fs::read_to_string(root.join(file)).unwrap();
                    assert!(text.contains(function), "{}: {test}", claim.id);
                }
                (None, None, Some(why)) => assert!(why.len() > 10, "{}", claim.id),
                _ => panic!("{}: a result, a unit test or a reason", claim.id),
            }
        }
    }
}
