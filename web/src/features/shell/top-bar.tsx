import { Moon, Sun, SunMoon, Wifi, WifiOff } from "lucide-react";
import { cn } from "@/lib/cn";
import { useConnection } from "@/lib/events";
import { setTheme, type Theme, useTheme } from "@/lib/theme";
import { IconButton } from "@/ui/button";
import { Menu } from "@/ui/menu";
import { Tooltip } from "@/ui/tooltip";

// Live says whether what is shown follows what happens.
export function Live() {
  const state = useConnection();
  const text = {
    live: "Live: changes appear immediately",
    connecting: "Connecting: this page may be some seconds old",
    offline: "The server is unreachable: this page may be out of date. Retrying.",
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

export function ThemeMenu() {
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
