import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Command } from "cmdk";
import { Dialog } from "radix-ui";
import { useDeferredValue, useState } from "react";
import { client, data } from "@/api/client";
import { offered } from "@/lib/access";
import { type Command as Offer, hits, paletteCommands, paletteFinders } from "@/lib/palette";
import { may, useSession } from "@/lib/session";
import { useFocus } from "@/ui/dialog";
import { StatusIcon } from "@/ui/status";
import { places } from "./navigation";

const item =
  "flex cursor-pointer items-center gap-2.5 rounded-md px-2.5 py-2 data-[selected=true]:bg-accent-soft data-[disabled=true]:cursor-not-allowed data-[disabled=true]:text-muted";
const heading =
  "[&_[cmdk-group-heading]]:px-2.5 [&_[cmdk-group-heading]]:pt-2 [&_[cmdk-group-heading]]:pb-1 [&_[cmdk-group-heading]]:text-xs [&_[cmdk-group-heading]]:text-muted";

// Palette finds any application, cluster, agent, page and action.
export default function Palette({ onClose }: { onClose: () => void }) {
  const [text, setText] = useState("");
  const search = useDeferredValue(text.trim());
  const navigate = useNavigate();
  const who = useSession();
  const focus = useFocus();
  const wanted = search.length > 0;
  const applications = useQuery({
    queryKey: ["application", "palette", search],
    enabled: wanted && may(who, "application_view"),
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      data(client.GET("/api/v1/fleet/applications", { params: { query: { search, limit: 8 } }, signal })),
  });
  const agents = useQuery({
    queryKey: ["agent", "palette", search],
    enabled: wanted && may(who, "agent_view"),
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => data(client.GET("/api/v1/agents", { params: { query: { search, limit: 5 } }, signal })),
  });
  const clusters = useQuery({
    queryKey: ["cluster", "palette", search],
    enabled: wanted && may(who, "cluster_view"),
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) => data(client.GET("/api/v1/clusters", { params: { query: { search, limit: 5 } }, signal })),
  });
  const go = (run: () => void) => () => {
    onClose();
    run();
  };
  const unseen = (
    [
      ["applications", "application_view"],
      ["agents", "agent_view"],
      ["clusters", "cluster_view"],
    ] as const
  ).filter(([, permission]) => !may(who, permission));
  const words = search.split(/\s+/).filter(Boolean);
  const actions = paletteCommands().filter((c) => hits(words, c.title, c.group, c.keywords));
  const finders = paletteFinders();
  const pages = places.flatMap((g) => g.places).filter((p) => offered(who, p) && hits(words, p.label, p.keywords));
  const found = useQuery({
    queryKey: ["palette", finders.map((f) => f.id), search],
    enabled: wanted && finders.length > 0,
    placeholderData: keepPreviousData,
    gcTime: 0,
    queryFn: () => Promise.all(finders.map(async (f) => ({ heading: f.heading, commands: await f.find(words) }))),
  });
  return (
    <Dialog.Root open onOpenChange={(open) => !open && onClose()}>
      <Dialog.Portal>
        <Dialog.Overlay className="fixed inset-0 z-40 bg-black/40 dark:bg-black/60" />
        <Dialog.Content
          {...focus}
          aria-describedby={undefined}
          className="animate-appear fixed inset-x-2 top-[10vh] z-40 mx-auto max-w-xl overflow-hidden rounded-lg border bg-raised shadow-2xl"
        >
          <Dialog.Title className="sr-only">Find anything</Dialog.Title>
          <Command shouldFilter={false} label="Find anything">
            <Command.Input
              value={text}
              onValueChange={setText}
              placeholder="Find an application, a cluster, a page, an action"
              className="w-full border-b bg-transparent px-4 py-3 outline-none"
            />
            <Command.List className="max-h-[60vh] overflow-auto p-1.5">
              <Command.Empty className="px-3 py-6 text-center text-muted">
                {applications.isFetching ? "Searching" : "No results."}
              </Command.Empty>
              <Offers title="Actions" list={actions} go={go} />
              {wanted && found.data?.map((f) => <Offers key={f.heading} title={f.heading} list={f.commands} go={go} />)}
              {wanted && (applications.data?.items ?? []).length > 0 && (
                <Command.Group heading="Applications" className={heading}>
                  {(applications.data?.items ?? []).map((a) => (
                    <Command.Item
                      key={a.id}
                      value={`application ${a.id}`}
                      onSelect={go(() => void navigate({ to: "/applications/$agent/$namespace/$name", params: a }))}
                      className={item}
                    >
                      <StatusIcon status={a.health} />
                      <span className="max-w-3/4 shrink-0 truncate">{a.name}</span>
                      <span className="ml-auto min-w-0 truncate text-sm text-muted">
                        {a.agent} · {a.namespace}
                      </span>
                    </Command.Item>
                  ))}
                </Command.Group>
              )}
              {wanted && (agents.data?.items ?? []).length > 0 && (
                <Command.Group heading="Agents" className={heading}>
                  {(agents.data?.items ?? []).map((a) => (
                    <Command.Item
                      key={a.id}
                      value={`agent ${a.id}`}
                      onSelect={go(() => void navigate({ to: "/agents/$agent", params: { agent: a.id ?? "" } }))}
                      className={item}
                    >
                      {a.displayName || a.name}
                      <span className="text-sm text-muted">{a.id}</span>
                    </Command.Item>
                  ))}
                </Command.Group>
              )}
              {wanted && (clusters.data?.items ?? []).length > 0 && (
                <Command.Group heading="Clusters" className={heading}>
                  {(clusters.data?.items ?? []).map((c) => (
                    <Command.Item
                      key={`${c.agent}/${c.namespace}/${c.name}`}
                      value={`cluster ${c.agent}/${c.namespace}/${c.name}`}
                      onSelect={go(() => void navigate({ to: "/clusters", search: { q: c.name } }))}
                      className={item}
                    >
                      {c.name}
                      <span className="text-sm text-muted">{c.agent}</span>
                    </Command.Item>
                  ))}
                </Command.Group>
              )}
              {pages.length > 0 && (
                <Command.Group heading="Pages" className={heading}>
                  {pages.map((p) => (
                    <Command.Item
                      key={p.to}
                      value={`page ${p.to}`}
                      onSelect={go(() => void navigate({ to: p.to }))}
                      className={item}
                    >
                      <p.icon size={15} aria-hidden />
                      <span className="flex-1">{p.label}</span>
                      {p.keys && <kbd className="text-xs text-muted">{p.keys.toUpperCase()}</kbd>}
                    </Command.Item>
                  ))}
                </Command.Group>
              )}
            </Command.List>
            {wanted && unseen.length > 0 && (
              <p className="border-t px-4 py-2 text-sm text-muted">
                Not searched: {unseen.map(([many, permission]) => `${many} (you need ${permission})`).join(", ")}.
              </p>
            )}
          </Command>
        </Dialog.Content>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

// Offers are commands under one heading.
function Offers({ title, list, go }: { title: string; list: Offer[]; go: (run: () => void) => () => void }) {
  return list.length === 0 ? null : (
    <Command.Group heading={title} className={heading}>
      {list.map((c) => (
        <Command.Item key={c.id} value={c.id} disabled={Boolean(c.disabled)} onSelect={go(c.run)} className={item}>
          <span className="min-w-0 flex-1 break-words">
            {c.title}
            {c.disabled && <span className="block text-sm">{c.disabled}</span>}
          </span>
          <span className="text-sm text-muted">{c.group}</span>
        </Command.Item>
      ))}
    </Command.Group>
  );
}
