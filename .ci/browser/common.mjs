// A browser, the program, and checks that go on after one has failed.
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const program = process.env.EVENKEEL;
export const evenkeel = (...args) => execFileSync(program, args, { stdio: ["ignore", "pipe", "pipe"], encoding: "utf8" });

export const browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
export const shot = async (page, name, options = {}) => {
  if (process.env.SHOTS) await page.screenshot({ path: join(process.env.SHOTS, `${name}.png`), fullPage: true, ...options });
};

export async function open(address, options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.faults = [];
  page.on("console", (message) => { if (["error", "warning"].includes(message.type())) page.faults.push(message.text()); });
  page.on("pageerror", (error) => page.faults.push(String(error)));
  page.on("request", (request) => { if (!request.url().startsWith(address) && !request.url().startsWith("blob:")) page.faults.push(`loads ${request.url()}`); });
  await page.goto(address);
  return page;
}

let failed = 0;
export async function check(name, what) {
  try {
    await what();
    console.log(`ok    ${name}`);
  } catch (error) {
    failed += 1;
    console.log(`FAIL  ${name}\n${error.stack}`);
  }
}

export async function close() {
  await browser.close();
  if (failed) {
    console.log(`${failed} checks failed`);
    process.exit(1);
  }
}
