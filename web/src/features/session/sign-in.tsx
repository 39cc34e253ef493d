import { useQuery } from "@tanstack/react-query";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { client, data } from "@/api/client";
import { queryClient } from "@/lib/query";
import { sessionQuery } from "@/lib/session";
import { one } from "@/lib/search";
import { Button } from "@/ui/button";
import { Field, Input } from "@/ui/field";
import { localPath } from "./path";
import { ChoosePassword } from "./password";
import { useTitle } from "@/ui/page";
import { ErrorNote, Loaded } from "@/ui/states";

export default function SignIn() {
  useTitle("Sign in");
  const to = localPath(one(useSearch({ strict: false }), "to"));
  const methods = useQuery({ queryKey: ["methods"], queryFn: () => data(client.GET("/api/v1/session/methods")) });
  // Only what is known already: most visitors of this page are not signed in yet.
  const session = useQuery({ ...sessionQuery, enabled: false });
  const choose = Boolean(session.data?.user?.mustChangePassword);
  return (
    <main className="grid min-h-dvh place-items-center p-4">
      <div className="w-full max-w-sm rounded-lg border bg-surface p-6 shadow-sm">
        <h1 className="mb-5 flex items-center gap-2.5 text-xl font-semibold">
          <img src="/favicon.svg" alt="" width={28} height={28} />
          {choose ? "Choose your password" : "Sign in to Slipway"}
        </h1>
        {choose ? (
          <ChoosePassword to={to} />
        ) : (
          <Loaded query={methods}>
            {(m) => (
              <div className="space-y-4">
                {m.oidc && (
                  <Button look="primary" asChild className="w-full">
                    <a href={`${m.oidc}?returnTo=${encodeURIComponent(to)}`}>
                      Sign in with {m.oidcName || "your identity provider"}
                    </a>
                  </Button>
                )}
                {m.password && <Password to={to} plain={Boolean(m.oidc)} />}
              </div>
            )}
          </Loaded>
        )}
      </div>
    </main>
  );
}

function Password({ to, plain }: { to: string; plain: boolean }) {
  const [username, setUsername] = useState("");
  const [password, setPassword] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const navigate = useNavigate();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await data(client.POST("/api/v1/session", { body: { username, password } }));
      // What was read as another user is dropped. What this page shows stays: it would not hear of the session that begins.
      queryClient.removeQueries({ predicate: (q) => q.getObserversCount() === 0 });
      const who = await queryClient.fetchQuery({ ...sessionQuery, staleTime: 0 });
      if (!who?.user?.mustChangePassword) {
        await navigate({ href: to });
      }
    } catch (problem) {
      setError(problem);
      setPassword("");
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="space-y-3" onSubmit={(event) => void submit(event)}>
      <Field label="User name">
        <Input
          name="username"
          autoComplete="username"
          autoFocus
          required
          value={username}
          onChange={(e) => setUsername(e.target.value)}
        />
      </Field>
      <Field label="Password">
        <Input
          name="password"
          type="password"
          autoComplete="current-password"
          required
          value={password}
          onChange={(e) => setPassword(e.target.value)}
        />
      </Field>
      {error != null && <ErrorNote error={error} />}
      <Button type="submit" look={plain ? "plain" : "primary"} busy={busy} className="w-full">
        Sign in
      </Button>
    </form>
  );
}
