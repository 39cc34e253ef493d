import { expect, it, vi } from "vitest";
import { offersOf } from "./objects";

const pod = { kind: "Pod", version: "v1", namespace: "shop", name: "shop-1" };
const roots = [
  {
    group: "apps",
    kind: "Deployment",
    version: "v1",
    namespace: "shop",
    name: "shop",
    children: [
      { group: "apps", kind: "ReplicaSet", version: "v1", namespace: "shop", name: "shop-a", children: [pod] },
    ],
  },
  { kind: "Service", version: "v1", namespace: "shop", name: "shop" },
];

const titles = (text: string) => offersOf(roots, text.split(" "), vi.fn()).map((c) => c.title);

it("objects are found at any depth, those of the application first", () => {
  expect(titles("shop")).toEqual(["Deployment shop", "Service shop", "ReplicaSet shop-a", "Pod shop-1"]);
  expect(titles("pod")).toEqual(["Pod shop-1"]);
  expect(titles("SERVICE sho")).toEqual(["Service shop"]);
  expect(titles("nothing")).toEqual([]);
});

it("logs and terminal are found where they are asked for", () => {
  expect(titles("logs shop")).toEqual(["Logs of Pod shop-1"]);
  expect(titles("terminal")).toEqual(["Terminal in Pod shop-1"]);
  const go = vi.fn<Parameters<typeof offersOf>[2]>();
  offersOf(roots, ["logs"], go)[0]?.run();
  expect(go).toHaveBeenCalledWith("", { resource: "/Pod/shop/shop-1", tab: "logs" });
});

it("only a few are offered", () => {
  const many = Array.from({ length: 3_000 }, (_, i) => ({ ...pod, name: `shop-${i}` }));
  expect(offersOf(many, ["shop"], vi.fn())).toHaveLength(8);
});
