import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useRouter } from "@tanstack/react-router";
import {
  LogOut,
  Menu as MenuIcon,
  Moon,
  PanelLeftClose,
  PanelLeftOpen,
  Search,
  Sun,
  SunMoon,
  UserRound,
  Wifi,
  WifiOff,
} from "lucide-react";
import { Suspense, lazy, useEffect, useState } from "react";
import { client, data } from "@/api/client";
import { forgetEarly } from "@/api/early";
import { offered } from "@/lib/access";
import { cn } from "@/lib/cn";
import { events, useConnection } from "@/lib/events";
import { useHotkeys } from "@/lib/hotkeys";
import { follow, queryClient } from "@/lib/query";
import { sessionQuery, useSession } from "@/lib/session";
import { setTheme, type Theme, useTheme } from "@/lib/theme";
import { IconButton } from "@/ui/button";
import { Menu } from "@/ui/menu";
import { Loading } from "@/ui/states";
import { toastError } from "@/ui/toast";
import { Tooltip } from "@/ui/tooltip";
import { type Place, places } from "./navigation";

const Palette = lazy(() => import("./palette"));
const Keys = lazy(() => import("./keys"));

// signedOutKey is written at sign-out, so that other tabs of this browser follow at once.
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

function Sidebar({
  groups,
  open,
  narrow,
  onFold,
  onGo,
}: {
  groups: { group: string; places: Place[] }[];
  open: boolean;
  narrow: boolean;
  onFold: () => void;
  onGo: () => void;
}) {
  return (
    <nav
      aria-label="Pages"
      className={cn(
        "z-30 shrink-0 flex-col overflow-y-auto border-r bg-surface py-2",
        open ? "fixed top-12 bottom-[var(--toasts,0px)] left-0 flex w-60 md:static" : "hidden md:flex",
        narrow ? "md:w-13" : "md:w-52",
      )}
    >
      {groups.map(({ group, places: list }) => (
        <div key={group} className={cn("px-2 py-1", list.length === 0 && "hidden")}>
          <h2 className={cn("px-2 pb-0.5 text-xs font-medium text-muted", narrow && "md:sr-only")}>{group}</h2>
          <ul>
            {list.map((p) => (
              <li key={p.to}>
                <PlaceLink place={p} narrow={narrow} onGo={onGo} />
              </li>
            ))}
          </ul>
        </div>
      ))}
      <div className="mt-auto hidden px-2 md:block">
        <IconButton label={narrow ? "Widen the sidebar" : "Narrow the sidebar"} onClick={onFold} className="text-muted">
          {narrow ? <PanelLeftOpen size={16} aria-hidden /> : <PanelLeftClose size={16} aria-hidden />}
        </IconButton>
      </div>
    </nav>
  );
}

function PlaceLink({ place: p, narrow, onGo }: { place: Place; narrow: boolean; onGo: () => void }) {
  const link = (
    <Link
      to={p.to}
      onClick={onGo}
      activeOptions={{ exact: p.to === "/", includeSearch: false }}
      className="flex h-8 items-center gap-2.5 rounded-md px-2 text-text hover:bg-idle-soft"
      activeProps={{ className: "bg-accent-soft! text-accent! font-medium", "aria-current": "page" }}
    >
      <p.icon size={16} aria-hidden className="shrink-0" />
      <span className={cn(narrow && "md:sr-only")}>{p.label}</span>
    </Link>
  );
  return narrow ? <Tooltip text={p.label}>{link}</Tooltip> : link;
}

// Live says whether what is shown follows what happens.
function Live() {
  const state = useConnection();
  const text = {
    live: "Live: what changes is shown at once",
    connecting: "Connecting: what is shown may be some seconds old",
    offline: "The server cannot be reached: what is shown may be old. It is tried again and again.",
  }[state];
  return (
    <Tooltip text={text}>
      <span
        tabIndex={0}
        role="status"
        aria-label={text}
        data-testid="connection"
        data-state={state}
        className={cn("flex items-center gap-1.5 text-sm", state === "offline" ? "text-bad" : "text-muted")}
      >
        {state === "offline" ? (
          <WifiOff size={16} aria-hidden />
        ) : (
          <Wifi size={16} aria-hidden className={cn(state === "live" && "text-ok")} />
        )}
        {state === "offline" && <span className="hidden sm:inline">Offline</span>}
      </span>
    </Tooltip>
  );
}

const themes: { value: Theme; label: string; icon: typeof Sun }[] = [
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
  { value: "system", label: "As the system", icon: SunMoon },
];

function ThemeMenu() {
  const current = useTheme();
  const Icon = themes.find((t) => t.value === current)?.icon ?? SunMoon;
  return (
    <Menu
      trigger={
        <IconButton label="Theme">
          <Icon size={16} aria-hidden />
        </IconButton>
      }
      items={themes.map((t) => ({
        label: t.label,
        icon: <t.icon size={15} aria-hidden />,
        checked: t.value === current,
        run: () => setTheme(t.value),
      }))}
    />
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
