//! Jobs of Slurm: the scripts, and what the queue says of them.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use evenkeel_data::files;
use serde::{Deserialize, Serialize};

/// Seconds before the time limit at which a job saves, stops and queues again.
const BEFORE_LIMIT: u32 = 90;

/// What each job may use.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Jobs of the array.
    pub tasks: u16,
    /// Cores of each; a whole node if `None`.
    pub cpus: Option<u16>,
    /// Time limit, as sbatch takes it.
    pub time: Option<String>,
    /// Partition.
    pub partition: Option<String>,
    /// GPUs of each.
    pub gpus: Option<u16>,
    /// Seconds between checkpoints of a run.
    pub checkpoint_seconds: f64,
}

/// An array of `evenkeel work`, and the report after it.
#[derive(Debug, Clone)]
pub struct Job {
    /// What the queue calls it.
    pub name: String,
    /// The command that starts this program.
    pub program: Vec<OsString>,
    /// The folder of runs.
    pub dir: PathBuf,
    /// What it may use.
    pub limits: Limits,
}

/// Quotes a path for a shell.
fn quoted(path: &Path) -> String {
    format!("'{}'", path.display().to_string().replace('\'', r"'\''"))
}

/// A command for a shell.
fn words(command: &[OsString]) -> String {
    command.iter().map(|word| quoted(Path::new(word))).collect::<Vec<_>>().join(" ")
}

impl Job {
    fn folder(&self) -> PathBuf {
        self.dir.join("slurm")
    }

    fn header(&self, name: &str, log: &str) -> Vec<String> {
        let mut lines = vec![
            "#!/bin/bash".to_string(),
            format!("#SBATCH --job-name={name}"),
            // A file name pattern ends at a space unless it is quoted.
            format!("#SBATCH --output=\"{}\"", self.folder().join(log).display()),
            "#SBATCH --open-mode=append".to_string(),
        ];
        lines.extend(self.limits.partition.as_ref().map(|name| format!("#SBATCH --partition={name}")));
        lines
    }

    /// The script of the array.
    pub fn work_script(&self) -> String {
        let Limits { tasks, cpus, time, gpus, checkpoint_seconds, .. } = &self.limits;
        let mut lines = self.header(&format!("evenkeel-{}", self.name), "%A_%a.log");
        lines.push(format!("#SBATCH --array=1-{tasks}"));
        lines.push("#SBATCH --requeue".to_string());
        lines.push(format!("#SBATCH --signal=B:USR1@{BEFORE_LIMIT}"));
        lines.push("#SBATCH --nodes=1".to_string());
        lines.push("#SBATCH --ntasks=1".to_string());
        lines.push(cpus.map_or("#SBATCH --exclusive".into(), |n| format!("#SBATCH --cpus-per-task={n}")));
        lines.extend(time.iter().map(|time| format!("#SBATCH --time={time}")));
        lines.extend(gpus.iter().map(|n| format!("#SBATCH --gres=gpu:{n}")));
        let parallel = cpus.map_or(String::new(), |n| format!(" --jobs 1 --threads {n}"));
        let (program, dir) = (words(&self.program), quoted(&self.dir));
        lines.push(format!(
            r#"
# Before the time limit Slurm sends USR1: save, stop, and queue again. Preempted jobs and those of a failed node are queued by Slurm.
again=
trap 'again=yes; kill -TERM "$worker"' USR1
trap 'kill -TERM "$worker"' TERM INT
{program} work {dir}{parallel} --checkpoint-seconds {checkpoint_seconds} &
worker=$!
while kill -0 "$worker" 2>/dev/null; do wait "$worker"; code=$?; done
if [ -n "$again" ] && [ "$code" = 130 ]; then
    scontrol requeue "${{SLURM_ARRAY_JOB_ID}}_${{SLURM_ARRAY_TASK_ID}}" && sleep 60
fi
exit "$code""#
        ));
        lines.join("\n") + "\n"
    }

    /// The script that makes the report when the array has ended.
    pub fn report_script(&self) -> String {
        let mut lines = self.header(&format!("evenkeel-{}-report", self.name), "report.log");
        lines.push("#SBATCH --ntasks=1".to_string());
        let (program, dir, page) =
            (words(&self.program), quoted(&self.dir), quoted(&self.dir.join("report.html")));
        lines.push(format!("\n{program} report {dir} -o {page}"));
        lines.join("\n") + "\n"
    }

    /// Writes the scripts and submits them by `sbatch`, which gives the number of a job.
    pub fn submit(
        &self,
        sbatch: impl Fn(&Path, &[String]) -> anyhow::Result<String>,
    ) -> anyhow::Result<Queue> {
        let folder = self.folder();
        std::fs::create_dir_all(&folder)?;
        let (work, report) = (folder.join("work.sh"), folder.join("report.sh"));
        files::write(&work, self.work_script().as_bytes())?;
        files::write(&report, self.report_script().as_bytes())?;
        let work = sbatch(&work, &[])?;
        let report = sbatch(&report, &[format!("--dependency=afterany:{work}")])?;
        let queue = Queue { work, report };
        crate::store::write_json(&folder.join(JOBS_FILE), &queue)?;
        Ok(queue)
    }
}

const JOBS_FILE: &str = "jobs.json";

/// Numbers of the jobs of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    /// The array.
    pub work: String,
    /// The report.
    pub report: String,
}

impl Queue {
    /// The jobs that were submitted for a folder of runs, if any.
    pub fn read(dir: &Path) -> Option<Self> {
        let text = std::fs::read(dir.join("slurm").join(JOBS_FILE)).ok()?;
        let queue: Self = serde_json::from_slice(&text).ok()?;
        // They become arguments of squeue.
        [&queue.work, &queue.report].iter().all(|id| id.bytes().all(|b| b.is_ascii_digit())).then_some(queue)
    }

    /// The states of its jobs in the queue, one each; `None` where Slurm cannot be asked.
    fn states(&self) -> Option<Vec<String>> {
        let jobs = format!("{},{}", self.work, self.report);
        let output = Command::new("squeue")
            .args(["--noheader", "--array", "--format=%T", "--jobs", &jobs])
            .output()
            .ok()?;
        // Jobs that Slurm has forgotten are an error to it, and have ended.
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Some(text.lines().map(|line| line.trim().to_lowercase()).filter(|line| !line.is_empty()).collect())
    }

    /// Whether something of it is in the queue.
    pub fn is_busy(&self) -> bool {
        self.states().is_some_and(|states| !states.is_empty())
    }

    /// A line for `status`.
    pub fn describe(&self) -> String {
        let Some(states) = self.states() else {
            return format!("Slurm jobs {} and {}: no squeue here to ask", self.work, self.report);
        };
        if states.is_empty() {
            return format!("Slurm jobs {} and {} have ended", self.work, self.report);
        }
        let mut counts = std::collections::BTreeMap::new();
        for state in &states {
            *counts.entry(state.as_str()).or_insert(0_usize) += 1;
        }
        let counts: Vec<String> = counts.iter().map(|(state, count)| format!("{count} {state}")).collect();
        format!("Slurm jobs {} and {} (report): {}", self.work, self.report, counts.join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::RefCell;

    fn job(dir: &Path) -> Job {
        let limits = Limits {
            tasks: 3,
            cpus: Some(2),
            time: Some("01:00:00".into()),
            partition: None,
            gpus: None,
            checkpoint_seconds: 30.0,
        };
        Job {
            name: "split-mnist".into(),
            program: vec!["/opt/it's here/evenkeel".into()],
            dir: dir.into(),
            limits,
        }
    }

    #[test]
    fn a_script_is_a_script_and_keeps_strange_paths_whole() {
        let script = job(Path::new("/shared/my runs")).work_script();
        for line in [
            "#SBATCH --array=1-3",
            "#SBATCH --requeue",
            "#SBATCH --time=01:00:00",
            "#SBATCH --signal=B:USR1@90",
        ] {
            assert!(script.lines().any(|found| found == line), "{line} in\n{script}");
        }
        assert!(
            script.contains(r"'/opt/it'\''s here/evenkeel' work '/shared/my runs' --jobs 1 --threads 2"),
            "{script}"
        );
        let checked = Command::new("bash").args(["-n", "-c", &script]).status().unwrap();
        assert!(checked.success());
    }

    #[test]
    fn whole_nodes_take_all_cores() {
        let mut job = job(Path::new("/shared/runs"));
        job.limits.cpus = None;
        let script = job.work_script();
        assert!(script.contains("#SBATCH --exclusive") && !script.contains("--jobs"), "{script}");
    }

    #[test]
    fn the_report_waits_for_the_array() {
        let folder = tempfile::tempdir().unwrap();
        let asked = RefCell::new(Vec::new());
        let queue = job(folder.path())
            .submit(|script, options| {
                asked.borrow_mut().push((script.to_path_buf(), options.to_vec()));
                Ok(format!("{}", 70 + asked.borrow().len()))
            })
            .unwrap();
        assert_eq!(queue, Queue { work: "71".into(), report: "72".into() });
        assert_eq!(asked.borrow()[1].1, ["--dependency=afterany:71"]);
        assert!(asked.borrow().iter().all(|(script, _)| script.is_file()));
        assert_eq!(Queue::read(folder.path()), Some(queue));
    }

    #[test]
    fn numbers_of_jobs_are_numbers() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("slurm")).unwrap();
        let text = r#"{"work": "1; reboot", "report": "2"}"#;
        std::fs::write(folder.path().join("slurm").join(JOBS_FILE), text).unwrap();
        assert_eq!(Queue::read(folder.path()), None);
    }
}
