// Checks that only a browser can do: see `run` beside this file.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, close, evenkeel, open, program, shot } from "./common.mjs";

const work = mkdtempSync(join(tmpdir(), "evenkeel-browser-"));
const runs = join(work, "runs");
const hostile = "<script>window.stolen = 1</script>";

// ---- a folder with everything in it: finished runs, an unfinished one, a corrupted one, an outcome with hostile names

evenkeel("run", "split-digits", "--iterations", "40", "--eval-samples", "60", "--set", "hidden=[24,16]", "--set", "batch=16",
  "--seeds", "3", "--optimizers", "ngm-sgd,msgd,sgd", "--out", runs);
const folders = readdirSync(runs).filter((name) => existsSync(join(runs, name, "run.json")));
const folder = (start) => join(runs, folders.find((name) => name.startsWith(start)));

const growing = folder("sgd-seed2");
const record = JSON.parse(readFileSync(join(growing, "run.json"), "utf8"));
// An unfinished run carries no checksums yet.
const { files: _files, sha256: _sha256, ...unfinished } = { ...record, status: "unfinished" };
writeFileSync(join(growing, "run.json"), JSON.stringify(unfinished));
const rows = readFileSync(join(growing, "curve.csv"), "utf8").trimEnd().split("\n");
writeFileSync(join(growing, "curve.csv"), rows.slice(0, 31).join("\n") + "\n");

const corrupted = join(folder("msgd-seed2"), "curve.csv");
const lines = readFileSync(corrupted, "utf8").split("\n");
lines[5] = lines[5].replace(/^5,1,[^,]*/, "5,1,not a number");
writeFileSync(corrupted, lines.join("\n"));

const numbers = { x: [0, 1, 2], y: [1, 0.25, 2] };
mkdirSync(join(work, "outcome"));
writeFileSync(join(work, "outcome", "outcome.json"), JSON.stringify({
  id: hostile, heading: hostile, paragraphs: [hostile], tables: [{
    id: "hostile", caption: hostile, columns: [hostile, "n"],
    rows: [[{ kind: "text", text: hostile }, { kind: "number", value: 10, digits: 0 }], [{ kind: "text", text: "b" }, { kind: "number", value: 9, digits: 0 }]],
  }],
  figures: [{ id: "hostile", title: hostile, caption: hostile, columns: 1, panels: [{
    title: hostile, x: { label: "x" }, y: { label: "y" }, plot: { kind: "lines", series: [{ name: hostile, ...numbers }, { name: "b", ...numbers }] },
  }] }],
}));

const report = join(work, "report.html");
// The page is written all the same, and the exit code tells of the corrupted run.
assert.throws(
  () => evenkeel("report", runs, join(work, "outcome"), "-o", report, "--figures", join(work, "figures"), "--tables", join(work, "tables")),
  { status: 1 },
);

const page = await open(`file://${report}`);
const figure = page.locator("figure#split-digits-curves");
const plot = figure.locator("svg.plot").first();
const tip = page.locator("#tip");

await check("opens from disk without errors and loads nothing else", async () => {
  await page.waitForTimeout(300);
  assert.deepEqual(page.faults, []);
  await shot(page, "desktop-light");
});

await check("names from files are text", async () => {
  assert.equal(await page.evaluate(() => window.stolen), undefined);
  assert.ok((await page.locator("h2").allTextContents()).includes(hostile));
});

await check("a corrupted curve and an unfinished run are named", async () => {
  const warnings = (await page.locator(".warnings li").allTextContents()).join("\n");
  assert.match(warnings, /not counted: split-digits msgd seed 2: .*curve\.csv: was changed after the run had ended; delete the folder/);
  // A run that is not finished has not failed.
  assert.doesNotMatch(warnings, /unfinished/);
  const notes = (await page.locator(".notes li").allTextContents()).join("\n");
  assert.match(notes, /not counted: split-digits sgd seed 2: unfinished/);
  assert.match(await page.locator(".progress").textContent(), /8 of 9 runs ended, 1 stopped/);
});

await check("a legend entry hides its curve, and shows it again", async () => {
  const button = figure.getByRole("button", { name: "MSGD", exact: true });
  const curve = plot.locator(`g.s[data-s="${await button.getAttribute("data-s")}"]`);
  assert.ok(await curve.isVisible());
  await button.click();
  assert.ok(!(await curve.isVisible()));
  assert.equal(await button.getAttribute("aria-pressed"), "false");
  await button.focus();
  await page.keyboard.press("Enter");
  assert.ok(await curve.isVisible());
});

await check("hover shows a value that is in the CSV", async () => {
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + box.height * 0.5);
  const text = await tip.textContent();
  const iteration = text.match(/^iteration (\d+)/)[1];
  const shown = Number(text.match(/NGM-SGD: ([\d.]+)/)[1]);
  const csv = readFileSync(join(work, "figures", "split-digits-curves.csv"), "utf8").split("\n");
  const row = csv.find((line) => line.startsWith(`Task-1 accuracy,NGM-SGD,${iteration},`));
  assert.equal(shown, Number(Number(row.split(",")[3]).toPrecision(6)), `${text}\n${row}`);
  await shot(page, "hover", { fullPage: false });
});

await check("a hidden curve has no value", async () => {
  await figure.getByRole("button", { name: "MSGD", exact: true }).click();
  await plot.scrollIntoViewIfNeeded();
  const box = await plot.boundingBox();
  await page.mouse.move(box.x + box.width * 0.5, box.y + box.height * 0.5);
  assert.doesNotMatch(await tip.textContent(), /MSGD:/);
  await figure.getByRole("button", { name: "MSGD", exact: true }).click();
});

await check("arrow keys show values", async () => {
  await plot.focus();
  await page.keyboard.press("Home");
  assert.match(await tip.textContent(), /^iteration 1\n/);
  await page.keyboard.press("ArrowRight");
  assert.match(await tip.textContent(), /^iteration 2\n/);
  await page.keyboard.press("Escape");
  assert.ok(!(await tip.isVisible()));
});

await check("tables sort by number, both ways", async () => {
  const table = page.locator("table#hostile");
  const values = () => table.locator("tbody td:nth-child(2)").allTextContents();
  await table.locator("th button").nth(1).click();
  assert.deepEqual(await values(), ["9", "10"]);
  await table.locator("th button").nth(1).click();
  assert.deepEqual(await values(), ["10", "9"]);
});

await check("light and dark", async () => {
  const background = (p) => p.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  const light = await background(page);
  await page.getByRole("button", { name: /light and dark/i }).click();
  assert.notEqual(await background(page), light);
  const dark = await open(`file://${report}`, { colorScheme: "dark" });
  assert.equal(await background(dark), await background(page));
  await shot(dark, "desktop-dark");
  await dark.context().close();
});

await check("fits a phone of 390 pixels", async () => {
  const phone = await open(`file://${report}`, { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 });
  assert.equal(await phone.evaluate(() => document.documentElement.scrollWidth), 390);
  const outside = await phone.evaluate(() => Array.from(document.querySelectorAll("main *"))
    .filter((element) => !element.closest(".scroll, pre, svg") && element.getBoundingClientRect().right > 391)
    .map((element) => element.outerHTML.slice(0, 120)));
  assert.deepEqual(outside, []);
  // The wide panel has given way to its narrow twin, whose letters are of a readable size.
  const size = await phone.evaluate(() => {
    const svg = Array.from(document.querySelectorAll("figure svg.plot")).find((e) => e.getBoundingClientRect().width > 0);
    return 12 * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  });
  assert.ok(size >= 11, `tick labels of ${size} px`);
  assert.deepEqual(phone.faults, []);
  await shot(phone, "phone");
  await phone.context().close();
});

// ---- the live page

const server = spawn(program, ["serve", runs, "--port", "0"], { stdio: ["ignore", "pipe", "inherit"] });
const address = await new Promise((resolve, reject) => {
  server.stdout.once("data", (data) => resolve(String(data).trim()));
  server.once("exit", () => reject(new Error("the server ended")));
});
const ask = (path, options = {}) => new Promise((resolve, reject) => {
  const request = http.request(new URL(address).origin, { path, ...options }, (response) => {
    let body = "";
    response.on("data", (data) => { body += data; });
    response.on("end", () => resolve({ status: response.statusCode, body }));
  });
  request.on("error", reject);
  request.end();
});

try {
  await check("the live page gets a new point without a reload", async () => {
    const live = await open(address);
    const last = () => live.evaluate(() => {
      const script = document.querySelector("figure#split-digits-curves svg.plot").nextElementSibling;
      const series = JSON.parse(script.textContent).series.find((s) => s.name.startsWith("SGD seed 2"));
      return series.x.at(-1);
    });
    await live.evaluate(() => { window.sameDocument = true; });
    await live.locator("figure#split-digits-curves").getByRole("button", { name: "MSGD", exact: true }).click();
    assert.equal(await last(), 30);
    appendFileSync(join(growing, "curve.csv"), rows[31] + "\n" + rows[32].slice(0, 6));
    await live.waitForFunction(() => {
      const script = document.querySelector("figure#split-digits-curves svg.plot").nextElementSibling;
      return JSON.parse(script.textContent).series.some((s) => s.name.startsWith("SGD seed 2") && s.x.at(-1) === 31);
    }, null, { timeout: 10_000 });
    assert.equal(await live.evaluate(() => window.sameDocument), true);
    const button = live.locator("figure#split-digits-curves").getByRole("button", { name: "MSGD", exact: true });
    assert.equal(await button.getAttribute("aria-pressed"), "false", "what was switched off stays off");
    assert.deepEqual(live.faults, []);
    await shot(live, "live");
    await live.context().close();
  });

  await check("foreign hosts, other methods and other paths are refused", async () => {
    assert.equal((await ask("/")).status, 200);
    assert.equal((await ask("/", { headers: { Host: "evil.example" } })).status, 403);
    assert.equal((await ask("/version", { headers: { Host: "evil.example:80" } })).status, 403);
    assert.equal((await ask("/", { method: "POST" })).status, 405);
    assert.equal((await ask("/", { method: "DELETE" })).status, 405);
    for (const path of ["/../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "//etc/passwd", "/run.json", "/x?../"]) {
      const answer = await ask(path);
      assert.equal(answer.status, 404, path);
      assert.doesNotMatch(answer.body, /root:/);
    }
  });
} finally {
  server.kill();
}

await check("an empty folder gives a page that says so", async () => {
  mkdirSync(join(work, "empty"));
  evenkeel("report", join(work, "empty"), "-o", join(work, "empty.html"));
  const empty = await open(`file://${join(work, "empty.html")}`);
  assert.match(await empty.locator("main").textContent(), /hold no runs/);
  assert.deepEqual(empty.faults, []);
});

rmSync(work, { recursive: true });
await close();
