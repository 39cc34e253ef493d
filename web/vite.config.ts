import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import type { Plugin } from "vite";
import { defineConfig } from "vitest/config";

// A server to develop against: SLIPWAY_SERVER=http://127.0.0.1:8080 npm run dev
const server = process.env.SLIPWAY_SERVER ?? "http://127.0.0.1:8080";

const large = /codemirror|lezer|style-mod|crelt|xterm|xyflow|noble|node_modules\/yaml|ui\/(code|preview|diff)/;

// typeface has the first page read the letters that nearly all of it is written in beside its scripts, not after its styles, and
// puts the licence of the typeface beside it, which its licence asks for.
function typeface(): Plugin {
  return {
    name: "typeface",
    apply: "build",
    generateBundle() {
      const source = readFileSync(new URL("node_modules/@fontsource-variable/inter/LICENSE", import.meta.url), "utf8");
      this.emitFile({ type: "asset", fileName: "inter-licence.txt", source });
    },
    transformIndexHtml: {
      order: "post",
      handler: (_, { bundle }) =>
        Object.keys(bundle ?? {})
          .filter((name) => /inter-latin-wght-normal/.test(name))
          .map((name) => ({
            tag: "link",
            attrs: { rel: "preload", as: "font", type: "font/woff2", crossorigin: true, href: `/${name}` },
            injectTo: "head",
          })),
    },
  };
}

export default defineConfig({
  plugins: [react(), tailwindcss(), typeface()],
  resolve: { alias: { "@": fileURLToPath(new URL("./src", import.meta.url)) } },
  build: {
    target: "es2023",
    // Inlined pieces would be data: URLs and inline scripts, which the Content-Security-Policy forbids.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    emptyOutDir: true,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 700,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // What many pages use comes with the first of them, in one file: dozens of small ones would come after each other.
          // Editors and what they read are large, and come with the pages that have them.
          groups: [{ name: "shared", minShareCount: 3, test: (id) => !large.test(id) }],
        },
      },
    },
  },
  test: { include: ["src/**/*.test.{ts,tsx}"] },
  // A server to develop against may have made its certificate itself.
  server: { proxy: { "/api": { target: server, changeOrigin: true, ws: true, secure: false } } },
});
