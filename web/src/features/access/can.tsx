import { queryOptions, useQuery } from "@tanstack/react-query";
import { CircleCheck, CircleX } from "lucide-react";
import { type FormEvent, useState } from "react";
import { client, data } from "@/api/client";
import { ids, useAll } from "@/lib/entity";
import { useAddress } from "@/lib/navigate";
import { queryClient } from "@/lib/query";
import { one, type Search } from "@/lib/search";
import { useMissing, useSession } from "@/lib/session";
import { scopeName, useScopes } from "@/lib/scopes";
import { Button } from "@/ui/button";
import { Field, Input, Select } from "@/ui/field";
import { Card } from "@/ui/page";
import { usePermissions } from "@/ui/permissions";
import { ErrorNote } from "@/ui/states";
import { groups, serviceAccounts, users } from "./kinds";

// What becomes of bindings has it asked again.
const answerKey = ["binding", "can"];

// answerQuery asks what the address says, if it says anything.
function answerQuery(search: Search) {
  const [type = "", id = "", permission = "", scope = "", object = ""] = [
    "type",
    "who",
    "permission",
    "at",
    "object",
  ].map((n) => one(search, n));
  return queryOptions({
    queryKey: [...answerKey, type, id, permission, scope, object],
    enabled: Boolean(type && id && permission),
    staleTime: 0,
    queryFn: () =>
      data(
        client.POST("/api/v1/access/can", {
          body: {
            principal: { type, id },
            permission,
            ...(object ? { object } : { scope: scope || "account" }),
          },
        }),
      ),
  });
}

// Can shows whether a user may do something, and why. The query is in the address: a link repeats it.
export function Can() {
  const me = useSession();
  const [search, set] = useAddress();
  const others = useMissing("binding_view");
  const permissions = usePermissions();
  const scopes = useScopes();
  const [type, setType] = useState(one(search, "type") || me?.principal.type || "user");
  const [who, setWho] = useState(one(search, "who") || me?.principal.id || "");
  const [permission, setPermission] = useState(one(search, "permission") || "application_sync");
  const [scope, setScope] = useState(one(search, "at") || "account");
  const [object, setObject] = useState(one(search, "object"));
  const names = {
    user: ids(useAll(users)),
    group: ids(useAll(groups)),
    serviceaccount: ids(useAll(serviceAccounts)),
  }[type];
  const ask = useQuery(answerQuery(search));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    set({ type, who: who.trim(), permission, at: scope, object: object.trim() });
    // The same question is asked again, too.
    void queryClient.invalidateQueries({ queryKey: answerKey });
  };
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <Card title="Check access">
        <form className="space-y-4" onSubmit={submit}>
          <div className="grid gap-3 sm:grid-cols-[11rem_1fr]">
            <Field label="Kind" hint={others && "You can only check your own access."}>
              <Select value={type} disabled={Boolean(others)} onChange={(e) => setType(e.target.value)}>
                <option value="user">User</option>
                <option value="group">Group</option>
                <option value="serviceaccount">Service account</option>
              </Select>
            </Field>
            <Field label="Who">
              <Input
                list="can-who"
                value={who}
                required
                disabled={Boolean(others)}
                autoComplete="off"
                onChange={(e) => setWho(e.target.value)}
              />
            </Field>
            <datalist id="can-who">
              {(names ?? []).slice(0, 500).map((id) => (
                <option key={id} value={id} />
              ))}
            </datalist>
          </div>
          <Field label="May do">
            <Select value={permission} onChange={(e) => setPermission(e.target.value)}>
              {[...new Set([...permissions, permission])].map((p) => (
                <option key={p} value={p}>
                  {p}
                </option>
              ))}
            </Select>
          </Field>
          <Field
            label="With one object"
            hint="An id, such as account.prod/argocd/shop. Leave it empty to check a scope."
          >
            <Input value={object} autoComplete="off" spellCheck={false} onChange={(e) => setObject(e.target.value)} />
          </Field>
          {!object.trim() && (
            <Field label="With any object in">
              <Select value={scope} onChange={(e) => setScope(e.target.value)}>
                {[...new Set([...scopes, scope])].map((s) => (
                  <option key={s} value={s}>
                    {scopeName(s)}
                  </option>
                ))}
              </Select>
            </Field>
          )}
          <Button type="submit" look="primary" busy={ask.isFetching}>
            Ask
          </Button>
        </form>
      </Card>
      <div role="status" aria-live="polite">
        {ask.error != null && <ErrorNote error={ask.error} />}
        {ask.data && (
          <Card title="Answer">
            <p className="flex items-center gap-2 text-lg font-semibold">
              {ask.data.allowed ? (
                <CircleCheck size={20} aria-hidden className="text-ok" />
              ) : (
                <CircleX size={20} aria-hidden className="text-bad" />
              )}
              {ask.data.allowed ? "Yes" : "No"}
            </p>
            <p className="mt-2 break-words">{ask.data.why}</p>
          </Card>
        )}
      </div>
    </div>
  );
}
