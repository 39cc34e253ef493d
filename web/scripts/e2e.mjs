// Runs playwright test so that one random failure does not fail the run: a spec that fails runs again, alone and once, after
// all others. If it passes then, it is flaky: the end of the output and .run/flaky.txt show it with its first error. More
// than two flaky tests in that file fail the run, and so does a spec that fails twice. tools/retest does the same for Go.
//
// Usage: node scripts/e2e.mjs [arguments of playwright test]; RETEST_PLAYWRIGHT, RETEST_RECORD: what to run, where to write.
import { spawn } from "node:child_process";
import { appendFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const maxFlaky = 2;
const maxAgain = 10; // a run with more failures has failed, whatever comes of them
const web = fileURLToPath(new URL("../", import.meta.url));
const record = process.env.RETEST_RECORD ?? join(web, "../.run/flaky.txt");
const cwd = process.env.RETEST_PLAYWRIGHT ?? web;
const args = process.argv.slice(2);

// playwright runs playwright test and returns its exit code and its report, which is missing where it did not get that far.
function playwright(dir, name, more) {
  const file = join(dir, name);
  const child = spawn(
    process.execPath,
    [join(web, "node_modules/@playwright/test/cli.js"), "test", "--add-reporter", "json", ...args, ...more],
    {
      cwd,
      stdio: "inherit",
      env: { ...process.env, PLAYWRIGHT_JSON_OUTPUT_FILE: file },
    },
  );
  for (const signal of ["SIGINT", "SIGTERM"]) {
    process.on(signal, () => child.kill(signal));
  }
  return new Promise((resolve) => {
    child.on("close", (code, signal) => {
      const report = existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
      resolve({ code: code ?? (signal === "SIGINT" ? 130 : 1), report });
    });
  });
}

// testsOf lists the tests of a report, each with the titles on the way to it.
function testsOf(report) {
  const out = [];
  const walk = (suite, titles) => {
    for (const spec of suite.specs ?? []) {
      for (const test of spec.tests) {
        out.push({ project: test.projectName, file: spec.file, titles: [...titles, spec.title], test });
      }
    }
    for (const inner of suite.suites ?? []) {
      walk(inner, [...titles, inner.title]);
    }
  };
  for (const file of report?.suites ?? []) {
    walk(file, []);
  }
  return out;
}

const failed = ({ test }) => test.status === "unexpected";
// Another one had to pass first: one before it in a file that is serial, or one of a project that its own depends on.
const notRun = ({ test }) => test.status === "skipped" && test.expectedStatus !== "skipped";
const fileOf = ({ project, file }) => `[${project}] › ${file}`;
const nameOf = (t) => [fileOf(t), ...t.titles].join(" › ");
const plain = (title) => title === title.trim() && title !== "" && !/[›>\n]/.test(title);

// serial reports whether the tests of a file need those before them: then the last one cannot run alone either.
function serial(dir, { file }) {
  const path = join(dir, file);
  return existsSync(path) && /mode:\s*["']serial["']/.test(readFileSync(path, "utf8"));
}

// selection is the list of tests that run again: of a file that is serial, or with tests that did not run, all; of others those
// that failed.
function selection(tests, dir) {
  const whole = new Set(tests.filter((t) => notRun(t) || (failed(t) && serial(dir, t))).map(fileOf));
  return tests
    .filter((t) => failed(t) || notRun(t))
    .map((t) => (whole.has(fileOf(t)) || !t.titles.every(plain) ? fileOf(t) : nameOf(t)))
    .filter((line, i, all) => all.indexOf(line) === i);
}

// eslint-disable-next-line no-control-regex -- colours of a terminal
const colours = /\u001b\[[0-9;]*m/g;
function entry(t) {
  const errors = t.test.results.flatMap((result) =>
    result.errors.map((error) => error.message ?? error.value ?? "no message"),
  );
  const lines = errors.join("\n").replace(colours, "").split("\n");
  return [`FLAKY ${nameOf(t)}: failed, then passed alone`, ...lines.map((line) => `    ${line}`), ""].join("\n");
}

const count = (text) => text.split("\n").filter((line) => line.startsWith("FLAKY ")).length;
const say = (text) => process.stdout.write(text);

async function run(dir) {
  const first = await playwright(dir, "first.json", []);
  const tests = testsOf(first.report);
  const bad = tests.filter(failed);
  if (first.code === 0 || first.code === 130 || bad.length === 0 || first.report.errors.length > 0) {
    return first.code;
  }
  if (bad.length > maxAgain) {
    say(`e2e: ${bad.length} specs failed, more than the ${maxAgain} that run again\n`);
    return first.code;
  }
  const list = join(dir, "again.txt");
  const lines = selection(tests, first.report.config.rootDir);
  writeFileSync(list, `${lines.join("\n")}\n`);
  say(`e2e: again, alone:\n${lines.map((line) => `  ${line}\n`).join("")}`);
  // What the first run left stays beside it.
  const second = await playwright(dir, "second.json", [
    "--workers=1",
    "--test-list",
    list,
    "--output",
    "test-results/again",
  ]);
  if (second.code !== 0) {
    return second.code;
  }
  const passed = new Set(
    testsOf(second.report)
      .filter(({ test }) => test.status === "expected")
      .map(nameOf),
  );
  const lost = bad.filter((t) => !passed.has(nameOf(t)));
  if (lost.length > 0) {
    say(`e2e: did not pass when it ran again: ${lost.map(nameOf).join(", ")}\n`);
    return 1;
  }
  const flaky = bad.map(entry).join("");
  mkdirSync(dirname(record), { recursive: true });
  appendFileSync(record, flaky);
  say(flaky);
  const many = count(readFileSync(record, "utf8"));
  if (many > maxFlaky) {
    say(`e2e: ${many} tests are flaky, more than ${maxFlaky}\nFAIL\n`);
    return 1;
  }
  return 0;
}

const dir = mkdtempSync(join(tmpdir(), "slipway-e2e-"));
try {
  process.exitCode = await run(dir);
} finally {
  rmSync(dir, { recursive: true, force: true });
}
