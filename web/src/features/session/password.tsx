import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { client, data } from "@/api/client";
import { queryClient } from "@/lib/query";
import { Button } from "@/ui/button";
import { PasswordFields, usePasswords } from "@/ui/password";
import { ErrorNote } from "@/ui/states";

// ChoosePassword is for users who signed in with a password that they did not choose: nothing else works before.
export function ChoosePassword({ to }: { to: string }) {
  const passwords = usePasswords();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const navigate = useNavigate();
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (!passwords.ok) {
      return;
    }
    setBusy(true);
    setError(null);
    try {
      await data(
        client.POST("/api/v1/session/password", { body: { current: passwords.current, new: passwords.next } }),
      );
      queryClient.clear();
      await navigate({ href: to });
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form className="space-y-3" onSubmit={(event) => void submit(event)}>
      <p>Your password was set for you: choose your own to continue.</p>
      <PasswordFields passwords={passwords} />
      {error != null && <ErrorNote error={error} />}
      <Button type="submit" look="primary" busy={busy} className="w-full">
        Change password and continue
      </Button>
    </form>
  );
}
