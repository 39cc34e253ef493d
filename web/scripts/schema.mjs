// Writes src/api/schema.gen.ts, the types of the REST API, from api/openapi.json. With --check it only says whether that
// file is of today's description.
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const source = new URL("../../api/openapi.json", import.meta.url);
const target = new URL("../src/api/schema.gen.ts", import.meta.url);

// It needs a TypeScript older than ours, so it is no dependency: npx fetches it, when types are generated and never else.
const generator = "openapi-typescript@7.13.0";

const description = readFileSync(source, "utf8");
const header = `// Made from api/openapi.json by "make generate": do not edit.\n// sha256 of it: ${createHash("sha256").update(description).digest("hex")}\n`;

/** Texts are left out: they are most of the file, and api/openapi.json has them. */
function withoutTexts(value) {
  if (Array.isArray(value)) {
    return value.map(withoutTexts);
  }
  if (value === null || typeof value !== "object") {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key, part]) => !(["description", "summary"].includes(key) && typeof part === "string"))
      .filter(([key]) => !["example", "examples"].includes(key))
      .map(([key, part]) => [key, withoutTexts(part)]),
  );
}

function generate() {
  const dir = mkdtempSync(join(tmpdir(), "slipway-schema-"));
  try {
    const input = join(dir, "openapi.json");
    const output = join(dir, "schema.ts");
    writeFileSync(input, JSON.stringify(withoutTexts(JSON.parse(description))));
    execFileSync("npx", ["--yes", generator, input, "-o", output], { stdio: ["ignore", "ignore", "inherit"] });
    const types = readFileSync(output, "utf8")
      .replace(/^\/\*\*[\s\S]*?\*\/\n/, "")
      .replace(/^( {4})+/gm, (indent) => "\t".repeat(indent.length / 4));
    writeFileSync(target, header + types);
  } finally {
    rmSync(dir, { recursive: true });
  }
}

if (process.argv[2] === "--check") {
  if (!readFileSync(target, "utf8").startsWith(header)) {
    console.error("web/src/api/schema.gen.ts is not of today's api/openapi.json: run make generate");
    process.exit(1);
  }
} else {
  generate();
}
