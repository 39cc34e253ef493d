import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError, client, data, type Schemas } from "@/api/client";
import { queryClient } from "@/lib/query";
import { useMissing } from "@/lib/session";
import { Button } from "@/ui/button";
import { Field, Input } from "@/ui/field";
import { wrongOf } from "@/ui/form";
import { Card, Page } from "@/ui/page";
import { ErrorNote, Loaded, NoPermission } from "@/ui/states";
import { toast } from "@/ui/toast";

type Settings = Schemas["Settings"];

const key = ["setting"];

export default function SettingsPage() {
  const missing = useMissing("setting_view");
  const settings = useQuery({
    queryKey: key,
    enabled: !missing,
    queryFn: () => data(client.GET("/api/v1/settings")),
  });
  const [reads, setReads] = useState(0);
  return (
    <Page title="Settings" about="Settings of the whole server.">
      {missing ? (
        <NoPermission why={missing} />
      ) : (
        <Loaded query={settings}>
          {(value) => (
            <Form key={reads} value={value} onReload={() => void settings.refetch().then(() => setReads(reads + 1))} />
          )}
        </Loaded>
      )}
    </Page>
  );
}

const fields = [
  {
    name: "auditRetentionDays",
    label: "Audit log: retention in days",
    hint: "0 for no limit. The server deletes the oldest entries first.",
    min: 0,
    max: 36_500,
  },
  {
    name: "commandRetentionDays",
    label: "Commands: retention of finished ones in days",
    hint: "Requests to agents, and their results.",
    min: 1,
    max: 3_650,
  },
  {
    name: "ledgerRetentionDays",
    label: "Ledger: retention in days",
    hint: "0 for no limit. The newest deployment of each application is kept longer.",
    min: 0,
    max: 36_500,
  },
  {
    name: "ledgerRetentionGiB",
    label: "Ledger: maximum size in GiB",
    hint: "Above this size, the server deletes the oldest entries. 0 for no limit.",
    min: 0,
    max: 100_000,
  },
] as const;

type Name = (typeof fields)[number]["name"];

function Form({ value, onReload }: { value: Settings; onReload: () => void }) {
  const missing = useMissing("setting_edit");
  const [first] = useState(value);
  const [text, setText] = useState<Record<Name, string>>(() => ({
    auditRetentionDays: String(value.auditRetentionDays),
    commandRetentionDays: String(value.commandRetentionDays),
    ledgerRetentionDays: String(value.ledgerRetentionDays ?? 0),
    ledgerRetentionGiB: String(value.ledgerRetentionGiB ?? 0),
  }));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const wrong = wrongOf(error);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (missing) {
      return;
    }
    setBusy(true);
    setError(null);
    try {
      const numbers = Object.fromEntries(Object.entries(text).map(([k, v]) => [k, Number(v)])) as Record<Name, number>;
      const after = await data(client.PUT("/api/v1/settings", { body: { ...numbers, version: first.version } }));
      queryClient.setQueryData(key, after);
      toast("Settings changed.");
      onReload();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title="Retention" className="max-w-2xl">
      <form className="space-y-4" onSubmit={(event) => void submit(event)}>
        {fields.map((f) => (
          <Field key={f.name} label={f.label} hint={f.hint} error={wrong(f.name)}>
            <Input
              type="number"
              inputMode="numeric"
              required
              min={f.min}
              max={f.max}
              value={text[f.name]}
              disabled={Boolean(missing)}
              onChange={(e) => setText({ ...text, [f.name]: e.target.value })}
              className="max-w-40"
            />
          </Field>
        ))}
        {error != null && <ErrorNote error={error} />}
        <div className="flex gap-2">
          <Button type="submit" look="primary" busy={busy} why={missing}>
            Save
          </Button>
          {error instanceof ApiError && error.status === 409 && (
            <Button
              onClick={() => {
                setError(null);
                onReload();
              }}
            >
              Load them again
            </Button>
          )}
        </div>
      </form>
    </Card>
  );
}
