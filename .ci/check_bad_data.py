"""Bad input in every format of one's own data is refused: `check_bad_data.py EVENKEEL`.

Each case must end with exit code 2 and one line that names the file, the row (where one is at fault) and what to do. Needs numpy, pyarrow
and safetensors.
"""
import json
import os
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from safetensors.numpy import save_file

EVENKEEL = str(Path(sys.argv[1]).resolve())
ROWS, COLUMNS, WIDE = 40, 4, 10**6
BAD_ROW = 5  # as people count, from 1

x = np.arange(ROWS * COLUMNS, dtype=np.float32).reshape(ROWS, COLUMNS) % 7
label = np.arange(ROWS) % 4


# ---- what is wrong, as (features, labels)

def with_nan():
    bad = x.copy()
    bad[BAD_ROW - 1, 1] = np.nan
    return bad, label


def changed(row, value):
    bad = label.copy()
    bad[row - 1] = value
    return bad


def gap():
    """No example of class 1."""
    return np.where(label == 1, 0, label)


# ---- how each format is written

def write_npy(path, features, labels):
    np.save(path, features)
    path.with_suffix(".csv").write_text("label\n" + "".join(f"{value}\n" for value in labels))


def write_npz(path, features, labels):
    np.savez(path, features=features, label=labels)


def write_safetensors(path, features, labels):
    save_file({"features": np.ascontiguousarray(features), "label": np.asarray(labels)}, path)


def write_parquet(path, features, labels):
    columns = {f"f{i}": pa.array(features[:, i]) for i in range(features.shape[1])}
    pq.write_table(pa.table({"label": pa.array(labels), **columns}), path)


def write_csv(path, features, labels):
    lines = ["label," + ",".join(f"f{i}" for i in range(features.shape[1]))]
    lines += [",".join([str(y), *(str(v) for v in row)]) for row, y in zip(features, labels)]
    path.write_text("\n".join(lines) + "\n")


ARRAYS = {"x.npy": write_npy, "x.npz": write_npz, "x.safetensors": write_safetensors, "x.parquet": write_parquet, "x.csv": write_csv}


def cut(path, keep=0.6):
    path.write_bytes(path.read_bytes()[: int(path.stat().st_size * keep)])


def array_cases(name, folder):
    """What is wrong, and what the message must name: each case that this format can express (a matrix has no ragged rows)."""
    write, path = ARRAYS[name], folder / name
    beside = "x.csv" if name == "x.npy" else name

    def case(what, features, labels, *named):
        write(path, features, labels)
        return what, [name if not named or named[0] is None else named[0], *named[1:]]

    yield case("NaN", *with_nan(), None, f"row {BAD_ROW}", "NaN")
    yield case("negative label", x, changed(7, -1), beside, "row 7")
    yield case("label out of range", x, changed(7, 100_000), beside)
    yield case("empty class", x, gap(), beside, "1")
    write(path, x, label)
    cut(path)
    yield "truncated file", [name]
    if name in ("x.npy", "x.npz", "x.safetensors"):
        write(path, x.astype(np.int64 if name == "x.safetensors" else np.complex64), label)
        yield "wrong dtype", [name]
        write(path, np.zeros((8, WIDE), dtype=np.uint8), label[:8])
        yield "10⁶ columns", [name, "1000000 columns"]
        write(path, x, label[:-1])
        yield "missing label", [name]
    if name == "x.csv":
        path.write_text("label," + ",".join(f"f{i}" for i in range(WIDE)) + "\n0" + ",1" * WIDE + "\n")
        yield "10⁶ columns", [name, "columns"]
        write(path, x, label)
        lines = path.read_text().splitlines()
        lines[BAD_ROW] = lines[BAD_ROW] + ",3"
        path.write_text("\n".join(lines))
        yield "ragged rows", [name, f"row {BAD_ROW}"]
        lines = [line if i != BAD_ROW else "," + line.split(",", 1)[1] for i, line in enumerate(lines)]
        lines[BAD_ROW] = lines[BAD_ROW].rsplit(",", 1)[0]
        path.write_text("\n".join(lines))
        yield "missing label", [name, f"row {BAD_ROW}"]
        write(path, x.astype(object), label)
        path.write_text(path.read_text().replace("\n0,0.0", "\n0,many", 1))
        yield "wrong dtype", [name, "row 1", "many"]
    if name == "x.parquet":
        wide = pa.FixedSizeListArray.from_arrays(pa.array(np.zeros(8 * WIDE, dtype=np.float32)), WIDE)
        pq.write_table(pa.table({"label": label[:8], "features": wide}), path)
        yield "10⁶ columns", [name, "columns"]
        missing = pa.array([None if i == BAD_ROW - 1 else int(y) for i, y in enumerate(label)])
        pq.write_table(pa.table({"label": missing, "f0": x[:, 0]}), path)
        yield "missing label", [name, f"row {BAD_ROW}"]
        ragged = pa.array([[1.0] * (COLUMNS + (i == BAD_ROW - 1)) for i in range(ROWS)])
        pq.write_table(pa.table({"label": label, "features": ragged}), path)
        yield "ragged rows", [name, f"row {BAD_ROW}"]
        pq.write_table(pa.table({"label": label, "f0": [str(i) for i in range(ROWS)]}), path)
        yield "wrong dtype", [name]
        pq.write_table(pa.table({"f0": x[:, 0]}), path)
        yield "no labels", [name, "label"]


def text_cases(name, folder):
    """Other columns of a CSV are passed over, however many there are."""
    path = folder / name
    rows = [{"text": f"sentence number {i}", "label": str(y)} for i, y in enumerate(label)]

    def write(rows):
        if name.endswith(".jsonl"):
            path.write_text("".join(json.dumps(row) + "\n" for row in rows))
        else:
            path.write_text("text,label\n" + "".join(f"{r.get('text', '')},{r.get('label', '')}\n" for r in rows))

    def with_row(row, change):
        return rows[: row - 1] + [change(dict(rows[row - 1]))] + rows[row:]

    write(with_row(BAD_ROW, lambda r: {"text": r["text"]}))
    yield "missing label", [name, f"row {BAD_ROW}", "label"]
    write(with_row(BAD_ROW, lambda r: {**r, "label": "-1"}))
    yield "negative label", [name, f"row {BAD_ROW}"]
    write([r for r in rows if r["label"] != "1"])
    yield "empty class", [name, "1"]
    write([])
    yield "no rows", [name]
    if name.endswith(".jsonl"):
        write(rows)
        path.write_text(path.read_text()[:-20])
        yield "truncated file", [name, f"row {ROWS}"]
        write(with_row(BAD_ROW, lambda r: {**r, "text": ["a"]}))
        yield "wrong dtype", [name, f"row {BAD_ROW}", "text"]
        write(with_row(BAD_ROW, lambda r: {**r, "label": float("nan")}))
        yield "NaN", [name, f"row {BAD_ROW}"]
    else:
        write(rows)
        path.write_text(path.read_text().replace("number 4,", "number 4,0,0,", 1))
        yield "ragged rows", [name, f"row {BAD_ROW}"]
        write(rows)
        path.write_text(path.read_text().rsplit(",", 1)[0])
        yield "truncated file", [name, f"row {ROWS}"]
        path.write_bytes("text,label\nna\u00efve,a\n".encode("latin-1"))
        yield "not UTF-8", [name]


def png(path, width, height):
    path.parent.mkdir(parents=True, exist_ok=True)
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    pixels = zlib.compress((b"\0" + bytes(width)) * height)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b""))


def folder_cases(name, folder):
    """Pixels are never NaN, classes are the folders themselves, and an image may have a million pixels."""
    root = folder / name

    def fresh():
        for old in sorted(root.rglob("*"), reverse=True):
            old.rmdir() if old.is_dir() else old.unlink()
        for kind in "abcd":
            for i in range(4):
                png(root / kind / f"{i}.png", 8, 8)

    bad = root / "b" / "2.png"
    fresh()
    cut(bad)
    yield "truncated file", ["2.png"]
    fresh()
    bad.write_text("no image")
    yield "wrong dtype", ["2.png"]
    fresh()
    png(bad, 9, 8)
    yield "ragged rows", ["2.png", "resize"]
    fresh()
    for old in (root / "c").iterdir():
        old.unlink()
    yield "empty class", ["c"]
    fresh()
    for kind in "abcd":
        for old in (root / kind).iterdir():
            old.rename(root / f"{kind}{old.name}")
        (root / kind).rmdir()
    yield "missing label", [name]


def refused(data, extra):
    arguments = ["run", "split-digits", "--seeds", "1", "--optimizers", "sgd", "--iterations", "2"]
    settings = [f"data={data}", "classes_per_task=1", "hidden=[4]", "batch=4", *extra]
    arguments += [word for setting in settings for word in ("--set", setting)]
    with tempfile.TemporaryDirectory() as out:
        return subprocess.run([EVENKEEL, *arguments, "--out", out], capture_output=True, text=True)


def main():
    formats = [("features", name, array_cases) for name in ARRAYS]
    formats += [("text", name, text_cases) for name in ("x.csv", "x.jsonl")] + [("folder", "photos", folder_cases)]
    done, wrong = 0, []
    for prefix, name, cases in formats:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["EVENKEEL_DATA"] = str(Path(folder) / "cache")
            for what, named in cases(name, Path(folder)):
                ran = refused(f"{prefix}:{Path(folder) / name}", ["dimension=64"] if prefix == "text" else [])
                errors = [line for line in ran.stderr.splitlines() if line.startswith("error: ")]
                fine = ran.returncode == 2 and len(errors) == 1 and all(part in errors[0] for part in named)
                if not fine:
                    wrong.append(f"{prefix}:{name}, {what}: exit code {ran.returncode}, {named}\n  {ran.stderr.strip()[-300:].replace(folder, '')}")
                elif "--show" in sys.argv:
                    print(f"{prefix}:{name}, {what}\n  {errors[0].replace(folder, '')}")
                done += 1
    assert not wrong, "\n".join(wrong)
    print(f"{done} kinds of bad input are refused with file, row and what to do")


main()
