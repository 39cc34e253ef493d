import { useMutation } from "@tanstack/react-query";
import { useState } from "react";
import { client, data } from "@/api/client";
import { InputError } from "@/lib/input";
import { readLabels, writeLabels } from "@/lib/labels";
import { webLink } from "@/lib/links";
import { Button } from "@/ui/button";
import { described, named, scoped } from "@/ui/columns";
import { Entities } from "@/ui/entities";
import { EntityForm, type FormProps } from "@/ui/entity-form";
import { Field, Input, Select, Textarea } from "@/ui/field";
import { useMeta } from "@/ui/meta";
import { ErrorNote } from "@/ui/states";
import type { Column } from "@/ui/table";
import { type Channel, channels, services } from "./kinds";

const columns: Column<Channel>[] = [
  named(),
  { key: "kind", title: "Sends to", width: "10rem", cell: (c) => services[c.kind]?.label ?? c.kind },
  scoped(),
  {
    key: "secret",
    title: "File of the secret",
    width: "minmax(10rem,1fr)",
    cell: (c) => (
      <code>
        {c.scope}.{c.secret}
      </code>
    ),
  },
  described(),
];

function Test({ channel, why }: { channel: string; why: string | undefined }) {
  const test = useMutation({
    mutationFn: () =>
      data(client.POST("/api/v1/notification-channels/{id}/test", { params: { path: { id: channel } } })),
  });
  return (
    <section aria-label="Test" className="space-y-2">
      <Button busy={test.isPending} why={why} onClick={() => test.mutate()}>
        Send a test message
      </Button>
      <div role="status" aria-live="polite">
        {test.error != null && <ErrorNote error={test.error} />}
        {test.data?.sent && <p className="text-ok">The receiver accepted it.</p>}
        {test.data && !test.data.sent && (
          <div className="rounded-md bg-bad-soft px-3 py-2">
            <p className="font-medium">It was not sent.</p>
            <p className="break-words">{test.data.message}</p>
          </div>
        )}
      </div>
    </section>
  );
}

function Form(form: FormProps<Channel>) {
  const { value, readOnly } = form;
  const meta = useMeta(value);
  const [{ scope }] = meta;
  const [kind, setKind] = useState<string>(value?.kind ?? "slack");
  const [secret, setSecret] = useState(value?.secret ?? "");
  const [url, setURL] = useState(value?.url ?? "");
  const [options, setOptions] = useState(writeLabels(value?.options));
  const off = Boolean(readOnly);
  const service = services[kind];
  const body = () => {
    const read = readLabels(options);
    if (typeof read === "string") {
      throw new InputError(read.replace("label", "option"));
    }
    if (kind === "webhook" && !webLink(url)) {
      throw new InputError("Invalid address of the webhook. Enter https://HOST/PATH.");
    }
    return {
      kind,
      secret: secret.trim(),
      ...(kind === "webhook" ? { url: url.trim() } : {}),
      options: read,
    };
  };
  return (
    <EntityForm of={form} kind={channels} meta={meta} metaLast body={body}>
      {(wrong) => (
        <>
          <Field label="Sends to" error={wrong("kind")}>
            <Select value={kind} disabled={off} onChange={(e) => setKind(e.target.value)}>
              {Object.entries(services).map(([name, { label }]) => (
                <option key={name} value={name}>
                  {label}
                </option>
              ))}
            </Select>
          </Field>
          <Field
            label="Name of the secret"
            hint={`Its file is ${scope}.${secret || "NAME"} in the directory of the server's --notify-secrets. It holds: ${service?.secret ?? ""} The server never shows or stores it.`}
            error={wrong("secret")}
          >
            <Input
              value={secret}
              disabled={off}
              required
              maxLength={63}
              placeholder="slack-prod"
              autoComplete="off"
              spellCheck={false}
              onChange={(e) => setSecret(e.target.value)}
            />
          </Field>
          {kind === "webhook" && (
            <Field label="Address" hint="https, and without credentials." error={wrong("url")}>
              <Input type="url" value={url} disabled={off} required onChange={(e) => setURL(e.target.value)} />
            </Field>
          )}
          {(service?.options.length ?? 0) > 0 && (
            <Field
              label="Options"
              hint={`One name=value per line: ${service?.options.join(", ")}.`}
              error={wrong("options")}
            >
              <Textarea
                className="min-h-14 font-mono"
                value={options}
                disabled={off}
                spellCheck={false}
                onChange={(e) => setOptions(e.target.value)}
              />
            </Field>
          )}
          {value?.id && <Test channel={value.id} why={readOnly} />}
        </>
      )}
    </EntityForm>
  );
}

export function Channels() {
  return (
    <Entities
      kind={channels}
      columns={columns}
      Form={Form}
      warn={(c) => <p>{c.id} no longer receives messages. Delete the rules that use it first, or together with it.</p>}
    >
      A channel is a receiver of messages: a chat, mail, a pager, or your own webhook.
    </Entities>
  );
}
