//! `--group NAME=GLOB`: curves of another program beside our own.

use crate::analysis::own_curves::OwnSource;

/// Curves of other programs, a group of seeds each.
#[derive(clap::Args)]
pub(super) struct Groups {
    /// Curve files of any program as a group of their own: NAME='PATTERN', a file per seed; a number at the end of a file's
    /// name is its seed. May be given several times; the first group is compared with the others.
    #[arg(long = "group", value_name = "NAME=GLOB", value_parser = parse)]
    groups: Vec<(String, String)>,
    /// The accuracies of these groups lie between 0 and 1, and not in percent.
    #[arg(long, requires = "groups")]
    fraction: bool,
}

impl Groups {
    pub(super) fn is_empty(&self) -> bool {
        self.groups.is_empty()
    }

    /// Where the curves come from.
    pub(super) fn sources(&self) -> Vec<OwnSource> {
        let source = |(name, pattern): &(String, String)| OwnSource {
            name: name.clone(),
            pattern: pattern.clone(),
            fraction: self.fraction,
        };
        self.groups.iter().map(source).collect()
    }
}

fn parse(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((name, pattern)) if !name.is_empty() && !pattern.is_empty() => Ok((name.into(), pattern.into())),
        _ => Err("expected NAME='PATTERN', such as mine='mine-*.csv'".to_string()),
    }
}
