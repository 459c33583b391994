"""The summary of the committed results in docs/results.md, from their claims.csv and nothing else.

    python3 .ci/results_summary.py            prints it
    python3 .ci/results_summary.py --write    puts it there
    python3 .ci/results_summary.py --check    fails if it says something else
"""

import csv
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- summary of results: .ci/results_summary.py -->\n", "<!-- end of summary -->\n"
VERDICTS = ["holds", "contradicted", "undecided", "not tested"]


def contradictions(claims):
    """What the seeds contradict, with the number; a claim carried over from another benchmark is ours."""
    for claim in claims:
        if claim["verdict"] == "contradicted":
            ours = "" if claim["of_paper"] == "true" else "ours: "
            number = ""
            if claim["mean"]:
                mean, low, high = (f"{float(claim[key]):+.3g}" for key in ("mean", "low", "high"))
                number = f" {mean} [{low}, {high}]"
            yield f"{ours}“{claim['claim']}”{number}"


def row(folder):
    claims = list(csv.DictReader((folder / "claims.csv").open()))
    claims = [claim for claim in claims if claim["verdict"] != "identity"]
    counts = [sum(claim["verdict"] == verdict for claim in claims) for verdict in VERDICTS]
    seeds = sorted({len(claim["seeds"].split()) for claim in claims if claim["seeds"]})
    seeds = "–" if not seeds else str(seeds[0]) if len(seeds) == 1 else f"{seeds[0]}–{seeds[-1]}"
    link = f"[{folder.name}](../results/{folder.name}/outcome.md)"
    cells = [link, seeds, len(claims), *counts, "; ".join(contradictions(claims)) or "–"]
    return "| " + " | ".join(map(str, cells)) + " |\n"


def summary():
    head = ["result", "seeds", "claims", "hold", "contradicted", "undecided", "not tested", "what our numbers contradict"]
    lines = ["| " + " | ".join(head) + " |\n", "|" + "---|" * len(head) + "\n"]
    folders = sorted(path.parent for path in (ROOT / "results").glob("*/claims.csv"))
    return "".join(lines + [row(folder) for folder in folders])


page = ROOT / "docs" / "results.md"
text = page.read_text()
before, rest = text.split(BEGIN)
_, after = rest.split(END)
made = before + BEGIN + summary() + END + after
if "--write" in sys.argv:
    page.write_text(made)
elif "--check" in sys.argv:
    assert made == text, "docs/results.md does not have the summary of results/: python3 .ci/results_summary.py --write"
    print("docs/results.md has the summary of the committed results")
else:
    print(summary(), end="")
