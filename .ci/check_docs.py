"""Runs every `evenkeel …` line in the `sh` blocks of README.md and docs/, on small settings, and follows every link.

    python3 .ci/check_docs.py PATH/TO/evenkeel

A line whose comment begins with "long" is not run, only parsed by the program's own --help. Pages of data that users bring
(your-data.md) have a check of their own, which makes the files that they need.
"""

import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
program = Path(sys.argv[1]).resolve()
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
ELSEWHERE = {"your-data.md"}
SMALL = ["--iterations", "4", "--eval-samples", "40", "--set", "batch=16", "--set", "hidden=[24,16]"]
OF_MNIST = {"split-mnist", "rotated-mnist", "permuted-mnist"}


def commands(page):
    """(line number, command, is it long) of every evenkeel line."""
    inside = False
    for number, line in enumerate(page.read_text().splitlines(), start=1):
        if line.startswith("```"):
            inside = line.strip() == "```sh"
        elif inside and re.match(r"evenkeel\b", line):
            command, _, comment = line.partition(" #")
            yield number, command.strip(), comment.strip().startswith("long")


def smaller(words):
    """The same command in seconds: few iterations, few images, digits that need no download."""
    if words[1] in ("run", "tune"):
        kept, skip = [], False
        for word in words:
            if skip or word in ("--iterations", "--eval-samples"):
                skip = not skip
                continue
            kept.append(word)
        if "--seeds" in kept:
            at = kept.index("--seeds") + 1
            kept[at] = str(min(int(kept[at]), 3)) if kept[at].isdigit() else kept[at]
        if kept[2] in OF_MNIST:
            kept += ["--set", "data=digits"]
        listed = any(word.startswith("task_iterations") for word in kept)
        return kept + (SMALL[2:] if listed else SMALL)
    if words[1] == "reproduce" and len(words) > 2 and not words[2].startswith("-") and "--experiment" not in words and words[2] != "two-timescale":
        return words + ["--quick", "--set", "data=digits", "--set", "eval_samples=30", "--set", "batch=16"]
    return words


def files_of_the_page(page, folder):
    """Experiment files that the page shows, named in their first line; curves of three seeds."""
    for block in re.findall(r"```toml\n(.*?)```", page.read_text(), re.S):
        named = re.match(r"# (\S+\.toml)\n", block)
        if named:
            (folder / named[1]).write_text(block)
    for name, depth in (("mine", 20), ("other", 50)):
        for seed in range(3):
            rows = ["iteration,task,task1_acc"]
            for task in range(1, 5):
                rows += [f"{20 * (task - 1) + i},{task},{95 - (depth + seed if i == 1 and task > 1 else 0)}" for i in range(1, 21)]
            (folder / f"{name}-{seed}.csv").write_text("\n".join(rows) + "\n")


def run(page, number, command, is_long, folder, environment):
    where = f"{page.relative_to(ROOT)}:{number}"
    shell = re.split(r"\s(?=[|>&])", command, maxsplit=1)
    words = shlex.split(shell[0])
    if is_long:
        # Its options must exist: clap looks at all of them before it shows the help.
        command = words[1:3] if words[1] == "submit" else words[1:2]
        done = subprocess.run([program, *command, "--help"], capture_output=True, text=True)
        unknown = [word for word in words if word.startswith("--") and word.split("=")[0] not in done.stdout]
        assert done.returncode == 0 and not unknown, (where, unknown)
        return "long, its options exist"
    if words[1] == "serve":
        process = subprocess.Popen([program, *words[1:]], cwd=folder, env=environment, stdout=subprocess.PIPE, text=True)
        address = process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        process.wait()
        assert address.startswith("http://127.0.0.1:"), where
        return "ok"
    small = [str(program) if word == "evenkeel" else word for word in smaller(words)]
    text = " ".join(word if "*" in word and "=" not in word else shlex.quote(word) for word in small)
    text += " " + shell[1] if len(shell) > 1 else ""
    done = subprocess.run(["bash", "-c", text], cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, f"{where}: {text}\n{done.stdout[-800:]}\n{done.stderr[-2000:]}"
    return "ok"


def check_links(page):
    text = re.sub(r"```.*?```", "", page.read_text(), flags=re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith(("http://", "https://")):
            continue
        file, _, anchor = target.partition("#")
        path = (page.parent / file) if file else page
        assert path.exists(), f"{page.relative_to(ROOT)}: no such file: {target}"
        if anchor and path.suffix == ".md":
            heads = re.findall(r"^#+ (.*)$", path.read_text(), re.M)
            slugs = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
            assert anchor in slugs, f"{page.relative_to(ROOT)}: no such heading: {target}"


for page in PAGES:
    check_links(page)
summary = (ROOT / "docs" / "SUMMARY.md").read_text()
for page in (ROOT / "docs").glob("*.md"):
    assert page.name == "SUMMARY.md" or f"({page.name})" in summary, f"{page.name} is not in SUMMARY.md"
print(f"links of {len(PAGES)} pages lead somewhere, and the book has every page")

count = long = 0
for page in PAGES:
    if page.name in ELSEWHERE:
        continue
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        environment = os.environ | {"EVENKEEL_DATA": str(folder / "data")}
        files_of_the_page(page, folder)
        for number, command, is_long in commands(page):
            result = run(page, number, command, is_long, folder, environment)
            count, long = count + 1, long + is_long
            print(f"{page.name}:{number}: {result}: {command}")
print(f"{count} commands of the documentation: {count - long} run, {long} long")
