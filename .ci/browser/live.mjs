// The live page beside a run that really goes on: its bar moves, the time left is told, and nothing is red.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, close, open, program, shot } from "./common.mjs";

const work = mkdtempSync(join(tmpdir(), "evenkeel-live-"));
const runs = join(work, "runs");
const run = spawn(program, ["run", "split-digits", "--iterations", "100000", "--eval-samples", "60", "--set", "hidden=[24,16]", "--set", "batch=16",
  "--seeds", "2", "--optimizers", "ngm-sgd,sgd", "--jobs", "1", "--out", runs], { stdio: "ignore" });
const ended = new Promise((resolve) => { run.once("exit", resolve); });
await new Promise((resolve) => { setTimeout(resolve, 4000); });
const server = spawn(program, ["serve", runs, "--port", "0", "--quiet"], { stdio: ["ignore", "pipe", "inherit"] });
const address = await new Promise((resolve, reject) => {
  server.stdout.once("data", (data) => resolve(String(data).trim()));
  server.once("exit", () => reject(new Error("the server ended")));
});

try {
  await check("a run that goes on has a bar that moves and a time left, and has not failed", async () => {
    const page = await open(address);
    await page.evaluate(() => { window.sameDocument = true; });
    const bar = page.locator(".part progress");
    await bar.waitFor({ timeout: 20_000 });
    const before = await bar.evaluate((e) => e.value);
    assert.ok(before > 0 && before < (await bar.evaluate((e) => e.max)));
    await page.waitForFunction((value) => document.querySelector(".part progress").value > value, before, { timeout: 20_000 });
    assert.match(await page.locator(".part").textContent(), /NGM-SGD seed 0.* of 500000.* left/);
    assert.match(await page.locator(".progress p").textContent(), /0 of 4 runs ended, 1 running, 3 waiting\./);
    assert.equal(await page.locator(".warnings").count(), 0);
    assert.equal(await page.evaluate(() => window.sameDocument), true);
    assert.deepEqual(page.faults, []);
    await shot(page, "running");
    await page.context().close();
  });
} finally {
  server.kill();
  run.kill("SIGINT");
  await ended;
}

rmSync(work, { recursive: true });
await close();
