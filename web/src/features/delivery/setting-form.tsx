import { Link } from "@tanstack/react-router";
import { PlugZap } from "lucide-react";
import { type FormEvent, useRef, useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { finished } from "@/lib/command";
import { isBeside } from "@/lib/engine";
import { useChoices } from "@/lib/entity";
import { agents } from "@/lib/kinds";
import { queryClient } from "@/lib/query";
import { sealFields, trusts } from "@/lib/seal";
import { useSession } from "@/lib/session";
import { Button } from "@/ui/button";
import { Checkbox, Field, focusWrong, Input, Select } from "@/ui/field";
import { ErrorNote, Loaded, NoneYet, NoPermission } from "@/ui/states";
import { toast } from "@/ui/toast";
import { placeOf } from "./items";
import { divide, type Kind, nameOf, type SettingItem, settingOf, shownFields, wrong } from "./setting";
import { Control } from "./setting-control";
import { Found } from "./setting-test";

type Values = Record<string, string>;

const otherKey =
  "The key of this agent has changed: either the agent was installed again, or the connection may be intercepted. Ask the agent's administrator before you continue.";

// SettingForm makes or changes a setting of an agent. What is secret is sealed here, to the agent's key: the server passes on
// what it cannot read.
export function SettingForm({ kind, item, onDone }: { kind: Kind; item?: SettingItem; onDone: () => void }) {
  const { missing, query: all } = useChoices(agents);
  if (missing) {
    return (
      <NoPermission why={`Credentials are stored in the cluster of an agent, and you may view none. ${missing}`} />
    );
  }
  return (
    <Loaded query={all}>
      {(list) => {
        const usable = list.filter((a) => a.sealKey);
        return usable.length === 0 ? (
          <NoneYet
            many="connected agents"
            permission="agent_view"
            title="No agent is connected yet"
            action={
              <Button asChild look="primary">
                <Link to="/agents/connect">Connect an agent</Link>
              </Button>
            }
          >
            Credentials are stored in the cluster of an agent. Connect one first.
          </NoneYet>
        ) : (
          <Form kind={kind} item={item} agents={usable} onDone={onDone} />
        );
      }}
    </Loaded>
  );
}

interface FormProps {
  kind: Kind;
  item: SettingItem | undefined;
  agents: Schemas["Agent"][];
  onDone: () => void;
}

function Form({ kind, item, agents, onDone }: FormProps) {
  const old = item && settingOf(item);
  const [agentID, setAgentID] = useState(item?.agent ?? agents[0]?.id ?? "");
  const [values, setValues] = useState<Values>(() => ({ ...old?.fields }));
  const [name, setName] = useState<string>();
  const form = useRef<HTMLFormElement>(null);
  const [tried, setTried] = useState(false);
  const [busy, setBusy] = useState<"save" | "test">();
  const [error, setError] = useState<unknown>(null);
  const [found, setFound] = useState<Schemas["SettingTest"]>();
  // other is true where the agent's key is another one than this browser has sealed to before.
  const [other, setOther] = useState(false);
  const [accept, setAccept] = useState(false);
  const problems = wrong(kind, values);
  const agent = agents.find((a) => a.id === agentID);
  const beside = isBeside(agent);
  const called = item?.name ?? name ?? nameOf(kind, values);
  const set = (field: string, value: string) => {
    setFound(undefined);
    setValues((v) => ({ ...v, [field]: value }));
  };
  const who = useSession();
  const body = async (what: "save" | "test"): Promise<Schemas["SettingWrite"]> => {
    const { fields, secrets } = divide(kind, values, beside);
    if (Object.keys(secrets).length > 0 && !trusts(agent?.uid ?? "", agent?.sealKey ?? "", accept)) {
      setOther(true);
      throw new Error(otherKey);
    }
    const sealed =
      Object.keys(secrets).length > 0
        ? sealFields(agent?.sealKey, secrets, {
            agent: agent?.uid ?? "",
            verb: what === "test" ? "settings.test" : "settings.apply",
            type: kind.type,
            name: called,
            project: fields.project ?? item?.argoProject ?? "",
            actor: who ? `${who.principal.type}:${who.principal.id}` : "",
            open: fields,
          })
        : undefined;
    return { name: called, fields, ...(sealed ? { sealed } : {}), ...(old?.version ? { version: old.version } : {}) };
  };
  const run = async (what: "save" | "test") => {
    setTried(true);
    if (Object.keys(problems).length > 0) {
      focusWrong(form.current);
      return;
    }
    setBusy(what);
    setError(null);
    setFound(undefined);
    try {
      if (what === "test") {
        const noun = kind.noun as "repositories" | "clusters"; // the kinds that have tests
        const params = { path: { agent: agentID } };
        setFound(await data(client.POST(`/api/v1/agents/{agent}/${noun}/test`, { params, body: await body(what) })));
        return;
      }
      finished(
        item
          ? await data(
              client.PUT(`/api/v1/agents/{agent}/${kind.noun}/{namespace}/{name}`, {
                params: { path: placeOf(item) },
                body: await body(what),
              }),
            )
          : await data(
              client.POST(`/api/v1/agents/{agent}/${kind.noun}`, {
                params: { path: { agent: agentID } },
                body: await body(what),
              }),
            ),
      );
      toast(item ? `The ${kind.called} was changed` : `The ${kind.called} was added`, values[kind.title]);
      void queryClient.invalidateQueries({ queryKey: [kind.event] });
      onDone();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(undefined);
    }
  };
  return (
    <form
      ref={form}
      className="space-y-4 p-4"
      noValidate
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        void run("save");
      }}
    >
      <Field label="Agent" hint="The credentials are stored only in its cluster.">
        <Select value={agentID} disabled={Boolean(item)} onChange={(e) => setAgentID(e.target.value)}>
          {agents.map((a) => (
            <option key={a.id} value={a.id}>
              {a.displayName || a.name} ({a.id})
            </option>
          ))}
        </Select>
      </Field>
      {shownFields(kind, values, beside).map((f) => (
        <Control
          key={f.name}
          field={f}
          value={values[f.name] ?? ""}
          kept={Boolean(old?.secrets?.includes(f.name))}
          disabled={Boolean(item && f.fixed)}
          error={tried ? problems[f.name] : undefined}
          onChange={(v) => set(f.name, v)}
        />
      ))}
      {!item && (
        <Field label="Name" hint="Of the Secret or entry in the agent's cluster">
          <Input value={called} onChange={(e) => setName(e.target.value)} spellCheck={false} />
        </Field>
      )}
      {found && <Found test={found} kind={kind} />}
      {error != null && <ErrorNote error={error} />}
      {other && (
        <Checkbox
          label="The agent was installed again: use its new key"
          checked={accept}
          onChange={(e) => setAccept(e.target.checked)}
        />
      )}
      <div className="flex flex-wrap gap-2">
        <Button type="submit" look="primary" busy={busy === "save"}>
          {item ? "Save" : `Add ${kind.called}`}
        </Button>
        {kind.tests && (
          <Button busy={busy === "test"} onClick={() => void run("test")}>
            <PlugZap size={14} aria-hidden />
            Test the connection
          </Button>
        )}
      </div>
    </form>
  );
}

// methodOf is which way to sign in a setting's fields and secrets stand for.
export function methodOf(fields: Values, secrets: string[]): string {
  const has = (name: string) => secrets.includes(name);
  return has("sshPrivateKey")
    ? "SSH key"
    : has("bearerToken")
      ? "bearer token"
      : has("githubAppPrivateKey") || fields.githubAppID
        ? "GitHub App"
        : has("gcpServiceAccountKey")
          ? "service account of Google Cloud"
          : has("azureServicePrincipalClientSecret")
            ? "Azure service principal"
            : fields.useAzureWorkloadIdentity === "true" || fields.workloadIdentity
              ? "workload identity"
              : has("tlsClientCertKey")
                ? "client certificate"
                : has("password")
                  ? "password or token"
                  : has("config")
                    ? "credentials"
                    : "none";
}
