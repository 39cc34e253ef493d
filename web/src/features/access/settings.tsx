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
    <Page title="Settings" about="What counts for the whole server.">
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
    label: "Audit: days that entries are kept",
    hint: "0 keeps them for ever. What goes is always the oldest part.",
    min: 0,
    max: 36_500,
  },
  {
    name: "commandRetentionDays",
    label: "Commands: days that finished ones are kept",
    hint: "What agents were asked to do, and what came of it.",
    min: 1,
    max: 3_650,
  },
  {
    name: "ledgerRetentionDays",
    label: "Ledger: days that entries are kept",
    hint: "0 keeps them for ever. The newest deployment of each application is kept beyond that.",
    min: 0,
    max: 36_500,
  },
  {
    name: "ledgerRetentionGiB",
    label: "Ledger: size in GiB",
    hint: "From this size on the oldest entries go; 0 for no limit.",
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
    <Card title="How long things are kept" className="max-w-2xl">
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
