import { useMutation } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { client, data } from "@/api/client";
import { ids, useAll } from "@/lib/entity";
import { environments, services } from "@/lib/kinds";
import { contains } from "@/lib/session";
import { Button } from "@/ui/button";
import { Chips } from "@/ui/chips";
import { named, scoped } from "@/ui/columns";
import { Entities } from "@/ui/entities";
import { EntityForm, type FormProps } from "@/ui/entity-form";
import { Checkbox, Field, Input, Select, Textarea } from "@/ui/field";
import { metaBody, useMeta } from "@/ui/meta";
import { ErrorNote } from "@/ui/states";
import { Badge } from "@/ui/status";
import type { Column } from "@/ui/table";
import { channels, type Event, events, type Rule, rules } from "./kinds";

const columns: Column<Rule>[] = [
  named(),
  { key: "events", title: "Events", width: "minmax(14rem,2fr)", cell: (r) => (r.events ?? []).join(", ") },
  { key: "channel", title: "Channel", width: "minmax(10rem,1fr)", cell: (r) => r.channel },
  scoped(),
  {
    key: "state",
    title: "State",
    width: "7rem",
    cell: (r) => (r.paused ? <Badge tone="held">Paused</Badge> : <Badge tone="ok">On</Badge>),
  },
];

function useRule(value: Rule | undefined) {
  const meta = useMeta(value);
  const [rule, set] = useState({
    events: value?.events ?? ["sync.failed"],
    channel: value?.channel ?? "",
    selector: value?.selector ?? "",
    services: value?.services ?? [],
    environments: value?.environments ?? [],
    after: value?.after ?? "",
    before: value?.before ?? "",
    repeat: value?.repeat ?? "",
    title: value?.title ?? "",
    text: value?.text ?? "",
    paused: Boolean(value?.paused),
  });
  return { meta, rule, change: (next: Partial<typeof rule>) => set((was) => ({ ...was, ...next })) };
}

function Preview({ body }: { body: () => Rule }) {
  const preview = useMutation({
    mutationFn: async () => data(client.POST("/api/v1/notification-rules/preview", { body: body() })),
  });
  return (
    <section aria-label="Preview" className="space-y-2">
      <Button busy={preview.isPending} onClick={() => preview.mutate()}>
        Show what it would send
      </Button>
      <div role="status" aria-live="polite">
        {preview.error != null && <ErrorNote error={preview.error} />}
        {preview.data && (
          <div className="rounded-md border bg-ground p-3">
            <p className="font-semibold break-words">{preview.data.title}</p>
            <p className="mt-1 break-words whitespace-pre-wrap">{preview.data.text}</p>
          </div>
        )}
      </div>
    </section>
  );
}

function Form(form: FormProps<Rule>) {
  const { value, readOnly } = form;
  const { meta, rule, change } = useRule(value);
  const all = ids(useAll(channels).filter((c) => contains(c.scope || "account", meta[0].scope)));
  const serviceIds = ids(useAll(services));
  const environmentIds = ids(useAll(environments));
  const off = Boolean(readOnly);
  const has = (event: Event) => rule.events.includes(event);
  return (
    <EntityForm
      of={form}
      kind={rules}
      meta={meta}
      metaLast
      why={rule.events.length === 0 ? "Choose at least one event." : undefined}
      body={() => rule}
    >
      {(wrong) => (
        <>
          <fieldset className="space-y-1.5">
            <legend className="mb-1 text-sm font-medium">Events</legend>
            {events.map(([event, label]) => (
              <Checkbox
                key={event}
                label={label}
                checked={has(event)}
                disabled={off}
                onChange={(e) =>
                  change({
                    events: e.target.checked ? [...rule.events, event] : rule.events.filter((x) => x !== event),
                  })
                }
              />
            ))}
          </fieldset>
          <Field label="Channel" hint="Of the same scope, or a scope above it." error={wrong("channel")}>
            <Select value={rule.channel} disabled={off} required onChange={(e) => change({ channel: e.target.value })}>
              <option value="">Choose</option>
              {[...new Set([...all, ...(rule.channel ? [rule.channel] : [])])].map((id) => (
                <option key={id} value={id}>
                  {id}
                </option>
              ))}
            </Select>
          </Field>
          <Field label="Only objects with labels" hint="In Kubernetes syntax: team=shop" error={wrong("selector")}>
            <Input value={rule.selector} disabled={off} onChange={(e) => change({ selector: e.target.value })} />
          </Field>
          <Chips
            label="Only services"
            hint="Default: all."
            values={rule.services}
            options={serviceIds}
            disabled={off}
            onChange={(v) => change({ services: v })}
          />
          <Chips
            label="Only environments"
            hint="Default: all."
            values={rule.environments}
            options={environmentIds}
            disabled={off}
            onChange={(v) => change({ environments: v })}
          />
          {(has("drift") || has("agent.disconnected") || has("agent.connected")) && (
            <Field label="Notify after" hint="How long the state has lasted. Default: 1h." error={wrong("after")}>
              <Input
                value={rule.after}
                disabled={off}
                placeholder="1h"
                onChange={(e) => change({ after: e.target.value })}
              />
            </Field>
          )}
          {(has("certificate.expiring") || has("token.expiring")) && (
            <Field label="Notify before expiry" hint="Default: 168h." error={wrong("before")}>
              <Input
                value={rule.before}
                disabled={off}
                placeholder="168h"
                onChange={(e) => change({ before: e.target.value })}
              />
            </Field>
          )}
          <Field
            label="At most once in"
            hint="For the same event of the same object. Default: each time."
            error={wrong("repeat")}
          >
            <Input
              value={rule.repeat}
              disabled={off}
              placeholder="1h"
              onChange={(e) => change({ repeat: e.target.value })}
            />
          </Field>
          <Field label="Template of the first line" hint="Default: the standard one." error={wrong("title")}>
            <Input
              value={rule.title}
              disabled={off}
              className="font-mono"
              placeholder="{{.Name}}: {{.Event}}"
              onChange={(e) => change({ title: e.target.value })}
            />
          </Field>
          <Field label="Template of the text" error={wrong("text")}>
            <Textarea
              value={rule.text}
              disabled={off}
              className="font-mono"
              placeholder="{{.Message}}"
              spellCheck={false}
              onChange={(e) => change({ text: e.target.value })}
            />
          </Field>
          <Checkbox
            label="Paused"
            hint="The rule sends no messages."
            checked={rule.paused}
            disabled={off}
            onChange={(e) => change({ paused: e.target.checked })}
          />
          <Preview body={() => ({ ...metaBody(meta[0]), ...rule })} />
        </>
      )}
    </EntityForm>
  );
}

export function Rules() {
  return (
    <Entities
      kind={rules}
      columns={columns}
      Form={Form}
      warn={(r) => (
        <p>
          {r.id} no longer sends to {r.channel}.
        </p>
      )}
    >
      A rule selects the events and objects that are sent to a channel:{" "}
      <Link to="/notifications" search={{ tab: "channels", open: "new" }} className="text-accent underline">
        make one first
      </Link>
      .
    </Entities>
  );
}
