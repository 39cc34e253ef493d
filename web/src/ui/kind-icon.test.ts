import { Blocks } from "lucide-react";
import { expect, test } from "vitest";
import { kindIcon } from "./kind-icon";

test("every kind that Kubernetes deploys by default has a picture of its own, and any other has the common one", () => {
  for (const kind of [
    "Deployment",
    "StatefulSet",
    "DaemonSet",
    "Service",
    "EndpointSlice",
    "ConfigMap",
    "Secret",
    "Ingress",
  ]) {
    expect(kindIcon(kind), kind).not.toBe(Blocks);
  }
  expect(kindIcon("Widget")).toBe(Blocks);
  expect(kindIcon("constructor")).toBe(Blocks);
});
