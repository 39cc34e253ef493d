// Measures the pages in Chromium over a simulated fleet, beside their targets: `make bench-ui`. It prints a table; with --json
// FILE it also writes what it found, and with --targets it fails where one is missed. What is timed is timed in the page, from
// what its user does to the frame that shows the result.
import { spawn } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { fileURLToPath } from "node:url";
import { chromium } from "@playwright/test";
import { args, executablePath } from "./chromium.mjs";

const { values: o } = parseArgs({
  options: {
    agents: { type: "string", default: "200" },
    applications: { type: "string", default: "250" },
    churn: { type: "string", default: "20" },
    big: { type: "string", default: "3000" },
    rounds: { type: "string", default: "10" },
    targets: { type: "boolean", default: false },
    json: { type: "string" },
  },
});
const root = fileURLToPath(new URL("../../", import.meta.url));
const rounds = Number(o.rounds);
const figures = [];

function figure(name, unit, value, limit, note = "") {
  figures.push({ name, unit, value: Math.round(value * 10) / 10, limit, note });
}

const sorted = (list) => [...list].sort((a, b) => a - b);
const quantile = (list, q) => sorted(list)[Math.min(list.length - 1, Math.floor(list.length * q))];

// startFleet starts simulated agents and a real server, and says where and how to sign in.
function startFleet() {
  const args = ["--hold", "--agents", o.agents, "--applications", o.applications, "--churn", o.churn, "--big", o.big];
  const child = spawn(`${root}bin/bench-fleet`, args, { stdio: ["ignore", "pipe", "inherit"] });
  const ready = new Promise((resolve, reject) => {
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (piece) => {
      text += piece;
      const found = /^(https?:\S+)[\s\S]*?sign in as (\S+) with (.+)$/m.exec(text);
      if (found) {
        resolve({ url: found[1], username: found[2], password: found[3].trim() });
      }
    });
    child.on("exit", (status) => reject(new Error(`bench-fleet ended with ${status}`)));
  });
  return { child, ready };
}

// once resolves with performance.now() of the first frame after found() is true, in the page.
const once = `(found) => new Promise((resolve) => {
  const look = () => found() ? requestAnimationFrame(() => resolve(performance.now())) : requestAnimationFrame(look);
  look();
})`;

// spent says how long the main thread of the page worked for what is done, in ms: unlike time on the clock, what else the
// machine does counts little in it.
async function spent(page, what) {
  const session = await page.context().newCDPSession(page);
  await session.send("Performance.enable", { timeDomain: "threadTicks" });
  const now = async () =>
    (await session.send("Performance.getMetrics")).metrics.find((m) => m.name === "TaskDuration").value * 1000;
  const before = await now();
  const result = await what();
  const work = (await now()) - before;
  await session.detach();
  return { result, work };
}

const table = '[data-testid="applications-table"]';
const rows = `${table} [role="row"][data-index]`;

async function firstPaint(open) {
  const times = [];
  const works = [];
  for (let i = 0; i < rounds; i++) {
    const { page, context } = await open();
    const { result, work } = await spent(page, async () => {
      await page.goto("/applications", { waitUntil: "commit" });
      return page.evaluate(`(${once})(() => document.querySelectorAll('${rows}').length > 0)`);
    });
    times.push(result);
    works.push(work);
    await context.close();
  }
  figure(
    "applications: first rows painted, nothing cached",
    "ms",
    quantile(times, 0.5),
    1000,
    `p95 ${Math.round(quantile(times, 0.95))}, main thread ${Math.round(quantile(works, 0.5))} ms`,
  );
}

async function filter(page) {
  await page.goto("/applications");
  await page.locator(rows).first().waitFor();
  const times = [];
  const works = [];
  for (let i = 0; i < rounds; i++) {
    const text = `${i}${(i * 7) % 10}`;
    const search = page.getByRole("searchbox").first();
    await search.fill("");
    await page.waitForFunction(([t]) => document.querySelector(t)?.dataset.filter === "", [table]);
    const done = page.evaluate(
      `new Promise((resolve) => addEventListener("input", () => { const begun = performance.now(); (${once})(() => document.querySelector('${table}')?.dataset.filter === ${JSON.stringify(text)} && document.querySelectorAll('${rows}').length > 0).then((at) => resolve(at - begun)); }, { capture: true, once: true }))`,
    );
    const { result, work } = await spent(page, async () => {
      await search.fill(text);
      return done;
    });
    times.push(result);
    works.push(work);
  }
  figure(
    "applications: filter to painted rows",
    "ms",
    quantile(times, 0.5),
    200,
    `p95 ${Math.round(quantile(times, 0.95))}, main thread ${Math.round(quantile(works, 0.5))} ms`,
  );
}

async function scroll(page) {
  await page.goto("/applications");
  await page.locator(rows).first().waitFor();
  const scrolled = page.evaluate(
    (t) =>
      new Promise((resolve) => {
        const box = document.querySelector(t);
        const out = [];
        let long = 0;
        new PerformanceObserver((list) => (long += list.getEntries().length)).observe({ type: "longtask" });
        let last = performance.now();
        const end = last + 6000;
        const step = (now) => {
          out.push(now - last);
          last = now;
          box.scrollTop += 48;
          if (now < end) {
            requestAnimationFrame(step);
          } else {
            resolve({ gaps: out.slice(1), long });
          }
        };
        requestAnimationFrame(step);
      }),
    table,
  );
  const {
    result: { gaps, long },
    work,
  } = await spent(page, () => scrolled);
  const fps = 1000 / (gaps.reduce((a, b) => a + b, 0) / gaps.length);
  const late = gaps.filter((gap) => gap > 25).length; // a frame was left out
  figure(
    "applications: frames a second while scrolling",
    "fps",
    fps,
    -58,
    `p99 ${quantile(gaps, 0.99).toFixed(1)} ms, ${late} of ${gaps.length} frames late, ${long} long tasks`,
  );
  figure("applications: main thread for a frame while scrolling", "ms", work / gaps.length, 16.7);
}

async function memory(browser, page) {
  const session = await page.context().newCDPSession(page);
  await session.send("HeapProfiler.enable");
  await session.send("HeapProfiler.collectGarbage");
  await session.send("Performance.enable");
  const { metrics } = await session.send("Performance.getMetrics");
  const heap = metrics.find((m) => m.name === "JSHeapUsedSize").value / 1e6;
  const all = await browser.newBrowserCDPSession();
  const { processInfo } = await all.send("SystemInfo.getProcessInfo");
  let most = 0;
  for (const { type, id } of processInfo) {
    if (type === "renderer") {
      const text = readFileSync(`/proc/${id}/smaps_rollup`, "utf8");
      const kB = [...text.matchAll(/^Private_(?:Clean|Dirty):\s+(\d+) kB/gm)].reduce((sum, m) => sum + Number(m[1]), 0);
      most = Math.max(most, kB / 1000);
    }
  }
  figure("tab after that: private memory of its process", "MB", most, 150, `JavaScript ${heap.toFixed(1)} MB`);
}

async function graph(page) {
  const list = await (await page.request.get("/api/v1/fleet/applications?search=big&limit=1")).json();
  const app = list.items[0];
  if (!app) {
    throw new Error("the simulator has no application big: is bin/bench-fleet of this version?");
  }
  const times = [];
  const works = [];
  for (let i = 0; i < Math.min(rounds, 5); i++) {
    await page.goto("/applications?search=big");
    const link = page.getByRole("link", { name: app.name, exact: true }).first();
    await link.waitFor();
    const done = page.evaluate(
      `new Promise((resolve) => addEventListener("click", () => { const begun = performance.now(); (${once})(() => document.querySelectorAll(".react-flow__node").length > 1).then((at) => resolve(at - begun)); }, { capture: true, once: true }))`,
    );
    const { result, work } = await spent(page, async () => {
      await link.click();
      return done;
    });
    times.push(result);
    works.push(work);
  }
  figure(
    `application of ${o.big} resources: click to graph`,
    "ms",
    quantile(times, 0.5),
    1000,
    `at most ${Math.round(Math.max(...times))}, main thread ${Math.round(quantile(works, 0.5))} ms`,
  );
}

function print() {
  console.log(`load of the machine ${loadavg()[0].toFixed(2)}, ${cpus().length} processors`);
  for (const f of figures) {
    const most = f.limit < 0;
    const ok = most ? f.value >= -f.limit : f.value <= f.limit;
    f.ok = ok;
    console.log(
      `${ok ? "ok  " : "MISS"}  ${f.name.padEnd(52)} ${String(f.value).padStart(8)} ${f.unit.padEnd(4)} ${most ? ">=" : "<="} ${Math.abs(f.limit)}  ${f.note}`,
    );
  }
}

const fleet = startFleet();
const browser = await chromium.launch({
  executablePath,
  args,
});
try {
  const { url, username, password } = await fleet.ready;
  const open = async (state) => {
    const context = await browser.newContext({
      baseURL: url,
      ignoreHTTPSErrors: true,
      viewport: { width: 1440, height: 900 },
      storageState: state,
    });
    return { context, page: await context.newPage() };
  };
  const first = await open();
  const answer = await first.page.request.post("/api/v1/session", { data: { username, password } });
  if (!answer.ok()) {
    throw new Error(`sign in: ${answer.status()} ${await answer.text()}`);
  }
  const state = await first.context.storageState();
  await firstPaint(() => open(state));
  const { page } = await open(state);
  await filter(page);
  await scroll(page);
  await memory(browser, page);
  await graph(page);
  const size = JSON.parse(await sizes());
  figure("first load: compressed JavaScript", "kB", size.total / 1000, 350);
  print();
  if (o.json) {
    const version = browser.version();
    const machine = { cores: cpus().length, processor: cpus()[0]?.model, load: Math.round(loadavg()[0] * 100) / 100 };
    writeFileSync(
      o.json,
      `${JSON.stringify({ time: new Date().toISOString(), machine, chromium: version, agents: Number(o.agents), applications: Number(o.applications) * Number(o.agents), churn: Number(o.churn), figures }, null, 2)}\n`,
    );
  }
} finally {
  await browser.close();
  fleet.child.kill("SIGINT");
}
if (o.targets && figures.some((f) => !f.ok)) {
  process.exitCode = 1;
}

function sizes() {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [fileURLToPath(new URL("size.mjs", import.meta.url)), "--json"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.on("data", (piece) => (text += piece));
    child.on("exit", (status) => (status === 0 ? resolve(text) : reject(new Error("size.mjs failed"))));
  });
}
