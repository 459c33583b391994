//! Beyond the paper: what it says of images, asked of sentences.

use super::{Page, Result, main_table};
use crate::analysis::Runs;

pub(super) const RESULT: Result = Result::of_runs(
    "sentences",
    "not in the paper",
    "what Table 1 says, asked of sentences: CLINC150 × four optimizers",
    include_str!("sentences.rs"),
    page,
    r#"
# The protocol of Table 1 on sentences: ten domains of 15 intents, joint training.
optimizers = ["ngm-sgd", "msgd", "adam", "sgd"]
seeds = 5
benchmarks = ["clinc150"]
"#,
);

fn page(runs: &Runs) -> Page {
    let mut page = main_table::page(runs);
    page.paragraphs = vec![
        "Joint training on the 150 intents of CLINC150, domain by domain, with four optimizers; the test set of the first domain is evaluated after \
         every iteration. The paper has no such benchmark: every claim is carried over by us, and the parameters were chosen for images."
            .to_string(),
    ];
    for claim in &mut page.claims {
        claim.of_paper = false;
    }
    page
}
