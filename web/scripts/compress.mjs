// Puts each file of dist that shrinks there as .br and .gz, in place of itself: the server has all of it inside, and sends
// these as they are. index.html stays, since a nonce goes into it.
import { readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync, constants, gzipSync } from "node:zlib";

const dist = fileURLToPath(new URL("../dist", import.meta.url));
const shrinks = new Set([".js", ".mjs", ".css", ".svg", ".json", ".txt", ".webmanifest"]);

for (const entry of readdirSync(dist, { recursive: true, withFileTypes: true })) {
  if (!entry.isFile() || !shrinks.has(extname(entry.name))) {
    continue;
  }
  const path = join(entry.parentPath, entry.name);
  const content = readFileSync(path);
  writeFileSync(`${path}.gz`, gzipSync(content, { level: 9 }));
  writeFileSync(
    `${path}.br`,
    brotliCompressSync(content, {
      params: { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: content.length },
    }),
  );
  rmSync(path);
}
