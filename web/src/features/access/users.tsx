import { useState } from "react";
import { client, data } from "@/api/client";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { named } from "@/ui/columns";
import { Confirm } from "@/ui/confirm";
import { Dialog } from "@/ui/dialog";
import { Entities } from "@/ui/entities";
import { EntityForm, type FormProps } from "@/ui/entity-form";
import { Checkbox, Field, Input } from "@/ui/field";
import { useMeta } from "@/ui/meta";
import { Facts } from "@/ui/page";
import { Secret } from "@/ui/secret";
import { Badge } from "@/ui/status";
import type { Column } from "@/ui/table";
import { type User, users } from "./kinds";

const userColumns: Column<User>[] = [
  named(),
  { key: "email", title: "Mail", width: "minmax(10rem,1fr)", cell: (u) => u.email },
  { key: "groups", title: "Groups", width: "minmax(10rem,1fr)", cell: (u) => (u.groups ?? []).join(", ") },
  {
    key: "state",
    title: "State",
    width: "12rem",
    cell: (u) =>
      u.disabled ? (
        <Badge tone="bad">Disabled</Badge>
      ) : u.lockedUntil && Date.parse(u.lockedUntil) > Date.now() ? (
        <Badge tone="warn">Locked</Badge>
      ) : u.mustChangePassword ? (
        <Badge tone="held">Must change the password</Badge>
      ) : (
        <Badge tone="ok">Active</Badge>
      ),
  },
  {
    key: "origin",
    title: "Signs in with",
    width: "9rem",
    cell: (u) => (u.origin === "oidc" ? "Provider" : "Password"),
  },
  { key: "last", title: "Last sign-in", width: "9.5rem", cell: (u) => <Ago at={u.lastSignInAt} /> },
];

function UserForm(form: FormProps<User>) {
  const { value, onClose, readOnly } = form;
  const meta = useMeta(value);
  const [email, setEmail] = useState(value?.email ?? "");
  const [password, setPassword] = useState("");
  const [disabled, setDisabled] = useState(Boolean(value?.disabled));
  const [said, setSaid] = useState("");
  const [resetting, setResetting] = useState(false);
  const body = () => ({
    email: email.trim(),
    disabled,
    ...(!value && password ? { password } : {}),
  });
  if (said) {
    return <Said name={meta[0].name} password={said} onClose={onClose} />;
  }
  return (
    <EntityForm
      of={form}
      kind={users}
      meta={meta}
      scoped={false}
      body={body}
      onSaved={(saved: User & { password?: string }) => {
        if (saved.password) {
          setSaid(saved.password);
        } else {
          onClose();
        }
      }}
      more={
        value?.origin !== "oidc" && (
          <Button onClick={() => setResetting(true)} why={readOnly}>
            Reset password
          </Button>
        )
      }
    >
      {(wrong) => (
        <>
          <Field label="Mail" error={wrong("email")}>
            <Input type="email" value={email} disabled={Boolean(readOnly)} onChange={(e) => setEmail(e.target.value)} />
          </Field>
          {!value && (
            <Field
              label="First password"
              hint="At least 12 characters, to be changed at the first sign-in. If empty, the server generates one and shows it only once."
              error={wrong("password")}
            >
              <Input
                type="password"
                autoComplete="new-password"
                minLength={12}
                value={password}
                onChange={(e) => setPassword(e.target.value)}
              />
            </Field>
          )}
          {value && (
            <Checkbox
              label="Disabled"
              hint="The user cannot sign in, sessions end, and tokens are invalid while this is set."
              checked={disabled}
              disabled={Boolean(readOnly)}
              onChange={(e) => setDisabled(e.target.checked)}
            />
          )}
          {value && (
            <Facts
              facts={[
                ["Groups", (value.groups ?? []).join(", ") || "none"],
                ["Signs in with", value.origin === "oidc" ? "the identity provider" : "a password"],
                ["Last sign-in", <Ago key="l" at={value.lastSignInAt} />],
                ["Created", <Ago key="c" at={value.createdAt} />],
              ]}
            />
          )}
          {resetting && value && (
            <Confirm
              open
              onClose={() => setResetting(false)}
              title={`Reset the password of ${value.name}`}
              action="Reset password"
              onConfirm={async () => {
                const got = await data(
                  client.POST("/api/v1/users/{id}/password", { params: { path: { id: value.id ?? "" } } }),
                );
                setSaid(got.password);
              }}
            >
              <p>
                All sessions and API tokens of {value.name} end immediately. The new password is shown only once, and
                must be changed at the next sign-in.
              </p>
            </Confirm>
          )}
        </>
      )}
    </EntityForm>
  );
}

function Said({ name, password, onClose }: { name: string; password: string; onClose: () => void }) {
  return (
    <Dialog
      open
      onClose={onClose}
      title={`Password of ${name}`}
      description="This password is shown only once. Send it over a secure channel. The user chooses a new one at the next sign-in."
      footer={
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      }
    >
      <Secret label={`Password of ${name}`} value={password} />
    </Dialog>
  );
}

export function Users() {
  return (
    <Entities
      kind={users}
      columns={userColumns}
      Form={UserForm}
      warn={(u) => (
        <p>
          {u.name} cannot sign in any more; their sessions, tokens and memberships go. What they did stays in the audit.
        </p>
      )}
    >
      People sign in as users. Users of an identity provider appear at their first sign-in.
    </Entities>
  );
}
