// What comes before the code of the pages. A file of its own, since no script stands in the page.
(function () {
  // The theme is set before the first paint, so that nothing flashes.
  var want = "system";
  try {
    want = localStorage.getItem("slipway.theme") || "system";
  } catch {
    // without storage the system's theme counts
  }
  var dark = want === "dark" || (want === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.classList.toggle("dark", dark);
  // Who is signed in is asked while that code is on its way; lib/session takes the answer. Who comes to sign in is nobody yet.
  if (location.pathname !== "/sign-in") {
    globalThis.slipwaySession = fetch("/api/v1/session").catch(function () {});
  }
})();
