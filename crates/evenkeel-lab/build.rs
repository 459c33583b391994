//! Tells the program which commit it is made of: runs, checkpoints and pages name it.

use std::path::Path;
use std::process::Command;

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // What decides the answer: the commit that is checked out, the index, and every source file.
    for path in [".git/HEAD", ".git/index", "crates", "Cargo.toml", "Cargo.lock"] {
        let path = root.join(path);
        if path.exists() {
            println!("cargo:rerun-if-changed={}", path.display());
        }
    }
    println!("cargo:rustc-env=EVENKEEL_COMMIT={}", commit(&root));
}

/// The commit, with `+changes` if the tree has any; what cargo noted when it packed the crate; else `unknown`.
fn commit(root: &Path) -> String {
    let git = |arguments: &[&str]| {
        let output = Command::new("git").arg("-C").arg(root).args(arguments).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_string())
    };
    let inside = root.join(".git").exists();
    if let Some(commit) = git(&["rev-parse", "HEAD"]).filter(|_| inside) {
        let changes = git(&["status", "--porcelain"]).is_none_or(|changes| !changes.is_empty());
        return if changes { format!("{commit}+changes") } else { commit };
    }
    let packed = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(".cargo_vcs_info.json"));
    let sha =
        packed.ok().and_then(|text| Some(text.split_once("\"sha1\": \"")?.1.split_once('"')?.0.to_string()));
    sha.unwrap_or_else(|| "unknown (built without git)".to_string())
}
