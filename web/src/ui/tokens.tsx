import { Plus, Trash2 } from "lucide-react";
import { useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { useList } from "@/lib/entity";
import { queryClient } from "@/lib/query";
import { Ago } from "./ago";
import { Button, IconButton } from "./button";
import { Confirm } from "./confirm";
import { Field, Input, Select } from "./field";
import { FormDrawer, ScopeField } from "./form";
import { PermissionMatrix } from "./permissions";
import { Secret } from "./secret";
import { Loaded, Loading } from "./states";
import { Badge } from "./status";
import { toast } from "./toast";

type Token = Schemas["Token"];
type Created = Schemas["TokenCreated"];

export interface Owner {
  type: string;
  id: string;
}

const again = () => queryClient.invalidateQueries({ queryKey: ["token"] });

// Tokens are the API tokens of a user or service account: each can do what its owner may, and less where it is limited.
export function Tokens({ owner, mine }: { owner: Owner; mine?: boolean }) {
  const list = useList<Token>("token", "/api/v1/tokens", { owner: owner.id, ownerType: owner.type, limit: 500 });
  const [making, setMaking] = useState(false);
  const [deleting, setDeleting] = useState<Token | null>(null);
  return (
    <section aria-label="API tokens" className="space-y-2">
      <header className="flex items-center justify-between gap-2">
        <h3 className="font-semibold">API tokens</h3>
        <Button small onClick={() => setMaking(true)}>
          <Plus size={14} aria-hidden /> New token
        </Button>
      </header>
      <Loaded query={list.query} loading={<Loading rows={2} />}>
        {(all) =>
          all.length === 0 ? (
            <p className="text-muted">
              No tokens yet. A token lets a program, or the command line, act as {mine ? "you" : owner.id}.
            </p>
          ) : (
            <ul className="max-h-96 divide-y overflow-auto rounded-md border">
              {all.map((token) => (
                <Row key={token.id} token={token} onDelete={() => setDeleting(token)} />
              ))}
            </ul>
          )
        }
      </Loaded>
      {making && <NewToken owner={owner} onClose={() => setMaking(false)} />}
      {deleting && (
        <Confirm
          open
          onClose={() => setDeleting(null)}
          title={`Delete token ${deleting.name}`}
          action={`Delete ${deleting.name}`}
          onConfirm={async () => {
            await data(client.DELETE("/api/v1/tokens/{id}", { params: { path: { id: deleting.id ?? "" } } }));
            await again();
            toast(`Token ${deleting.name} deleted.`);
          }}
        >
          <p>
            It is revoked immediately: programs that use it are refused. It was used last{" "}
            <Ago at={deleting.lastUsedAt} none="never" />.
          </p>
        </Confirm>
      )}
    </section>
  );
}

function Row({ token, onDelete }: { token: Token; onDelete: () => void }) {
  const over = token.expiresAt !== undefined && Date.parse(token.expiresAt) < Date.now();
  const limits = token.permissions ?? [];
  return (
    <li className="flex items-center gap-3 px-3 py-2">
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-center gap-x-2">
          <span className="font-medium">{token.name}</span>
          <code className="text-xs text-muted">{token.id}</code>
          {over && <Badge tone="bad">Ended</Badge>}
        </div>
        <div className="text-sm break-words text-muted">
          ends <Ago at={token.expiresAt} ahead /> · used <Ago at={token.lastUsedAt} /> ·{" "}
          {limits.length > 0 ? limits.join(", ") : "all permissions of its owner"}
          {token.scope && token.scope !== "account" ? ` in ${token.scope}` : ""}
        </div>
      </div>
      <IconButton small label={`Delete token ${token.name}`} onClick={onDelete}>
        <Trash2 size={14} aria-hidden />
      </IconButton>
    </li>
  );
}

const day = 86_400_000;

function NewToken({ owner, onClose }: { owner: Owner; onClose: () => void }) {
  const [name, setName] = useState("");
  const [days, setDays] = useState("30");
  const [scope, setScope] = useState("account");
  const [limited, setLimited] = useState(false);
  const [permissions, setPermissions] = useState<string[]>([]);
  const [made, setMade] = useState<Created | null>(null);
  const submit = async () => {
    const created = await data(
      client.POST("/api/v1/tokens", {
        params: { query: {} },
        body: {
          name: name.trim(),
          owner,
          expiresAt: new Date(Date.now() + Number(days) * day - 60_000).toISOString(),
          ...(scope === "account" ? {} : { scope }),
          ...(limited ? { permissions } : {}),
        },
      }),
    );
    setMade(created);
    void again();
  };
  if (made) {
    return (
      <FormDrawer open onClose={onClose} title={`Token ${made.name}`} description="The secret is shown only once.">
        {() => (
          <div className="space-y-3">
            <Secret label={`Secret of ${made.name}`} value={made.secret} />
            <p className="text-muted">
              Copy it now: the server keeps only a hash of it. Send it as <code>Authorization: Bearer …</code>, or put
              it into <code>SLIPWAY_TOKEN</code>. It ends <Ago at={made.expiresAt} ahead />.
            </p>
          </div>
        )}
      </FormDrawer>
    );
  }
  const none = limited && permissions.length === 0 ? "Choose at least one permission." : undefined;
  return (
    <FormDrawer open onClose={onClose} title="New token" action="Create token" why={none} submit={submit}>
      {(wrong) => (
        <>
          <Field
            label="Name"
            hint="The name of the token: lower-case letters, digits and hyphens."
            error={wrong("name")}
          >
            <Input
              value={name}
              required
              maxLength={63}
              pattern="[a-z0-9]([a-z0-9\-]*[a-z0-9])?"
              title="Lower-case letters, digits and inner hyphens"
              autoComplete="off"
              onChange={(e) => setName(e.target.value)}
            />
          </Field>
          <Field label="Ends in" error={wrong("expiresAt")}>
            <Select value={days} onChange={(e) => setDays(e.target.value)}>
              <option value="1">1 day</option>
              <option value="7">7 days</option>
              <option value="30">30 days</option>
              <option value="90">90 days</option>
              <option value="365">1 year</option>
            </Select>
          </Field>
          <ScopeField value={scope} onChange={setScope} hint="The scope of the token." error={wrong("scope")} />
          <Field label="May" error={wrong("permissions")}>
            <Select value={limited ? "some" : "all"} onChange={(e) => setLimited(e.target.value === "some")}>
              <option value="all">All permissions of its owner</option>
              <option value="some">Selected permissions</option>
            </Select>
          </Field>
          {limited && (
            <PermissionMatrix label="Permissions of the token" value={permissions} onChange={setPermissions} />
          )}
        </>
      )}
    </FormDrawer>
  );
}
