#!/usr/bin/env python3
"""Writes the corpora from which the fuzzers begin: small, whole files of every format. Needs numpy, pyarrow, safetensors and pillow.

    python3 fuzz/seeds.py
"""

import gzip
import io
import json
import struct
import tarfile
from pathlib import Path

import numpy
import pyarrow
import pyarrow.parquet
from PIL import Image
from safetensors.numpy import save

HERE = Path(__file__).parent
LOGS = HERE.parent / "crates/evenkeel-lab/tests/fixtures/logs"


def seed(crate, target, name, content):
    path = HERE / crate / "corpus" / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode())


def packed(content):
    return gzip.compress(content, mtime=0)


def curves():
    seed("parsers", "metrics_csv", "short.csv", "iteration,task,task1_acc\n1,1,98.5\n2,2,71.25\n")
    seed("parsers", "metrics_csv", "whole.csv", (
        "iteration,task,task1_acc,task1_loss,gain,entropy,train_loss,seen_acc,acc_2,acc_3\n"
        "1,1,90,0.3,1,0.1,0.5,90,,\n2,1,98,0.2,1.1,0.1,NaN,98,10,\n3,2,40,inf,2,0.9,3,55,60,\n4,2,80,1,1,0.5,1,70,90,0\n"
        "5,3,1e-320,1,1,0.5,1,70,90,0\n6,3,0,1,1,0.5,1,70,90,0\n"))
    seed("lab", "extra_csv", "two.csv", "iteration,task,quantity,value\n1,1,train_acc,0.5\n2,2,curvature,NaN\n")


def images():
    def idx(magic, sizes, content):
        return struct.pack(f">{1 + len(sizes)}I", magic, *sizes) + bytes(content)

    pictures, labels = idx(2051, [2, 2, 1], range(4)), idx(2049, [2], [0, 9])
    for name, content in [("images", pictures), ("labels", labels)]:
        seed("parsers", "idx", name, content)
        seed("parsers", "idx", f"{name}.gz", packed(content))
    seed("parsers", "idx", "both", struct.pack("<H", len(pictures)) + pictures + labels)

    def picture(format, mode, size=(2, 2), **options):
        out = io.BytesIO()
        Image.new(mode, size, 77 if mode in "LP" else None).save(out, format, **options)
        return out.getvalue()

    seed("parsers", "image_folder", "grey.png", picture("PNG", "L"))
    seed("parsers", "image_folder", "palette.png", picture("PNG", "P"))
    seed("parsers", "image_folder", "alpha.png", picture("PNG", "RGBA"))
    seed("parsers", "image_folder", "colour.jpg", picture("JPEG", "RGB", quality=10))
    seed("parsers", "image_folder", "progressive.jpg", picture("JPEG", "L", progressive=True, quality=10))
    seed("parsers", "image_folder", "lossless.webp", picture("WEBP", "RGB", lossless=True))
    seed("parsers", "image_folder", "lossy.webp", picture("WEBP", "RGBA"))
    seed("parsers", "cifar", "png", b"\0\0" + picture("PNG", "RGB", (1024, 2)))
    seed("parsers", "cifar", "ten", b"\2\0\3\1\0")
    seed("parsers", "cifar", "hundred", b"\1\0\3\1\2\4")
    seed("parsers", "cifar", "cut", b"\2\x1f\3\1")


def tables():
    numbers = numpy.array([[1, 2], [3, 4], [5, 6], [7, 8]], "<f4")
    labels = numpy.array([0, 1, 0, 1], "<i8")
    seed("parsers", "features_csv", "rows.csv", "label,task,split,a,b\n" + "".join(
        f"{'xy'[i % 2]},{i // 2},{split},{i},0.5\n" for i, split in enumerate(["train", "test"] * 4)))
    seed("parsers", "features_csv", "plain.csv", "label,a\n" + "".join(f"{i % 2},{i}.5\n" for i in range(10)))
    for kind in ["<f4", "<f8", "<f2", "|u1"]:
        out = io.BytesIO()
        numpy.save(out, numbers.astype(kind))
        seed("parsers", "features_npy", kind[1:], out.getvalue())
    for name, write in [("stored", numpy.savez), ("deflated", numpy.savez_compressed)]:
        for words in [labels, labels.astype("<u2"), numpy.array(["a", "b", "a", "b"]), numpy.array([b"a", b"b", b"a", b"b"])]:
            out = io.BytesIO()
            write(out, features=numbers, label=words, **({} if words is labels else {"task": labels}))
            seed("parsers", "features_npz", f"{name}-{words.dtype.kind}", out.getvalue())
    seed("parsers", "features_safetensors", "both", save({"features": numbers, "label": labels}))
    seed("parsers", "features_safetensors", "half", save({"x": numbers.astype("<f2"), "y": labels.astype("<u1"), "task": labels}))
    lists = pyarrow.table({"label": ["a", "b"] * 3, "x": [[1.0, 2.0]] * 6})
    plain = pyarrow.table({"label": [0, 1] * 3, "task": [0, 0, 0, 1, 1, 1], "a": [1.5] * 6, "b": pyarrow.array([1] * 6, "int8")})
    for name, table in [("lists", lists), ("plain", plain)]:
        for compression in ["none", "snappy"]:
            out = io.BytesIO()
            pyarrow.parquet.write_table(
                table.replace_schema_metadata(None), out, compression=compression, write_statistics=False, store_schema=False)
            seed("parsers", "features_parquet", f"{name}-{compression}", out.getvalue())
    rows = [("hello there", "greet", 1), ("pay, now", "pay", 2)] * 3
    seed("parsers", "text_csv", "rows.csv", "text,label,task\n" + "".join(f'"{t}",{l},{k}\n' for t, l, k in rows))
    seed("parsers", "text_jsonl", "rows.jsonl", "".join(
        json.dumps({"text": t, "label": l, "task": k, "split": s}) + "\n" for (t, l, k), s in zip(rows, ["train", "test"] * 3)))


def decoded():
    header = {"name": "x", "train": 2, "test": 1, "classes": 2, "coarse_classes": None, "tasks": None, "sha256": None}
    image = {"images": {"channels": 1, "height": 1, "width": 2, "mean": [0.5], "std": [0.25]}}
    seed("parsers", "decoded", "images", json.dumps({**header, "kind": image}) + "\n" + 6 * "p" + "\0\0\1\0\0\0")
    tasks = {**header, "kind": image, "tasks": 2, "coarse_classes": 2}
    seed("parsers", "decoded", "tasks", json.dumps(tasks) + "\n" + 6 * "p" + 3 * "\0\0\1\0\0\0")
    sparse = {"sparse": {"columns": 4, "rows": 3, "entries": 1}}
    content = struct.pack("<4QIf3I3H", 0, 1, 1, 1, 2, 1.0, 0, 1, 2, 0, 1, 0)
    seed("parsers", "decoded", "sparse", json.dumps({**header, "kind": sparse}).encode() + b"\n" + content)
    place = {"path": "/dev/zero", "offset": 0, "number": "F32", "columns": 1, "rows": 0}
    seed("parsers", "decoded", "numbers", json.dumps({**header, "kind": {"numbers": place}}) + "\n")


def outcome():
    cells = [
        {"kind": "empty"}, {"kind": "text", "text": "<b>"}, {"kind": "number", "value": 1.5, "digits": 2, "signed": True},
        {"kind": "estimate", "mean": 1, "pm": 0.5, "digits": 1}, {"kind": "p", "p": 0.001}, {"kind": "check", "yes": True},
        {"kind": "interval", "mean": 1, "low": 0, "high": 2, "digits": 1},
    ]
    table = {"id": "t", "caption": "c", "columns": ["a", "b"], "rows": [cells[:2], cells[2:4], cells[4:6], cells[6:]], "drawn": 1}
    axis = {"label": "x", "log": False, "range": None}
    lines = {"kind": "lines", "series": [{
        "name": "a", "x": [1, 2, 3], "y": [1, None, 3], "band": {"low": [0, 1, 2], "high": [2, 3, 4]},
        "dots": [{"x": 1, "y": 1, "arrow_to": [1, 2]}]}], "marks": [{"at": 2, "label": "m"}], "rules": [{"at": 1}],
        "shades": [{"from": 1, "to": 2}]}
    bars = {"kind": "bars", "groups": ["g", "h"], "series": [{"name": "a", "values": [1, 2], "errors": [1, None], "reference": [0, 1]}]}
    scatter = {"kind": "scatter", "series": [{"name": "a", "joined": True, "points": [
        {"x": 1, "y": 2, "x_error": 1, "y_error": 1, "label": "l"}, {"x": 2, "y": 0}]}], "rules": [{"at": 1}]}
    heatmap = {"kind": "heatmap", "x_names": ["a", "b"], "y_names": ["c"], "values": [[1, None]], "label": "l", "digits": 1, "groups": [1]}
    section = {"id": "s", "heading": "h", "verdict": "v", "cautions": ["c"], "ranking": table, "paragraphs": ["p"], "warnings": ["w"]}
    seed("parsers", "outcome", "table.json", json.dumps({**section, "tables": [table]}))
    parts = {"summary": "s", "parts": [{"name": "a", "done": 1, "total": 0, "note": ""}]}
    seed("parsers", "outcome", "progress.json", json.dumps({"id": "s", "heading": "h", "progress": parts, "notes": ["n"]}))
    for plot in [lines, bars, scatter, heatmap]:
        for log in [False, True]:
            panel = {"title": "p", "x": axis, "y": {**axis, "log": log}, "span": 1, "plot": plot}
            figure = {"id": "f", "title": "t", "caption": "", "columns": 2, "panels": [panel]}
            name = plot["kind"] + ("-log" if log else "")
            seed("parsers", "outcome", f"{name}.json", json.dumps({"id": "s", "heading": "h", "figures": [figure]}))


def records():
    """The records of an event file as the harnesses want them: a byte for the length in front of each."""
    log = next((LOGS / "pytorch-tensorboard").glob("*tfevents*")).read_bytes()
    out, at = b"", 0
    while at < len(log) and len(out) < 500:
        length = struct.unpack_from("<Q", log, at)[0]
        if length < 256:
            out += bytes([length]) + log[at + 12:at + 12 + length]
        at += length + 16
    return log[:300], out


def logs():
    log, framed = records()
    seed("parsers", "tensorboard", "file", log)
    seed("parsers", "tensorboard", "records", framed)
    for how in [2, 4, 6, 10]:
        seed("lab", "import_tensorboard", f"records-{how}", bytes([how]) + framed)
    wandb = "\n".join((LOGS / "wandb.csv").read_text().splitlines()[:8]) + "\n"
    text = "\n".join((LOGS / "avalanche-text.txt").read_text().splitlines()[:60]) + "\n"
    phase = ("-- >> Start of training phase << --\n\tTop1_Acc_Exp/eval_phase/test_stream/Task000/Exp000 = 0.5\n"
             "\tTop1_Acc_Exp/eval_phase/test_stream/Task000/Exp000 = 0.6\nEpoch 0 ended.\n"
             "\tTop1_Acc_Exp/eval_phase/test_stream/Task000/Exp000 = 0.7\n-- >> End of training phase << --\n")
    for how in [2, 10, 24, 64]:
        head = bytes([how])
        seed("lab", "import_wandb", f"chart-{how}", head + wandb.encode())
        seed("lab", "import_wandb", f"short-{how}", head + b"Step,a - acc,a - acc__MIN,a - acc__MAX\n0,50,50,50\n1,60,50,70\n")
        seed("lab", "import_avalanche_text", f"log-{how}", head + text.encode())
        seed("lab", "import_avalanche_text", f"phases-{how}", head + (phase + phase).encode())
        for name in ["eval_results.csv", "training_results.csv"]:
            rows = (LOGS / "avalanche-csv" / name).read_text().splitlines()[:6]
            seed("lab", "import_avalanche_csv", f"{name}-{how}", head + ("\n".join(rows) + "\n").encode())


def archives():
    def archive(names, format):
        out = io.BytesIO()
        with tarfile.open(fileobj=out, mode="w", format=format) as tar:
            for name in names:
                entry = tarfile.TarInfo(name)
                entry.size = 3
                tar.addfile(entry, io.BytesIO(b"abc"))
        # Without most of the zeros at its end.
        return out.getvalue()[:1024 * len(names) + 1024 + (1024 if any(len(name) > 100 for name in names) else 0)]

    seed("parsers", "archive", "file.gz", packed(b"hello"))
    seed("parsers", "archive", "plain.tar", archive(["package/a.bin"], tarfile.USTAR_FORMAT))
    seed("parsers", "archive", "gnu.tar.gz", packed(archive(["x" * 120 + "/b"], tarfile.GNU_FORMAT)))
    seed("parsers", "archive", "pax.tar.gz", packed(archive(["x" * 120 + "/a.bin", "b"], tarfile.PAX_FORMAT)))
    seed("parsers", "archive", "pax.tar", archive(["ü" * 60 + "/a.bin"], tarfile.PAX_FORMAT))


def experiments():
    seed("lab", "experiment", "short.toml", "benchmark = 'split-mnist'\nseeds = 2\n")
    seed("lab", "experiment", "variant.toml", (
        "benchmark = 'split-mnist'\nseeds = '3..5'\niterations = 50\noptimizers = ['msgd', 'tonic']\nbatch = 32\nhidden = [8, 4]\n"
        "[optimizer.tonic]\nbase = 'ngm-sgd'\neta = 0\n"))
    seed("lab", "experiment", "stream.toml", (
        "benchmark = 'split-digits'\nscenario = 'rotated'\ndegrees = [0, 45]\nreplay = 9\neval_samples = 10\ntask_order = [1, 2, 1]\n"
        "train_acc = true\n[curvature]\nevery = 3\nbatch = 6\n"))
    seed("lab", "experiment", "parts.toml", (
        "seeds = '0,3'\n[[part]]\nbenchmarks = ['split-mnist', 'rotated-mnist']\n[[part]]\nbenchmark = 'split-cifar10'\n"
        "model = 'small-vit'\noptimizers = ['adam']\ndrift = 3\ntask_iterations = [3, 4]\ncrop_padding = 4\n"))
    seed("lab", "assignment", "lines", (
        "batch=32\nlr=0.5\nngm-sgd.eta=0.3\nreplay=1000\nhidden=[8,4]\nmodel=small-vit\nseeds 2..7\noptimizers adam,sgd\n"))
    seed("lab", "assignment", "stream", "scenario=rotated\ndegrees=[0,45]\ncurvature.batch=6\ntask_order=[1,2]\nseeds 0,3\n")


def runs():
    nothing = {"bytes": 0, "sha256": "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"}
    header = {"spec": "abc", "iteration": 7, "curve": nothing, "extra": nothing, "seconds": 1.5, "made_by": "0.1.0 avx2",
              "commit": "", "weights_bytes": 3, "sha256": "0" * 64}
    seed("lab", "checkpoint", "header", json.dumps(header) + "\nabcde")
    seed("lab", "checkpoint", "whole", "evenkeel checkpoint 2\n" + json.dumps(header) + "\nabcde")
    seed("lab", "lease", "lease.json", json.dumps({"node": "n", "pid": 1, "token": "0123456789abcdef", "beat": 3}))
    settings = {
        "data": "digits", "stream": {"scenario": "split", "classes_per_task": 2}, "iterations": 30, "batch": 16,
        "model": {"kind": "mlp", "hidden": [24, 16]}, "eval_every": 1, "eval_samples": 60, "eval_all_tasks": False,
        "probes": {"train_acc": True}, "device": "flex"}
    rule = {"kind": "adam", "lr": 0.001, "beta1": 0.9, "beta2": 0.999, "eps": 1e-8, "weight_decay": 0.0}
    optimizer = {"name": "adam", "rule": rule, "reset": False}
    record = {
        "id": "bcb1372f0a7a", "spec": {"benchmark": "split-digits", "settings": settings, "optimizer": optimizer, "seed": 0},
        "version": "0.1.0", "machine": {"platform": "linux-x86_64", "cpu": "", "cores": 2, "kernels": "avx2"}, "seconds": 0.5}
    seed("lab", "run_json", "unfinished.json", json.dumps({**record, "status": "unfinished"}))
    ended = {"files": {"curve.csv": "0" * 64}, "sha256": "0" * 64}
    seed("lab", "run_json", "done.json", json.dumps({**record, **ended, "status": "done"}))
    seed("lab", "run_json", "diverged.json", json.dumps(
        {**record, **ended, "status": "diverged", "iteration": 3, "reason": "loss", "begun_by": [""]}))


def requests():
    host = "Host: 127.0.0.1:8080\r\n"
    for name, words in {
        "page": f"GET / HTTP/1.1\r\n{host}\r\n", "version": f"GET /version HTTP/1.1\r\nhost: localhost:8080\r\n\r\n",
        "head": f"HEAD / HTTP/1.0\r\n{host}Connection: keep-alive\r\n\r\n", "post": f"POST / HTTP/1.1\r\n{host}Content-Length: 3\r\n\r\nabc",
        "chunks": f"PUT /x HTTP/1.1\r\n{host}Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
        "elsewhere": "GET http://127.0.0.1:8080/../x?y#z HTTP/1.1\r\nHost: [::1]:8080\r\nHost: other\r\n\r\n",
        "continue": f"POST / HTTP/1.1\r\n{host}Expect: 100-continue\r\nContent-Length: 1\r\n\r\n",
        "upgrade": f"GET / HTTP/1.1\r\n{host}Connection: Upgrade\r\nUpgrade: h2c\r\n\r\nPRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    }.items():
        seed("lab", "http", name, words)


for part in [curves, images, tables, decoded, outcome, logs, archives, experiments, runs, requests]:
    part()
