// How the Chromium of the machine is started: for specs, pictures and figures alike.

// Its own interface has pages for the address bar, which it loads for each window: they take longer than what is tested.
// The rest is what Playwright turns off and what matters here, as the last list is the one that counts.
const without = [
  "WebUIOmniboxPopup",
  "WebUIOmniboxAimPopup",
  "AimEnabled",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
];

export const executablePath = process.env.CHROMIUM ?? "/usr/bin/chromium";

export const args = [
  `--disable-features=${without.join(",")}`,
  "--disable-gpu", // there is none, and painting in its place takes a process more
  "--disable-dev-shm-usage", // it is small in a container
  ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []), // which does not work for root
];
