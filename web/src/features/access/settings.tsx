import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { ApiError, client, data, type Schemas } from "@/api/client";
import { infoQuery } from "@/lib/info";
import { queryClient } from "@/lib/query";
import { useMissing } from "@/lib/session";
import { Button } from "@/ui/button";
import { wrongOf } from "@/ui/form";
import { Card, Page } from "@/ui/page";
import { ErrorNote, Loaded, NoPermission } from "@/ui/states";
import { toast } from "@/ui/toast";
import { BadgeFields, BannerFields, type Part, type Time, TimeFields } from "./settings-fields";

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

function Form({ value, onReload }: { value: Settings; onReload: () => void }) {
  const missing = useMissing("setting_edit");
  const [next, setNext] = useState(value);
  const [text, setText] = useState<Record<Time, string>>(() => ({
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
      const numbers = Object.fromEntries(Object.entries(text).map(([k, v]) => [k, Number(v)])) as Record<Time, number>;
      const after = await data(client.PUT("/api/v1/settings", { body: { ...next, ...numbers } }));
      queryClient.setQueryData(key, after);
      void queryClient.invalidateQueries({ queryKey: infoQuery.queryKey });
      toast("Settings changed.");
      onReload();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const part: Part = {
    value: next,
    change: (some) => setNext({ ...next, ...some }),
    disabled: Boolean(missing),
    wrong,
  };
  return (
    <form className="max-w-2xl space-y-4" onSubmit={(event) => void submit(event)}>
      <Card title="Banner">
        <BannerFields {...part} />
      </Card>
      <Card title="Applications">
        <BadgeFields {...part} />
      </Card>
      <Card title="Retention">
        <TimeFields text={text} onText={setText} disabled={part.disabled} wrong={wrong} />
      </Card>
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
  );
}
