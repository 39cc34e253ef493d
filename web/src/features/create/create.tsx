import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { Eye, Plus } from "lucide-react";
import { useDeferredValue, useMemo, useRef, useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { finished } from "@/lib/command";
import { checkQuery } from "@/lib/browse";
import { begin, change, type Draft, get, lacking, lineOf, read, resource, standing } from "@/lib/draft";
import { useChoices } from "@/lib/entity";
import { agents } from "@/lib/kinds";
import { type Preview, preview } from "@/lib/preview";
import { queryClient } from "@/lib/query";
import { useMissing } from "@/lib/session";
import { violations } from "@/lib/schema";
import { useSettled } from "@/lib/settled";
import { AppForm } from "@/ui/app-form/app-form";
import { Button } from "@/ui/button";
import { Code } from "@/ui/code";
import { Field, focusWrong, Select } from "@/ui/field";
import { Card, Page } from "@/ui/page";
import { PreviewCard } from "@/ui/preview";
import { ErrorNote, Loaded, NoneYet, NoPermission } from "@/ui/states";
import { toast } from "@/ui/toast";

// CreateApplication makes an Application: a form and its YAML side by side, checked while one writes, with a preview of what
// would be deployed.
export default function CreateApplication() {
  const { missing, query: all } = useChoices(agents);
  return (
    <Page title="Create an application" about="Preview the deployment before anything is written.">
      {missing ? (
        <NoPermission why={`An agent must deploy it, and you may view none. ${missing}`} />
      ) : (
        <Loaded query={all}>
          {(list) =>
            list.length === 0 ? (
              <NoneYet
                many="agents"
                permission="agent_view"
                title="No agent can deploy it"
                action={
                  <Button look="primary" asChild>
                    <Link to="/agents/connect">Connect an agent</Link>
                  </Button>
                }
              >
                An agent in a cluster keeps applications in sync with Git.
              </NoneYet>
            ) : (
              <Editor agents={list} />
            )
          }
        </Loaded>
      )}
    </Page>
  );
}

function Editor({ agents }: { agents: Schemas["Agent"][] }) {
  const [agent, setAgent] = useState(agents[0]?.id ?? "");
  const of = agents.find((a) => a.id === agent);
  const missing = useMissing("application_edit", of?.scope);
  const [draft, setDraft] = useState<Draft>(() =>
    change(read(begin), ["metadata", "namespace"], of?.status?.namespace || "argocd"),
  );
  const [touched, setTouched] = useState(false);
  const [busy, setBusy] = useState<"preview" | "create">();
  const [error, setError] = useState<unknown>(null);
  const [shown, setShown] = useState<{ text: string; preview: Preview }>();
  const navigate = useNavigate();
  const settled = useSettled(draft, 250);
  const wanted = useMemo(() => safely(settled), [settled]);
  const form = useRef<HTMLDivElement>(null);
  // tried is true once it was sent with fields missing: until then only the name is asked for.
  const [tried, setTried] = useState(false);
  // Without a name there is no Application to ask about.
  const named = !lacking(settled).some((p) => p.field === "metadata.name");
  const check = useQuery(checkQuery(agent, wanted, touched && named && wanted !== undefined && !missing));
  const checked = useDeferredValue(touched && named ? check.data : undefined);
  const found = standing(checked?.problems ?? [], checked?.of, draft);
  const lacks = lacking(draft);
  const asked = tried ? lacks : lacks.filter((p) => touched && p.field === "metadata.name");
  const shape = useMemo(() => violations(settled), [settled]);
  const known = [...asked, ...(settled === draft ? shape : [])];
  const problems = [...known, ...found.filter((p) => !known.some((l) => l.field === p.field))];
  const edit = (next: Draft) => {
    setTouched(true);
    setError(null);
    setDraft(next);
  };
  const run = async (what: "preview" | "create") => {
    setTouched(true);
    if (lacks.length > 0) {
      setTried(true);
      focusWrong(form.current);
      return;
    }
    setBusy(what);
    setError(null);
    try {
      if (what === "preview") {
        setShown({ text: draft.text, preview: await preview(agent, { resource: resource(draft) }) });
        return;
      }
      finished(
        await data(
          client.POST("/api/v1/agents/{agent}/applications", {
            params: { path: { agent }, query: {} },
            body: { resource: resource(draft) },
          }),
        ),
      );
      const name = get(draft, ["metadata", "name"]);
      toast(`The application ${name} was created`);
      void queryClient.invalidateQueries({ queryKey: ["application"] });
      await navigate({
        to: "/applications/$agent/$namespace/$name",
        params: { agent, namespace: get(draft, ["metadata", "namespace"]), name },
      });
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(undefined);
    }
  };
  const marks: { line: number; message: string; level?: "error" | "warning" }[] = [
    ...(draft.problem ? [draft.problem] : []),
    ...problems.map((p) => ({ line: lineOf(draft, p.field), message: `${p.field}: ${p.message}`, level: p.level })),
  ];
  return (
    <>
      <div ref={form} className="grid gap-4 xl:grid-cols-2">
        <Card title="Form">
          <AppForm
            agent={of}
            agentId={agent}
            draft={draft}
            onDraft={edit}
            problems={problems}
            place={
              <Field label="Agent" hint="Runs in a cluster, and keeps the application in sync with Git.">
                <Select value={agent} onChange={(e) => setAgent(e.target.value)}>
                  {agents.map((a) => (
                    <option key={a.id} value={a.id}>
                      {a.displayName || a.name} ({a.status?.state ?? "Never"})
                    </option>
                  ))}
                </Select>
              </Field>
            }
          />
        </Card>
        {/* It stays in sight beside a form that is longer than the window. */}
        <Card title="YAML" flush className="flex flex-col xl:sticky xl:top-2 xl:self-start">
          <Code
            value={draft.text}
            schema="application"
            label="The application as YAML"
            onChange={(text) => text !== draft.text && edit(read(text))}
            problems={marks}
            className="h-[36rem] rounded-none border-0 xl:h-[calc(100vh-16rem)]"
          />
          {marks.length > 0 && (
            <ul aria-label="Problems" className="max-h-40 overflow-auto border-t p-3 text-sm">
              {marks.map((m, i) => (
                <li key={i} className={m.level === "warning" ? "text-warn" : "text-bad"}>
                  Line {m.line}: {m.message}
                </li>
              ))}
            </ul>
          )}
        </Card>
      </div>
      {error != null && <ErrorNote error={error} />}
      <div className="flex flex-wrap gap-2">
        <Button
          busy={busy === "preview"}
          disabled={Boolean(draft.problem)}
          why={missing}
          onClick={() => void run("preview")}
        >
          <Eye size={15} aria-hidden /> Preview
        </Button>
        <Button
          look="primary"
          busy={busy === "create"}
          disabled={Boolean(draft.problem)}
          why={missing}
          onClick={() => void run("create")}
        >
          <Plus size={15} aria-hidden /> Create
        </Button>
      </div>
      {shown && <PreviewCard preview={shown.preview} old={shown.text !== draft.text} />}
    </>
  );
}

// safely is the draft as an object; undefined where it is none.
function safely(draft: Draft): Record<string, unknown> | undefined {
  if (draft.problem) {
    return undefined;
  }
  try {
    return resource(draft);
  } catch {
    return undefined;
  }
}
