//! The right to work on a run: one process at a time, on one machine or on many that share the folder.
//!
//! Two things make a claim. A *lock* on the file `lock`, which the system takes back at once from a process that dies; but some shared
//! file systems know no locks, and on others a lock is known only to the machine that holds it. And a *lease*, the file `lease.json`, whose
//! holder counts on in it every few seconds. A lease of another machine that stands still for [`LEASE`] is that of a dead one, by the clock
//! of whoever watches it: clocks need not agree. The holder looks whether the lease is still its own before it saves anything.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock, mpsc};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use evenkeel_data::files;
use serde::{Deserialize, Serialize};

use super::{StoreError, io_error};

/// How long a lease of another machine has to stand still before its run may be taken over.
pub const LEASE: Duration = Duration::from_secs(30);
/// How often a holder counts on.
const BEAT: Duration = Duration::from_secs(5);
/// How long after a take-over from another machine the lease is looked at again: of two who try, one is left.
const SETTLE: Duration = Duration::from_secs(1);

const LOCK_FILE: &str = "lock";
const LEASE_FILE: &str = "lease.json";

/// Who works on a run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lease {
    /// The machine.
    pub node: String,
    /// Its process.
    pub pid: u32,
    /// Differs between any two claims.
    pub token: String,
    /// Counts on while the holder lives.
    pub beat: u64,
}

impl Lease {
    fn new() -> Self {
        let time = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let (node, pid) = (node().to_string(), std::process::id());
        let token = files::sha256(format!("{node} {pid} {}", time.as_nanos()).as_bytes())[..16].to_string();
        Self { node, pid, token, beat: 0 }
    }

    /// The lease in a run directory. One that cannot be read counts as that of an unknown machine, so it is waited for.
    fn read(dir: &Path) -> Option<Self> {
        let bytes = files::read(&dir.join(LEASE_FILE)).ok()?;
        Some(serde_json::from_slice(&bytes).unwrap_or_else(|_| Self {
            node: String::new(),
            pid: 0,
            token: files::sha256(&bytes)[..16].to_string(),
            beat: 0,
        }))
    }

    fn file(&self, dir: &Path) -> io::Result<tempfile::NamedTempFile> {
        let mut file = files::in_folder(dir)?;
        serde_json::to_writer(&mut file, self)?;
        file.flush()?;
        Ok(file)
    }

    /// Writes it over whatever lease is there.
    fn publish(&self, dir: &Path) -> io::Result<()> {
        files::publish(self.file(dir)?, &dir.join(LEASE_FILE)).map(drop)
    }

    /// Writes it if there is none.
    fn create(&self, dir: &Path) -> io::Result<bool> {
        match self.file(dir)?.persist_noclobber(dir.join(LEASE_FILE)) {
            Ok(_) => Ok(true),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            Err(error) => Err(error.error),
        }
    }
}

/// The name of this machine: the scheduler's if there is one.
pub fn node() -> &'static str {
    static NODE: OnceLock<String> = OnceLock::new();
    NODE.get_or_init(|| {
        let scheduler = std::env::var("SLURMD_NODENAME").ok().filter(|name| !name.is_empty());
        scheduler.unwrap_or_else(|| gethostname::gethostname().to_string_lossy().into_owned())
    })
}

/// What a look at a run directory says of claims on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Claimed {
    /// Nobody works on it.
    Free,
    /// A process of which the system knows that it lives.
    Locked,
    /// By a machine of which only the lease is known.
    Leased(Lease),
}

impl Claimed {
    /// Looks at a run directory.
    pub fn look(dir: &Path) -> Self {
        let locks = match files::open(&dir.join(LOCK_FILE)).map(|lock| lock.try_lock_shared()) {
            Ok(Err(TryLockError::WouldBlock)) => return Self::Locked,
            // Where there is no file yet, nobody has tried.
            Ok(Ok(())) | Err(_) => true,
            Ok(Err(TryLockError::Error(_))) => false,
        };
        match Lease::read(dir) {
            // Its process would hold the lock.
            Some(lease) if locks && lease.node == node() => Self::Free,
            Some(lease) => Self::Leased(lease),
            None => Self::Free,
        }
    }
}

/// Watches a lease of another machine until it is sure to be a dead one's.
#[derive(Debug)]
pub struct LeaseWatch {
    seen: Lease,
    since: Instant,
}

impl LeaseWatch {
    /// Begins to watch.
    pub fn new(lease: Lease) -> Self {
        Self { seen: lease, since: Instant::now() }
    }

    /// Looks again; whether the lease has stood still for `patience`.
    pub fn is_dead(&mut self, lease: Lease, patience: Duration) -> bool {
        if lease != self.seen {
            *self = Self::new(lease);
        }
        self.since.elapsed() >= patience
    }
}

/// A claim that this process holds. Dropping it gives the run back.
#[derive(Debug)]
pub struct Claim {
    dir: PathBuf,
    token: String,
    lost: Arc<AtomicBool>,
    end: Option<mpsc::Sender<()>>,
    heart: Option<JoinHandle<()>>,
    _lock: Option<File>,
}

impl Claim {
    /// Claims the run in `dir`; `dead` is the token of a lease that has been watched and stood still.
    pub fn take(dir: &Path, dead: Option<&str>) -> Result<Self, StoreError> {
        let lock = lock(dir)?;
        let lease = Lease::new();
        let taken = match Lease::read(dir) {
            None => lease.create(dir).map_err(io_error(dir))?,
            Some(old) if lock.is_some() && old.node == node() => {
                lease.publish(dir).map(|()| true).map_err(io_error(dir))?
            }
            Some(old) if dead == Some(&old.token) => {
                lease.publish(dir).map_err(io_error(dir))?;
                std::thread::sleep(SETTLE);
                is_mine(dir, &lease.token)
            }
            Some(_) => false,
        };
        if !taken {
            return Err(StoreError::Locked { path: dir.display().to_string() });
        }
        let (end, ends) = mpsc::channel();
        let lost = Arc::new(AtomicBool::new(false));
        let token = lease.token.clone();
        let heart = std::thread::spawn({
            let (dir, lost) = (dir.to_path_buf(), Arc::clone(&lost));
            move || beat(&dir, lease, &ends, &lost)
        });
        Ok(Self { dir: dir.to_path_buf(), token, lost, end: Some(end), heart: Some(heart), _lock: lock })
    }

    /// An error if this process is known to have lost the run to another.
    pub fn still_held(&self) -> Result<(), StoreError> {
        if self.lost.load(Ordering::Relaxed) { Err(self.lost_error()) } else { Ok(()) }
    }

    /// The same after a look at the lease, before something is saved.
    pub fn check(&self) -> Result<(), StoreError> {
        if is_mine(&self.dir, &self.token) { self.still_held() } else { Err(self.lost_error()) }
    }

    fn lost_error(&self) -> StoreError {
        StoreError::Lost { path: self.dir.display().to_string() }
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        self.end = None;
        if let Some(heart) = self.heart.take() {
            let _ = heart.join();
        }
        if is_mine(&self.dir, &self.token) {
            let _ = std::fs::remove_file(self.dir.join(LEASE_FILE));
        }
    }
}

fn is_mine(dir: &Path, token: &str) -> bool {
    Lease::read(dir).is_some_and(|lease| lease.token == token)
}

/// Counts on until the claim ends or is lost.
fn beat(dir: &Path, mut lease: Lease, ends: &mpsc::Receiver<()>, lost: &AtomicBool) {
    while ends.recv_timeout(BEAT) == Err(mpsc::RecvTimeoutError::Timeout) {
        if !is_mine(dir, &lease.token) {
            lost.store(true, Ordering::Relaxed);
            return;
        }
        lease.beat += 1;
        // A full disk may pass; another process decides by what it sees.
        let _ = lease.publish(dir);
    }
}

/// The lock of a run; `None` on a file system without locks.
fn lock(dir: &Path) -> Result<Option<File>, StoreError> {
    let path = dir.join(LOCK_FILE);
    let file =
        OpenOptions::new().create(true).truncate(false).write(true).open(&path).map_err(io_error(&path))?;
    // A reader that asks whether the run is locked holds the lock itself for a moment: ask again before giving up.
    for _ in 0..5 {
        match file.try_lock() {
            Ok(()) => return Ok(Some(file)),
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(10)),
            // ENOLCK, ENOTSUP, ENOSYS: the lease is all there is.
            Err(TryLockError::Error(_)) => return Ok(None),
        }
    }
    Err(StoreError::Locked { path: dir.display().to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of_another_machine(beat: u64) -> Lease {
        Lease { node: "another machine".into(), pid: 1, token: "0123456789abcdef".into(), beat }
    }

    #[test]
    fn a_run_has_one_holder_and_is_free_after_it() {
        let folder = tempfile::tempdir().unwrap();
        let claim = Claim::take(folder.path(), None).unwrap();
        assert_eq!(Claimed::look(folder.path()), Claimed::Locked);
        assert!(matches!(Claim::take(folder.path(), None), Err(StoreError::Locked { .. })));
        claim.check().unwrap();
        drop(claim);
        assert_eq!(Claimed::look(folder.path()), Claimed::Free);
        assert!(!folder.path().join(LEASE_FILE).exists());
    }

    #[test]
    fn what_a_killed_process_of_this_machine_left_is_free_at_once() {
        let folder = tempfile::tempdir().unwrap();
        Lease { node: node().into(), ..of_another_machine(3) }.publish(folder.path()).unwrap();
        File::create(folder.path().join(LOCK_FILE)).unwrap();
        assert_eq!(Claimed::look(folder.path()), Claimed::Free);
        Claim::take(folder.path(), None).unwrap().check().unwrap();
    }

    #[test]
    fn a_lease_of_another_machine_holds_until_it_was_watched_standing_still() {
        let folder = tempfile::tempdir().unwrap();
        of_another_machine(3).publish(folder.path()).unwrap();
        let Claimed::Leased(lease) = Claimed::look(folder.path()) else { panic!("a lease holds") };
        assert!(matches!(Claim::take(folder.path(), None), Err(StoreError::Locked { .. })));
        assert!(matches!(Claim::take(folder.path(), Some("of one before")), Err(StoreError::Locked { .. })));

        let patience = Duration::from_millis(40);
        let mut watch = LeaseWatch::new(lease.clone());
        assert!(!watch.is_dead(lease.clone(), patience));
        std::thread::sleep(patience);
        assert!(!watch.is_dead(of_another_machine(4), patience), "it has counted on");
        std::thread::sleep(patience);
        assert!(watch.is_dead(of_another_machine(4), patience));
        Claim::take(folder.path(), Some(&lease.token)).unwrap().check().unwrap();
    }

    #[test]
    fn who_comes_back_from_the_dead_may_not_save() {
        let folder = tempfile::tempdir().unwrap();
        let claim = Claim::take(folder.path(), None).unwrap();
        of_another_machine(0).publish(folder.path()).unwrap();
        assert!(matches!(claim.check(), Err(StoreError::Lost { .. })));
        drop(claim);
        assert_eq!(Lease::read(folder.path()), Some(of_another_machine(0)), "it is not ours to remove");
    }

    #[test]
    fn a_damaged_lease_is_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(LEASE_FILE), "{").unwrap();
        assert!(matches!(Claimed::look(folder.path()), Claimed::Leased(_)));
    }
}
