//! Reports, exports and the live server, as their users start them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Stdio};

use crate::common::{evenkeel, must_fail, must_succeed, run_dirs, small_run, unfinish};

fn report(dirs: &[&Path], folder: &Path) -> (String, String) {
    let page = folder.join("report.html");
    let output = must_succeed(evenkeel().arg("report").args(dirs).arg("-o").arg(&page));
    (std::fs::read_to_string(page).unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_report_has_tables_figures_and_the_command_that_made_it() {
    let (out, made) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    must_succeed(&mut small_run(out.path(), &["--seeds", "2", "--optimizers", "ngm-sgd,msgd"]));
    let (figures, tables) = (made.path().join("figures"), made.path().join("tables"));
    let page = made.path().join("report.html");
    must_succeed(
        evenkeel()
            .arg("report")
            .arg(out.path())
            .arg("-o")
            .arg(&page)
            .arg("--figures")
            .arg(&figures)
            .arg("--tables")
            .arg(&tables),
    );
    let page = std::fs::read_to_string(page).unwrap();
    assert!(
        page.contains("evenkeel run split-digits --optimizers ngm-sgd,msgd --seeds 2 --set batch=16"),
        "{page}"
    );
    for id in ["ranking", "mean-curve", "per-seed", "beyond", "compared", "runs"] {
        assert!(page.contains(&format!("<table id=\"split-digits-{id}\"")), "{id}");
        for format in ["md", "csv", "tex"] {
            assert!(tables.join(format!("split-digits-{id}.{format}")).is_file(), "{id}.{format}");
        }
    }
    for id in ["switches", "pareto", "curves", "gaps"] {
        assert!(page.contains(&format!("<figure id=\"split-digits-{id}\"")), "{id}");
        let png = std::fs::read(figures.join(format!("split-digits-{id}.png"))).unwrap();
        assert_eq!(&png[..4], b"\x89PNG");
        assert!(figures.join(format!("split-digits-{id}.svg")).is_file());
    }
    // The figure's numbers are the means of the curves.
    let csv = std::fs::read_to_string(figures.join("split-digits-curves.csv")).unwrap();
    let shown: f64 = csv
        .lines()
        .find_map(|line| line.strip_prefix("Task-1 accuracy,MSGD,60,"))
        .and_then(|rest| rest.split(',').next()?.parse().ok())
        .expect("the last iteration is there");
    let ends: Vec<f64> = run_dirs(out.path())
        .iter()
        .filter(|dir| dir.file_name().unwrap().to_string_lossy().starts_with("msgd"))
        .map(|dir| {
            let curve = std::fs::read_to_string(dir.join("curve.csv")).unwrap();
            curve.lines().last().unwrap().split(',').nth(2).unwrap().parse().unwrap()
        })
        .collect();
    assert_eq!(ends.len(), 2);
    assert!((shown - f64::midpoint(ends[0], ends[1])).abs() < 1e-9, "{shown} {ends:?}");
}

#[test]
fn what_cannot_be_read_is_named_and_left_out() {
    let (out, made) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    must_succeed(&mut small_run(out.path(), &["--seeds", "3", "--optimizers", "sgd"]));
    let dirs = run_dirs(out.path());
    unfinish(&dirs[0]);
    std::fs::write(dirs[0].join("curve.csv"), "iteration,task,task1_acc\n1,1,<b>\n").unwrap();
    std::fs::write(dirs[1].join("run.json"), "{").unwrap();
    std::fs::write(out.path().join("outcome.json"), r#"{"id":"x","headin":"X"}"#).unwrap();
    let written = made.path().join("report.html");
    let notes = must_fail(evenkeel().arg("report").arg(out.path()).arg("-o").arg(&written), 1);
    let page = std::fs::read_to_string(written).unwrap();
    assert!(page.contains("curve.csv:2: task1_acc is &quot;&lt;b&gt;&quot;, not a number"), "{notes}");
    assert!(page.contains("run.json: not a run description"));
    assert!(page.contains("outcome.json: not the outcome of an experiment (unknown field `headin`"));
    assert!(page.contains("1 of 2 runs are done"));
    assert_eq!(notes.matches("note: ").count(), 4, "{notes}");

    let parquet = made.path().join("curves.parquet");
    let message = must_fail(evenkeel().arg("export").arg(out.path()).arg("--parquet").arg(&parquet), 1);
    assert!(message.contains("1 curves written") && message.contains("left out: "), "{message}");
    assert!(parquet.is_file());
}

#[test]
fn folders_without_runs_and_folders_without_finished_runs_give_a_report_that_says_so() {
    let (out, made) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (page, notes) = report(&[out.path()], made.path());
    assert!(
        page.contains("hold no runs") && notes.contains("note: no runs and no outcomes below"),
        "{notes}"
    );

    must_succeed(&mut small_run(out.path(), &["--seeds", "1", "--optimizers", "sgd"]));
    unfinish(&run_dirs(out.path())[0]);
    let (page, notes) = report(&[out.path()], made.path());
    assert!(page.contains("0 of 1 runs are done") && page.contains("SGD seed 0 (stopped)"));
    assert!(notes.contains("not counted: split-digits sgd seed 0: unfinished"), "{notes}");

    let message = must_fail(evenkeel().arg("report").arg(out.path().join("nowhere")), 2);
    assert!(message.contains("nowhere: no such folder"), "{message}");
}

#[test]
fn the_outcome_of_an_experiment_is_a_section_and_its_text_stays_text() {
    let (out, made) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let outcome = r#"{"id":"a","heading":"<script>alert(1)</script>","paragraphs":["p"]}"#;
    std::fs::write(out.path().join("outcome.json"), outcome).unwrap();
    let (page, _) = report(&[out.path()], made.path());
    assert!(page.contains("<h2>&lt;script&gt;alert(1)&lt;/script&gt;</h2>"));
    assert_eq!(page.matches("<script").count(), 1);
}

#[test]
fn weights_need_a_run_that_kept_them() {
    let out = tempfile::tempdir().unwrap();
    let target = out.path().join("w.safetensors");
    must_succeed(&mut small_run(out.path(), &["--seeds", "1", "--optimizers", "sgd"]));
    let message = must_fail(evenkeel().arg("export").arg(out.path()).arg("--weights").arg(&target), 2);
    assert!(message.contains("holds no weights") && message.contains("--keep-weights"), "{message}");
    must_succeed(&mut small_run(out.path(), &["--seeds", "1..2", "--optimizers", "sgd", "--keep-weights"]));
    let dirs = run_dirs(out.path());
    let kept =
        dirs.iter().find(|dir| dir.join("weights.safetensors").is_file()).expect("one kept its weights");
    must_succeed(evenkeel().arg("export").arg(kept).arg("--weights").arg(&target));
    assert!(target.metadata().unwrap().len() > 4 * 784 * 24);
}

/// Ends with the test.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn ask(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn the_server_answers_its_own_host_and_reads_only() {
    let out = tempfile::tempdir().unwrap();
    let (_server, address) = serve(out.path());
    assert!(address.starts_with("127.0.0.1:"), "{address}");

    let get = |path: &str, host: &str| {
        ask(&address, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n"))
    };
    assert!(get("/", &address).starts_with("HTTP/1.1 200") && get("/", &address).contains("hold no runs"));
    for host in ["evil.example", "127.0.0.1", "127.0.0.1.evil.example:80", ""] {
        assert!(get("/", host).starts_with("HTTP/1.1 403"), "{host}");
    }
    for path in ["/../../../etc/passwd", "/etc/passwd", "/run.json", "/version/.."] {
        assert!(get(path, &address).starts_with("HTTP/1.1 404"), "{path}");
    }
    let post = ask(
        &address,
        &format!("POST / HTTP/1.1\r\nHost: {address}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"),
    );
    assert!(post.starts_with("HTTP/1.1 405"), "{post}");

    let before = get("/version", &address);
    must_succeed(&mut small_run(out.path(), &["--seeds", "1", "--optimizers", "sgd"]));
    std::thread::sleep(std::time::Duration::from_millis(700));
    let body = |answer: &str| answer.split("\r\n\r\n").nth(1).map(str::to_string);
    assert_ne!(body(&get("/version", &address)), body(&before));
    assert!(get("/", &address).contains("1 of 1 runs are done"));
}

/// Starts `evenkeel serve` on a free port.
fn serve(dir: &Path) -> (Server, String) {
    let mut command = evenkeel();
    command.arg("serve").arg(dir).args(["--port", "0"]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut server = Server(command.spawn().unwrap());
    let mut line = String::new();
    BufReader::new(server.0.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let address = line.trim().strip_prefix("http://").unwrap().trim_end_matches('/').to_string();
    (server, address)
}

#[test]
fn no_client_and_no_file_stops_the_server() {
    let out = tempfile::tempdir().unwrap();
    let (_server, address) = serve(out.path());
    let get = |address: &str| {
        ask(address, &format!("GET / HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n"))
    };
    let request = format!("GET / HTTP/1.1\r\nHost: {address}\r\n\r\n");

    // Clients that ask and never read, and clients that connect and never ask.
    let mut idle = Vec::new();
    for _ in 0..20 {
        let mut stream = TcpStream::connect(&address).unwrap();
        let _ = stream.write_all(request.repeat(200).as_bytes());
        idle.push(stream);
        idle.push(TcpStream::connect(&address).unwrap());
    }
    assert!(get(&address).starts_with("HTTP/1.1 200"));
    drop(idle);

    // A head without end is cut off, and a folded or doubled host is no host.
    let mut stream = TcpStream::connect(&address).unwrap();
    let endless = format!("GET / HTTP/1.1\r\nHost: {address}\r\nX: ") + &"x".repeat(1 << 20);
    let _ = stream.write_all(endless.as_bytes());
    let mut refused = String::new();
    let _ = stream.read_to_string(&mut refused);
    assert!(!refused.contains(" 200 "), "{refused}");
    for head in
        [format!("Host: evil.example\r\n {address}\r\n"), format!("Host: {address}\r\nHost: {address}\r\n")]
    {
        let answer = ask(&address, &format!("GET / HTTP/1.1\r\n{head}Connection: close\r\n\r\n"));
        assert!(answer.starts_with("HTTP/1.1 40"), "{answer}");
    }

    // Numbers that cannot be printed are printed as far as they can be.
    let table =
        r#"{"id":"t","caption":"","columns":["a"],"rows":[[{"kind":"number","value":1.5,"digits":70000}]]}"#;
    let outcome = format!(r#"{{"id":"x","heading":"X","tables":[{table}]}}"#);
    std::fs::write(out.path().join("outcome.json"), outcome).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    for _ in 0..6 {
        assert!(get(&address).contains("1.50000000000000000"));
    }
}
