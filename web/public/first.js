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
  // Who is signed in is asked while that code is on its way, and so is the first page of the longest list; api/early takes
  // the answers. Who comes to sign in is nobody yet.
  if (location.pathname !== "/sign-in") {
    var early = ["/api/v1/session"];
    if (location.pathname === "/applications" && !location.search) {
      early.push("/api/v1/fleet/applications?sort=name&page=1&limit=100", "/api/v1/fleet/summary");
    }
    globalThis.slipwayEarly = {};
    early.forEach(function (address) {
      globalThis.slipwayEarly[address] = fetch(address).catch(function () {});
    });
  }
})();
