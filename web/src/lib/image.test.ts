import { expect, it } from "vitest";
import { imageOf } from "./image";

const digest = `sha256:${"0123456789abcdef".repeat(4)}`;

it.each([
  ["nginx", "", "nginx", ""],
  ["nginx:1.29", "", "nginx", ":1.29"],
  ["localhost:5000/nginx", "localhost:5000/", "nginx", ""],
  [
    "registry.example.org:5000/team/shop/web:v2.4.1-rc.1",
    "registry.example.org:5000/team/shop/",
    "web",
    ":v2.4.1-rc.1",
  ],
  [`ghcr.io/acme/web@${digest}`, "ghcr.io/acme/", "web", "@0123456789ab"],
  [`ghcr.io/acme/web:1.0@${digest}`, "ghcr.io/acme/", "web", ":1.0"],
  ["", "", "", ""],
])("%s", (text, where, name, version) => {
  expect(imageOf(text)).toEqual({ where, name, version });
});
