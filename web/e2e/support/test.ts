import { AxeBuilder } from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";
import { signIn } from "./api";
import { stack } from "./stack";

// Complaints are what the browser's console said of a page, and errors that nobody caught.
export class Complaints {
  private readonly said: string[] = [];
  private readonly expected: RegExp[] = [];

  // expect takes what is meant to be: an answer 409, say, which Chromium writes to the console.
  expect(pattern: RegExp): void {
    this.expected.push(pattern);
  }

  watch(page: Page): void {
    page.on("console", (message) => {
      if (message.type() === "error" || message.type() === "warning") {
        this.said.push(`${message.text()} (${message.location().url})`);
      }
    });
    page.on("pageerror", (error) => this.said.push(`${error.name}: ${error.message}`));
  }

  unexpected(): string[] {
    return this.said.filter((text) => !this.expected.some((pattern) => pattern.test(text)));
  }
}

interface Fixtures {
  complaints: Complaints;
  // signedIn is false for a spec that signs in by itself: test.use({ signedIn: false }).
  signedIn: boolean;
}

// test is that of Playwright with a page of somebody who is signed in, and fails when a page complains in the console:
// of a violated Content-Security-Policy too.
export const test = base.extend<Fixtures>({
  signedIn: [true, { option: true }],
  baseURL: async ({}, use) => use(process.env.SLIPWAY_URL ?? stack().url),
  complaints: [
    async ({ context }, use) => {
      const complaints = new Complaints();
      context.on("page", (page) => complaints.watch(page));
      await use(complaints);
      expect(complaints.unexpected(), "the console of the page").toEqual([]);
    },
    { auto: true },
  ],
  context: async ({ context, signedIn }, use) => {
    if (signedIn) {
      await signIn(context);
    }
    await use(context);
  },
});

export { expect };

// Tags of axe's rules, or one rule.
const rules = {
  all: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"],
  colours: ["color-contrast"],
};

// expectAccessible fails for what axe finds against WCAG 2.2 AA, or for colours alone. The spec goes on, so that one run
// finds all.
export async function expectAccessible(
  page: Page,
  what = "the page",
  which: keyof typeof rules = "all",
): Promise<void> {
  // What is for pages with frames of others opens a page of its own each time.
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations } = await axe.options({ runOnly: rules[which], resultTypes: ["violations"] }).analyze();
  const found = violations.map((v) => ({
    rule: v.id,
    help: v.help,
    where: v.nodes.slice(0, 5).map((node) => `${node.target.join(" ")}: ${node.failureSummary ?? ""}`),
  }));
  expect.soft(found, `accessibility of ${what}`).toEqual([]);
}
