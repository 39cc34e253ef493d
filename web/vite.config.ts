import { fileURLToPath } from "node:url";
import tailwindcss from "@tailwindcss/vite";
import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// A server to develop against: SLIPWAY_SERVER=http://127.0.0.1:8080 npm run dev
const server = process.env.SLIPWAY_SERVER ?? "http://127.0.0.1:8080";

const large = /codemirror|lezer|style-mod|crelt|xterm|xyflow|noble|node_modules\/yaml|ui\/(code|preview|diff)/;

export default defineConfig({
  plugins: [react(), tailwindcss()],
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
