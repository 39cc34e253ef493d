import { expect, test } from "vitest";
import { badgeOf } from "./badge";

test("a badge is a picture that leads to the page of its application", () => {
  const app = { agent: "account.prod", namespace: "argocd", name: "shop", id: "account.prod/argocd/shop" };
  expect(badgeOf(app, "https://slipway.example.org")).toBe(
    "[![shop](https://slipway.example.org/api/v1/agents/account.prod/applications/argocd/shop/badge?showAppName=true)]" +
      "(https://slipway.example.org/applications/account.prod/argocd/shop)",
  );
});
