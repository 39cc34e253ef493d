// Says how much a browser loads before it shows a page, and fails where that is too much: the scripts that index.html
// names, which are the first one and all that it imports by itself. With --json it prints numbers. It fails as well where the page
// /design, which is for development alone, is part of what was built.
import { readFileSync, readdirSync, statSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { gunzipSync } from "node:zlib";

const limit = 350_000;
const dist = new URL("../dist/", import.meta.url);
const page = readFileSync(new URL("index.html", dist), "utf8");

const scripts = [...page.matchAll(/<(?:script|link rel="modulepreload")[^>]* (?:src|href)="\/([^"]+)"/g)].map(
  (m) => m[1],
);
const entry = scripts.find((name) => name.startsWith("assets/"));
if (!entry) {
  console.error(`${fileURLToPath(dist)}index.html names no script: run make web`);
  process.exit(1);
}
const sizes = Object.fromEntries(scripts.map((name) => [name, statSync(new URL(`${name}.gz`, dist)).size]));
const total = Object.values(sizes).reduce((sum, size) => sum + size, 0);

const assets = new URL("assets/", dist);
const designed = readdirSync(assets).filter(
  (name) => name.endsWith(".js.gz") && gunzipSync(readFileSync(new URL(name, assets))).includes("data-piece"),
);
if (designed.length > 0) {
  console.error(
    `${designed.join(", ")}: the page /design is for development: import it where import.meta.env.DEV is set`,
  );
  process.exit(1);
}

if (process.argv[2] === "--json") {
  console.log(JSON.stringify({ total, limit, sizes }));
} else if (total > limit) {
  for (const [name, size] of Object.entries(sizes)) {
    console.error(`${String(size).padStart(8)}  ${name}`);
  }
  console.error(
    `The first page loads ${total} bytes of compressed JavaScript, more than ${limit}: import what only some pages need with import()`,
  );
  process.exit(1);
}
