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
  // Who is signed in is asked while that code is on its way, and then the first page of the longest list, where they may see it;
  // api/early takes the answers. Who comes to sign in is nobody yet.
  if (location.pathname !== "/sign-in") {
    var early = (globalThis.slipwayEarly = {});
    var session = (early["/api/v1/session"] = fetch("/api/v1/session").catch(function () {}));
    if (location.pathname === "/applications" && !location.search) {
      var seen = session
        .then(function (answer) {
          return answer && answer.ok ? answer.clone().json() : {};
        })
        .then(function (who) {
          return (
            !(who.user && who.user.mustChangePassword) &&
            (who.grants || []).some(function (grant) {
              return (grant.permissions || []).includes("application_view");
            })
          );
        })
        .catch(function () {});
      ["/api/v1/fleet/applications?sort=attention&page=1&limit=100", "/api/v1/fleet/summary"].forEach(
        function (address) {
          early[address] = seen.then(function (may) {
            return may ? fetch(address).catch(function () {}) : undefined;
          });
        },
      );
    }
  }
})();
