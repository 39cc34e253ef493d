import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense } from "react";
import { type App, useAway, useLack, useScope } from "@/lib/application";
import { cn } from "@/lib/cn";
import { sentence } from "@/lib/format";
import { useMissing } from "@/lib/session";
import { Copy } from "@/ui/copy";
import { Drawer } from "@/ui/dialog";
import { Empty, Loading, NoPermission } from "@/ui/states";
import { Status } from "@/ui/status";
import { Actions } from "./actions";
import { ChildLink } from "./child-link";
import { LogView } from "./log-view";
import { type Forest, hasPods, type Node, refOf } from "./model";
import { ObjectDiff } from "./object-diff";
import { ObjectEvents } from "./object-events";
import { ObjectLinks } from "./object-links";
import { ObjectManifest } from "./object-manifest";
import { refFrom, stateQuery } from "./object-query";
import { ObjectSummary } from "./object-summary";

const Terminal = lazy(() => import("./terminal"));

type Tab = "summary" | "events" | "live" | "desired" | "diff" | "logs" | "terminal";

const labels: Record<Tab, string> = {
  summary: "Summary",
  events: "Events",
  live: "Live",
  desired: "Desired",
  diff: "Diff",
  logs: "Logs",
  terminal: "Terminal",
};

// tabsOf are the tabs that an object has: only the application's own objects are compared with what is wanted.
export function tabsOf(node: Node): Tab[] {
  const own = node.sync !== undefined || !node.parent;
  return [
    "summary",
    "events",
    "live",
    ...(own ? (["desired", "diff"] as const) : []),
    ...(hasPods(node.kind) ? (["logs"] as const) : []),
    ...(node.kind === "Pod" && !node.group ? (["terminal"] as const) : []),
  ];
}

interface Props {
  app: App;
  id: string;
  tree: Forest;
  tab: string;
  onTab: (tab: string | undefined) => void;
  onOpen: (id: string) => void;
  onClose: () => void;
}

// ResourceDrawer shows one object in full.
export default function ResourceDrawer({ app, id, tree, tab, onTab, onOpen, onClose }: Props) {
  const ref = refOf(id);
  const node = tree.nodes.get(id);
  if (!ref || !node) {
    return (
      <Drawer open onClose={onClose} title={ref ? `${ref.kind} ${ref.name}` : "Object"}>
        <Empty title="Object not found">
          It was deleted in the meantime, or the link is old. Close this to see the current objects.
        </Empty>
      </Drawer>
    );
  }
  const tabs = tabsOf(node);
  const shown = tabs.find((t) => t === tab) ?? "summary";
  return (
    <Drawer
      open
      onClose={onClose}
      className="max-w-4xl"
      title={
        <span className="flex flex-wrap items-center gap-x-2">
          <span className="min-w-0 break-all">{node.name}</span>
          <Copy text={node.name} label="Copy the name" />
          <span className="flex gap-3 text-sm font-normal">
            {node.health && <Status status={node.health} />}
            {node.sync && <Status status={node.sync} />}
            {node.kind === "Application" && <ChildLink node={node} />}
          </span>
        </span>
      }
      description={`${node.kind}${node.namespace ? ` in ${node.namespace}` : ""}`}
    >
      <div className="flex h-full min-h-0 flex-col">
        <ObjectLinks app={app} node={node} />
        <div className="flex flex-wrap items-end justify-between gap-2 border-b px-4 pt-2">
          <div role="tablist" aria-label="About this object" className="-mb-px flex max-w-full gap-1 overflow-x-auto">
            {tabs.map((t, i) => (
              <button
                key={t}
                type="button"
                role="tab"
                id={`tab-${t}`}
                aria-selected={t === shown}
                aria-controls="object-panel"
                tabIndex={t === shown ? 0 : -1}
                onClick={() => onTab(t === "summary" ? undefined : t)}
                onKeyDown={(event) => {
                  const to = { ArrowRight: i + 1, ArrowLeft: i - 1, Home: 0, End: tabs.length - 1 }[event.key];
                  const next = to === undefined ? undefined : tabs[(to + tabs.length) % tabs.length];
                  if (next) {
                    event.preventDefault();
                    onTab(next === "summary" ? undefined : next);
                    document.getElementById(`tab-${next}`)?.focus();
                  }
                }}
                className={cn(
                  "border-b-2 px-3 py-2 whitespace-nowrap",
                  t === shown ? "border-accent font-medium text-text" : "border-transparent text-muted hover:text-text",
                )}
              >
                {labels[t]}
              </button>
            ))}
          </div>
          <Actions app={app} node={node} tree={tree} onGone={onClose} />
        </div>
        <div
          role="tabpanel"
          id="object-panel"
          aria-labelledby={`tab-${shown}`}
          tabIndex={-1}
          className="flex min-h-0 flex-1 flex-col overflow-auto p-4"
        >
          <Panel key={`${id} ${shown}`} tab={shown} app={app} node={node} tree={tree} onOpen={onOpen} />
        </div>
      </div>
    </Drawer>
  );
}

function Panel({
  tab,
  app,
  node,
  tree,
  onOpen,
}: {
  tab: Tab;
  app: App;
  node: Node;
  tree: Forest;
  onOpen: (id: string) => void;
}) {
  const scope = useScope(app);
  const noLogs = useMissing("application_logs", scope);
  const noTerminal = useMissing("application_exec", scope);
  const away = useAway(app);
  const lack = useLack(app)("resource.terminal");
  const state = useQuery(stateQuery(app, refFrom(node)));
  switch (tab) {
    case "summary":
      return <ObjectSummary node={node} tree={tree} state={state} onOpen={onOpen} />;
    case "events":
      return <ObjectEvents app={app} node={node} />;
    case "live":
    case "desired":
      return <ObjectManifest state={state} which={tab} app={app} node={node} />;
    case "diff":
      return <ObjectDiff app={app} node={node} />;
    case "logs":
      // Which containers there are is known first: a pod of one is read as that one.
      return noLogs ? (
        <NoPermission why={noLogs} />
      ) : away ? (
        <Empty title="No logs now">{away}</Empty>
      ) : state.isPending ? (
        <Loading />
      ) : (
        <LogView app={app} target={refFrom(node)} object={state.data?.live} className="min-h-80 flex-1" />
      );
    case "terminal":
      return noTerminal ? (
        <NoPermission why={noTerminal} />
      ) : lack ? (
        <Empty title="This agent opens no terminals">{sentence(lack)}</Empty>
      ) : away ? (
        <Empty title="No terminal now">{away}</Empty>
      ) : (
        <Suspense fallback={<Loading />}>
          <Terminal app={app} node={node} object={state.data?.live} />
        </Suspense>
      );
  }
}
