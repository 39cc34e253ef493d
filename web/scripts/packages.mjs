// Fails when node_modules is not what package-lock.json says, which `npm ci` mends. It looks at what is there and not at
// times, so that a copy of the directory does.
import { existsSync, readFileSync } from "node:fs";

const root = new URL("../", import.meta.url);
const installed = new URL("node_modules/.package-lock.json", root);
const packagesOf = (file) => JSON.parse(readFileSync(file, "utf8")).packages;

if (!existsSync(installed)) {
  process.exit(1);
}
const have = packagesOf(installed);
for (const [path, want] of Object.entries(packagesOf(new URL("package-lock.json", root)))) {
  // What is optional is for other machines, unless it is there.
  const missing = !have[path] && !want.optional && !want.devOptional;
  if (path !== "" && (missing || (have[path] && have[path].version !== want.version))) {
    process.exit(1);
  }
}
