import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouter } from "@tanstack/react-router";
import { LogOut, Menu as MenuIcon, Search, UserRound } from "lucide-react";
import { Suspense, lazy, useEffect, useState } from "react";
import { client, data } from "@/api/client";
import { forgetEarly } from "@/api/early";
import { offered } from "@/lib/access";
import { events } from "@/lib/events";
import { useHotkeys } from "@/lib/hotkeys";
import { follow, queryClient } from "@/lib/query";
import { sessionQuery, useSession } from "@/lib/session";
import { IconButton } from "@/ui/button";
import { Menu } from "@/ui/menu";
import { Loading } from "@/ui/states";
import { toastError } from "@/ui/toast";
import { places } from "./navigation";
import { Sidebar } from "./sidebar";
import { SiteNotice } from "./site-notice";
import { Live, ThemeMenu } from "./top-bar";

const Palette = lazy(() => import("./palette"));

const Keys = lazy(() => import("./keys"));

// signedOutKey is written at sign-out, so that other tabs of this browser follow immediately.
const signedOutKey = "slipway.signed-out";

// Shell is what is around every page: where one can go, the palette, whether what is shown is live, and who is signed in.
export function Shell() {
  const [open, setOpen] = useState(false);
  const [palette, setPalette] = useState(false);
  const [keys, setKeys] = useState(false);
  const [narrow, setNarrow] = useState(() => localStorage.getItem("slipway.sidebar") === "narrow");
  const who = useSession();
  const { data: session } = useQuery(sessionQuery);
  const router = useRouter();
  const navigate = useNavigate();
  useEffect(() => {
    events.start();
    const end = follow();
    return () => {
      end();
      events.stop();
    };
  }, []);
  useEffect(() => {
    const out = (event: StorageEvent) => {
      if (event.key === signedOutKey) {
        queryClient.setQueryData(sessionQuery.queryKey, null);
      }
    };
    addEventListener("storage", out);
    return () => removeEventListener("storage", out);
  }, []);
  useEffect(() => {
    if (session === null) {
      const here = router.state.location.href;
      void navigate({ to: "/sign-in", search: { to: here } });
    }
  }, [session, navigate, router]);
  const seen = places.map((g) => ({ ...g, places: g.places.filter((p) => offered(who, p)) }));
  useHotkeys([
    { keys: "mod+k", what: "Find anything", run: () => setPalette(true) },
    { keys: "?", what: "Show these keys", run: () => setKeys(true) },
    ...seen
      .flatMap((g) => g.places)
      .filter((p) => p.keys)
      .map((p) => ({ keys: p.keys as string, what: `Go to ${p.label}`, run: () => void navigate({ to: p.to }) })),
  ]);
  const fold = () => {
    localStorage.setItem("slipway.sidebar", narrow ? "wide" : "narrow");
    setNarrow(!narrow);
  };
  return (
    <div className="flex h-[calc(100dvh-var(--toasts,0px))] flex-col">
      <a
        href="#main"
        className="sr-only focus:not-sr-only focus:absolute focus:z-50 focus:m-2 focus:rounded focus:bg-raised focus:px-3 focus:py-2"
      >
        Skip to the content
      </a>
      <header className="flex h-12 shrink-0 items-center gap-2 border-b bg-surface px-3">
        <IconButton label="Menu" className="md:hidden" aria-expanded={open} onClick={() => setOpen(!open)}>
          <MenuIcon size={18} aria-hidden />
        </IconButton>
        <Link to="/" aria-label="Slipway" className="flex shrink-0 items-center gap-2 font-semibold">
          <img src="/favicon.svg" alt="" width={22} height={22} />
          <span className="hidden sm:inline">Slipway</span>
        </Link>
        <button
          type="button"
          onClick={() => setPalette(true)}
          className="mx-auto flex h-8 w-full max-w-md min-w-0 items-center gap-2 rounded-md border bg-ground px-2.5 text-muted hover:border-strong"
        >
          <Search size={15} aria-hidden className="shrink-0" />
          <span className="truncate">Find an application, a page, an action</span>
          <kbd className="ml-auto hidden rounded border bg-surface px-1.5 text-xs sm:block">Ctrl K</kbd>
        </button>
        <Live />
        <ThemeMenu />
        <UserMenu />
      </header>
      <SiteNotice />
      <div className="flex min-h-0 flex-1">
        {open && (
          <button
            type="button"
            aria-label="Close the menu"
            className="fixed inset-0 top-12 z-20 bg-black/40 md:hidden"
            onClick={() => setOpen(false)}
          />
        )}
        <Sidebar groups={seen} open={open} narrow={narrow} onFold={fold} onGo={() => setOpen(false)} />
        <main id="main" tabIndex={-1} className="min-w-0 flex-1 overflow-auto bg-ground outline-none">
          <Suspense fallback={<Loading />}>
            <Outlet />
          </Suspense>
        </main>
      </div>
      <Suspense>
        {palette && <Palette onClose={() => setPalette(false)} />}
        {keys && <Keys onClose={() => setKeys(false)} />}
      </Suspense>
    </div>
  );
}

function UserMenu() {
  const who = useSession();
  const navigate = useNavigate();
  const name = who?.user?.displayName || who?.principal.id || "";
  const out = async () => {
    try {
      await data(client.DELETE("/api/v1/session"));
    } catch (error) {
      toastError(error, "You could not be signed out");
      return;
    }
    localStorage.setItem(signedOutKey, String(Date.now()));
    events.stop();
    queryClient.clear();
    forgetEarly();
    await navigate({ to: "/sign-in" });
  };
  return (
    <Menu
      trigger={
        <IconButton label="You">
          <UserRound size={16} aria-hidden />
        </IconButton>
      }
      items={[
        name,
        {
          label: "Profile and tokens",
          icon: <UserRound size={15} aria-hidden />,
          run: () => void navigate({ to: "/profile" }),
        },
        null,
        { label: "Sign out", icon: <LogOut size={15} aria-hidden />, run: () => void out() },
      ]}
    />
  );
}
