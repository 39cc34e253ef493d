// Sets the theme before the first paint, so that nothing flashes. A file of its own, since no script stands in the page.
(function () {
  var want = "system";
  try {
    want = localStorage.getItem("slipway.theme") || "system";
  } catch {
    // without storage the system's theme counts
  }
  var dark = want === "dark" || (want === "system" && matchMedia("(prefers-color-scheme: dark)").matches);
  document.documentElement.classList.toggle("dark", dark);
})();
