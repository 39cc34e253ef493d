import { useQuery } from "@tanstack/react-query";
import { Link, type LinkProps } from "@tanstack/react-router";
import { X } from "lucide-react";
import { type ReactNode, useState } from "react";
import { infoQuery } from "@/lib/info";
import { IconButton } from "@/ui/button";
import { Card } from "@/ui/page";

const key = "slipway.tour";

const stops: { title: string; text: ReactNode; to: LinkProps["to"]; search?: Record<string, string> }[] = [
  {
    title: "Find the held sync",
    text: "The demo's last commit deletes 12 of the catalog's 14 objects. The deletion guard holds such a sync until you confirm it or revert the commit.",
    to: "/applications",
    search: { search: "catalog" },
  },
  {
    title: "See what runs where",
    text: "Checkout runs in three environments and two regions. The table shows each version, and the environments that are behind.",
    to: "/services",
  },
  {
    title: "Open an application",
    text: "Its objects as a graph, the difference from Git field by field, logs, history and rollback.",
    to: "/applications",
    search: { search: "checkout" },
  },
  {
    title: "Read what happened",
    text: "The ledger has each sync with its commit, its user or policy, and its result.",
    to: "/ledger",
  },
  {
    title: "Check the notifications",
    text: "A rule sends the end of each sync to a webhook; here are the messages.",
    to: "/notifications",
    search: { tab: "deliveries" },
  },
  {
    title: "Change something in Git",
    text: (
      <>
        Clone <code>$SLIPWAY_DEMO_REPO</code>, edit a file, push. This page follows without a reload.
      </>
    ),
    to: "/applications",
    search: { search: "web" },
  },
];

// Tour leads through the demo of `slipway up` in about three minutes. Closed, it stays away in this browser.
export function Tour() {
  const info = useQuery(infoQuery);
  const [closed, setClosed] = useState(() => localStorage.getItem(key) === "closed");
  if (closed || !info.data?.demo) {
    return null;
  }
  const close = () => {
    localStorage.setItem(key, "closed");
    setClosed(true);
  };
  return (
    <Card
      title="Tour of the demo, 3 minutes"
      actions={
        <IconButton small label="Close the tour" onClick={close}>
          <X size={14} aria-hidden />
        </IconButton>
      }
    >
      <ol className="grid gap-x-6 gap-y-3 sm:grid-cols-2 xl:grid-cols-3">
        {stops.map((stop, n) => (
          <li key={stop.title} className="flex gap-2">
            <span aria-hidden className="w-4 shrink-0 text-right text-muted tabular-nums">
              {n + 1}
            </span>
            <div className="min-w-0">
              <Link
                to={stop.to}
                search={(stop.search ?? {}) as never}
                className="font-medium text-accent hover:underline"
              >
                {stop.title}
              </Link>
              <p className="text-muted">{stop.text}</p>
            </div>
          </li>
        ))}
      </ol>
    </Card>
  );
}
