// The answer at first glance: 8 variants × 5 seeds on a desk and on a phone, light and dark.
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { check, close, evenkeel, open, shot } from "./common.mjs";

const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const work = mkdtempSync(join(tmpdir(), "evenkeel-glance-"));
const names = "ngm-sgd,msgd,adam,sgd,tonic,instantaneous,entropy-lr,nesterov";
const report = join(work, "report.html");
if (process.env.RUNS) {
  evenkeel("report", process.env.RUNS, "-o", report);
} else {
  evenkeel("run", "split-digits", "--iterations", "40", "--eval-samples", "100", "--set", "hidden=[24,16]", "--set", "batch=16",
    "--seeds", "5", "--optimizers", names, "--out", join(work, "runs"));
  evenkeel("report", join(work, "runs"), "-o", report);
}
const address = `file://${report}`;
const desk = { viewport: { width: 1400, height: 900 } };
const phone = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true, deviceScaleFactor: 2 };

for (const [device, options] of [["desk", desk], ["phone", phone]]) {
  for (const colorScheme of ["light", "dark"]) {
    const page = await open(address, { ...options, colorScheme });
    const name = `${device}-${colorScheme}`;

    await check(`${name}: no error, no sideways scrolling, letters of 11 pixels`, async () => {
      await page.waitForTimeout(200);
      assert.deepEqual(page.faults, []);
      assert.equal(await page.evaluate(() => document.documentElement.scrollWidth), options.viewport.width);
      const small = await page.evaluate(() => Array.from(document.querySelectorAll("svg.plot text")).filter((text) => {
        const svg = text.closest("svg.plot");
        const box = svg.getBoundingClientRect();
        const size = Number(text.getAttribute("font-size")) * box.width / svg.viewBox.baseVal.width;
        return box.width > 0 && size < 11;
      }).map((text) => text.outerHTML));
      assert.deepEqual(small, []);
      await shot(page, `glance-${name}`, { fullPage: false });
      await shot(page, `whole-${name}`);
    });

    await check(`${name}: axe-core finds no serious violation`, async () => {
      await page.evaluate(() => { for (const fold of document.querySelectorAll("details")) fold.open = true; });
      await page.evaluate(axe);
      const { violations } = await page.evaluate(() => window.axe.run(document, { resultTypes: ["violations"] }));
      const serious = violations.filter((one) => ["serious", "critical"].includes(one.impact));
      assert.deepEqual(serious.map((one) => [one.id, one.nodes.length, one.nodes[0].html.slice(0, 160), one.nodes[0].failureSummary]), []);
    });

    if (device === "desk") {
      await check(`${name}: verdict, ranking and first figure are in the first screen`, async () => {
        await page.evaluate(() => scrollTo(0, 0));
        const bottom = (selector) => page.locator(selector).first().evaluate((e) => e.getBoundingClientRect().bottom);
        assert.match(await page.locator(".verdict").first().textContent(), /has the smallest stability gap/);
        const table = "table[id$=-ranking]";
        assert.equal(await page.locator(`${table} tbody tr`).count(), 8);
        assert.ok(await page.locator(table).evaluate((e) => e.parentElement.scrollWidth <= e.parentElement.clientWidth), "all columns are seen");
        for (const selector of [".verdict", table, ".leads figure svg.plot", ".leads figure:last-child svg.plot"]) {
          assert.ok(await bottom(selector) <= 900, `${selector} ends at ${await bottom(selector)}`);
        }
      });
    } else {
      await check(`${name}: the first column stays`, async () => {
        const place = await page.locator(".scroll").first().evaluate((scroll) => {
          scroll.scrollLeft = 250;
          const cell = scroll.querySelector("tbody th");
          return { scrolled: scroll.scrollLeft, left: cell.getBoundingClientRect().left - scroll.getBoundingClientRect().left };
        });
        assert.ok(place.scrolled > 100 && Math.abs(place.left) < 1, JSON.stringify(place));
      });
    }
    await page.context().close();
  }
}

const page = await open(address, { ...desk, acceptDownloads: true });
const figure = page.locator("figure[id$=-switches]");
const tip = page.locator("#tip");

await check("it is small and opens in less than a second", async () => {
  assert.ok(statSync(report).size < 3e6, `${statSync(report).size} bytes`);
  const time = await page.evaluate(() => performance.getEntriesByType("navigation")[0].loadEventEnd);
  assert.ok(time < 1000, `${time} ms`);
  console.log(`      ${(statSync(report).size / 1e6).toFixed(2)} MB, ${time.toFixed(0)} ms`);
});

await check("words explain themselves under the pointer, in focus and when tapped", async () => {
  const word = page.locator(".verdict .term").first();
  await word.hover();
  assert.match(await tip.textContent(), /accuracy on the old ones drops/);
  await page.mouse.move(700, 30);
  await page.locator("table[id$=-ranking] thead button", { hasText: "all seen" }).focus();
  assert.match(await tip.textContent(), /all tasks at the end of training/);
  await page.keyboard.press("Escape");
  const touch = await open(address, phone);
  await touch.locator(".verdict .term").first().tap();
  assert.match(await touch.locator("#tip").textContent(), /accuracy on the old ones drops/);
  await touch.context().close();
});

await check("a curve that is hidden is hidden everywhere, and the address says so", async () => {
  await figure.getByRole("button", { name: "Adam", exact: true }).click();
  const shared = page.url();
  assert.match(shared, /off=Adam/);
  const other = await open(shared, desk);
  const visible = await other.evaluate(() => Array.from(document.querySelectorAll("figure")).map((figure) => {
    const index = JSON.parse(figure.dataset.series).indexOf("Adam");
    return Array.from(figure.querySelectorAll(`g.s[data-s="${index}"]`)).some((group) => group.getBoundingClientRect().width > 0);
  }));
  assert.deepEqual(visible.filter(Boolean), []);
  await other.context().close();
  await figure.getByRole("button", { name: "Adam", exact: true }).click();
  assert.doesNotMatch(page.url(), /off=/);
});

await check("links lead to sections, into folds, and keep what is hidden", async () => {
  await page.locator("nav a", { hasText: "Details" }).first().click();
  assert.ok(await page.locator("details[id$=-details]").first().evaluate((fold) => fold.open));
  assert.match(page.url(), /#split-\w+-details$/);
});

await check("the filter keeps what is asked for, in tables and figures", async () => {
  await page.locator("#filter").fill("gain");
  const rows = page.locator("table[id$=-ranking] tbody tr:visible");
  assert.equal(await rows.count(), 2);
  assert.equal(await figure.locator(".legend button[aria-pressed=true]").count(), 2);
  await page.locator("#filter").fill("");
  assert.equal(await rows.count(), 8);
});

await check("switches share one scale, and zoom gives each its own", async () => {
  const ticks = () => figure.evaluate((e) => Array.from(e.querySelectorAll("svg.plot")).filter((svg) => svg.getBoundingClientRect().width > 0)
    .map((svg) => Array.from(svg.querySelectorAll("text[text-anchor=end]"), (text) => text.textContent).join(" ")));
  assert.equal(new Set(await ticks()).size, 1);
  await figure.getByRole("button", { name: /Zoom/ }).click();
  const shown = () => figure.evaluate((e) => Array.from(e.querySelectorAll(".panel")).filter((panel) => panel.getClientRects().length > 0)
    .map((panel) => panel.classList.contains("own")));
  assert.deepEqual(new Set(await shown()), new Set([true]));
  await figure.getByRole("button", { name: /Zoom/ }).click();
  assert.deepEqual(new Set(await shown()), new Set([false]));
});

await check("figures can be downloaded as SVG, PNG and CSV", async () => {
  for (const [format, begin] of [["SVG", "<svg"], ["PNG", "\x89PNG"], ["CSV", "panel,series,x,y,low,high\nTask 1 → 2,"]]) {
    const [file] = await Promise.all([
      page.waitForEvent("download"),
      figure.getByRole("button", { name: new RegExp(`as ${format}$`) }).click(),
    ]);
    const content = readFileSync(await file.path(), format === "PNG" ? "latin1" : "utf8");
    assert.ok(content.startsWith(begin), content.slice(0, 60));
    assert.doesNotMatch(content, /var\(--/);
    if (process.env.SHOTS) await file.saveAs(join(process.env.SHOTS, `download.${format.toLowerCase()}`));
  }
  assert.deepEqual(page.faults, []);
});

await check("the keyboard reaches everything", async () => {
  const fresh = await open(address, desk);
  const wanted = ".term, a[href], button, input, summary, svg.plot, .scroll, pre";
  await fresh.evaluate((selector) => {
    for (const fold of document.querySelectorAll("details")) fold.open = true;
    window.reached = new Set();
    window.wanted = () => Array.from(document.querySelectorAll(selector)).filter((e) => e.getClientRects().length > 0);
  }, wanted);
  const count = await fresh.evaluate(() => window.wanted().length);
  for (let i = 0; i < count + 5; i += 1) {
    await fresh.keyboard.press("Tab");
    await fresh.evaluate(() => window.reached.add(document.activeElement));
  }
  const missed = await fresh.evaluate(() => window.wanted().filter((e) => !window.reached.has(e)).map((e) => e.outerHTML.slice(0, 120)));
  assert.deepEqual(missed, []);
  await fresh.context().close();
});

await check("on paper everything is unfolded and light", async () => {
  const paper = await open(address, { ...desk, colorScheme: "dark" });
  const pdf = await paper.pdf({ format: "A4", printBackground: true });
  assert.ok(await paper.evaluate(() => Array.from(document.querySelectorAll("details")).every((fold) => fold.open)));
  await paper.emulateMedia({ media: "print" });
  const background = await paper.evaluate(() => getComputedStyle(document.documentElement).backgroundColor);
  assert.deepEqual([background, pdf.subarray(0, 5).toString()], ["rgb(255, 255, 255)", "%PDF-"]);
  await paper.context().close();
});

rmSync(work, { recursive: true });
await close();
