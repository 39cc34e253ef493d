import { type FormEvent, useState } from "react";
import { client, data } from "@/api/client";
import { queryClient } from "@/lib/query";
import { scopeName } from "@/lib/scopes";
import { useSession, type Whoami } from "@/lib/session";
import { setTheme, type Theme, useTheme } from "@/lib/theme";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Checkbox } from "@/ui/field";
import { Card, Facts, Page } from "@/ui/page";
import { PasswordFields, usePasswords } from "@/ui/password";
import { PermissionMatrix } from "@/ui/permissions";
import { ErrorNote, Loading } from "@/ui/states";
import { Badge } from "@/ui/status";
import { toast } from "@/ui/toast";
import { Tokens } from "@/ui/tokens";

export default function Profile() {
  const who = useSession();
  if (!who) {
    return (
      <Page title="Profile">
        <Loading />
      </Page>
    );
  }
  return (
    <Page title="Profile" about="Your account and permissions.">
      <div className="grid items-start gap-4 lg:grid-cols-2">
        <div className="min-w-0 space-y-4">
          <Card title="You">
            <Facts
              facts={[
                ["Name", who.user?.displayName || who.principal.id],
                ["Signed in as", who.principal.id],
                ["Mail", who.user?.email || "none"],
                ["Signs in with", who.user?.origin === "oidc" ? "the identity provider" : "a password"],
                ["Groups", (who.groups ?? []).join(", ") || "none"],
                ["Session ends", <Ago key="e" at={who.expiresAt} ahead />],
              ]}
            />
          </Card>
          <Look />
          {who.user && who.user.origin !== "oidc" && <Password />}
        </div>
        <div className="min-w-0 space-y-4">
          <Card>
            <Tokens owner={who.principal} mine />
          </Card>
          <Grants who={who} />
        </div>
      </div>
    </Page>
  );
}

const themes: [Theme, string][] = [
  ["light", "Light"],
  ["dark", "Dark"],
  ["system", "As the system"],
];

function Look() {
  const theme = useTheme();
  return (
    <Card title="Theme">
      <fieldset className="flex flex-wrap gap-4">
        <legend className="sr-only">Theme</legend>
        {themes.map(([value, label]) => (
          <label key={value} className="flex items-center gap-2">
            <input
              type="radio"
              name="theme"
              className="size-4 accent-accent"
              checked={theme === value}
              onChange={() => setTheme(value)}
            />
            {label}
          </label>
        ))}
      </fieldset>
    </Card>
  );
}

function Password() {
  const passwords = usePasswords();
  const [end, setEnd] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!passwords.ok) {
      return;
    }
    setBusy(true);
    setError(null);
    try {
      await data(
        client.POST("/api/v1/session/password", {
          body: { current: passwords.current, new: passwords.next, ...(end ? { endTokens: true } : {}) },
        }),
      );
      passwords.clear();
      toast("Password changed.", "All your other sessions have ended.");
      void queryClient.invalidateQueries({ queryKey: ["token"] });
      void queryClient.invalidateQueries({ queryKey: ["session"] });
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Card title="Password">
      <form className="max-w-md space-y-3" onSubmit={(event) => void submit(event)}>
        <PasswordFields passwords={passwords} />
        <Checkbox
          label="End my API tokens as well"
          hint="Use this if your password may have leaked. All other sessions end in any case."
          checked={end}
          onChange={(e) => setEnd(e.target.checked)}
        />
        {error != null && <ErrorNote error={error} />}
        <Button type="submit" look="primary" busy={busy}>
          Change password
        </Button>
      </form>
    </Card>
  );
}

function Grants({ who }: { who: Whoami }) {
  return (
    <Card title="Permissions">
      {(who.grants ?? []).length === 0 ? (
        <p className="text-muted">Nothing yet: ask an administrator to give you a role.</p>
      ) : (
        <ul className="space-y-2">
          {(who.grants ?? []).map((grant, i) => (
            <li key={i} className="rounded-md border">
              <details>
                <summary className="cursor-pointer px-3 py-2">
                  <span className="font-medium">{scopeName(grant.scope)}</span>{" "}
                  <span className="text-muted">
                    {grant.role ? `role ${grant.role}` : `${grant.permissions?.length ?? 0} permissions`}
                    {grant.binding && ` by binding ${grant.binding}`}
                  </span>{" "}
                  {grant.partial && <Badge tone="held">Some objects only</Badge>}
                </summary>
                <div className="p-3 pt-0">
                  <PermissionMatrix
                    label={`Permissions: ${grant.binding || grant.scope}`}
                    value={grant.permissions ?? []}
                  />
                </div>
              </details>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
