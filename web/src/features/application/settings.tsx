import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { parse } from "yaml";
import { useApp } from "@/lib/application";
import { type Draft as FormDraft, read as parsed } from "@/lib/draft";
import { useEntity } from "@/lib/entity";
import { agents } from "@/lib/kinds";
import { useAddress } from "@/lib/navigate";
import { violations } from "@/lib/schema";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { AppForm } from "@/ui/app-form/app-form";
import { Button } from "@/ui/button";
import { Code } from "@/ui/code";
import { Card } from "@/ui/page";
import { useActions } from "./actions";
import { type Draft, useDraft } from "./draft";
import { editable, type Raw } from "./edit";
import { EditBar, yamlOf } from "./edit-bar";
import { ServiceLink } from "./link";
import { useDetail, useMay } from "./use";

// ApplicationSettings edits the Application, by form or as YAML.
export default function ApplicationSettings() {
  const app = useApp();
  const { resource } = useDetail(app);
  const [search, set] = useAddress();
  const edit = useDraft(resource);
  const actions = useActions(app);
  const may = useMay(app);
  const navigate = useNavigate();
  const yaml = one(search, "as") === "yaml";
  const [wrong, setWrong] = useState<string>();
  // Editor and form start over when the draft was discarded.
  const [round, setRound] = useState(0);
  const reset = () => {
    edit.reset();
    setWrong(undefined);
    setRound(round + 1);
  };
  return (
    <div className="space-y-3">
      <Card
        title="Application"
        actions={
          <>
            <Button small aria-pressed={!yaml} disabled={Boolean(wrong)} onClick={() => set({ as: "" })}>
              Form
            </Button>
            <Button small aria-pressed={yaml} onClick={() => set({ as: "yaml" })}>
              YAML
            </Button>
          </>
        }
      >
        {yaml ? (
          <AsYaml key={round} edit={edit} onWrong={setWrong} />
        ) : (
          <AsForm key={round} agent={app.agent} edit={edit} onWrong={setWrong} />
        )}
      </Card>
      <EditBar app={app} draft={edit.draft} base={edit.base} wrong={wrong} onReset={reset} />
      <ServiceLink app={app} />
      <Card title="Danger zone">
        <div className="flex flex-wrap items-center justify-between gap-3">
          <p className="min-w-0 text-muted">Deletes the application, with or without its objects.</p>
          <div className="flex flex-wrap gap-2">
            <Button onClick={() => void navigate({ to: "/applications" })}>All applications</Button>
            <Button look="danger" why={may.remove} onClick={() => actions.open("delete")}>
              Delete {app.name}…
            </Button>
          </div>
        </div>
      </Card>
    </div>
  );
}

// AsYaml edits all that people say in the resource; what is in the cluster beside it stays.
function AsYaml({ edit, onWrong }: { edit: Draft; onWrong: (wrong: string | undefined) => void }) {
  // The text is the editor's own: a draft that is written again would move the cursor.
  const [text, setText] = useState(() => yamlOf(edit.draft));
  const [problem, setProblem] = useState<{ line: number; message: string }>();
  const problems = useMemo(() => (problem ? [problem] : violations(parsed(text))), [problem, text]);
  const change = (next: string) => {
    setText(next);
    const { draft, error } = read(next, edit.draft);
    setProblem(error);
    onWrong(error ? `The YAML cannot be read: line ${error.line}: ${error.message}` : undefined);
    if (draft) {
      edit.replace(draft);
    }
  };
  return (
    <Code
      label="The application as YAML"
      schema="application"
      value={text}
      className="h-[32rem]"
      problems={problems}
      onChange={change}
    />
  );
}

// AsForm edits the same as a form. What it does not have stays as it is.
function AsForm({
  agent,
  edit,
  onWrong,
}: {
  agent: string;
  edit: Draft;
  onWrong: (wrong: string | undefined) => void;
}) {
  const { data } = useEntity(agents, useMissing("agent_view") ? undefined : agent);
  // The text is written once and then kept, so that the order of its fields stays.
  const [kept, setKept] = useState<{ text: string; of: Raw }>();
  const text = kept && kept.of === edit.draft ? kept.text : yamlOf(edit.draft);
  const draft = useMemo(() => parsed(text), [text]);
  const problems = useMemo(() => violations(draft), [draft]);
  const change = (next: FormDraft) => {
    const { draft: of, error } = read(next.text, edit.draft);
    onWrong(error && `The form cannot be read: ${error.message}`);
    if (of) {
      setKept({ text: next.text, of });
      edit.replace(of);
    }
  };
  return <AppForm created agent={data} agentId={agent} draft={draft} onDraft={change} problems={problems} />;
}

interface YamlProblem {
  message: string;
  linePos?: { line: number }[];
}

// read makes of a text the resource that it says, with what the text does not have of the metadata.
function read(text: string, before: Raw): { draft?: Raw; error?: { line: number; message: string } } {
  let said: unknown;
  try {
    said = parse(text);
  } catch (problem) {
    const { message, linePos } = problem as YamlProblem;
    return { error: { line: linePos?.[0]?.line ?? 1, message: message.split("\n")[0] ?? message } };
  }
  const of = said as { metadata?: Raw["metadata"]; spec?: Raw["spec"] } | null;
  if (typeof of !== "object" || of === null || typeof of.spec !== "object" || of.spec === null) {
    return { error: { line: 1, message: "an Application must have a spec" } };
  }
  const { name, namespace } = before.metadata;
  if (of.metadata?.name !== name || (of.metadata?.namespace ?? namespace) !== namespace) {
    return { error: { line: 1, message: "name and namespace cannot change: create another application instead" } };
  }
  const { labels: _, annotations: __, finalizers: ___, ...metadata } = editable(before).metadata;
  const some = Object.fromEntries(
    Object.entries({
      labels: of.metadata.labels,
      annotations: of.metadata.annotations,
      finalizers: of.metadata.finalizers,
    }).filter(([, v]) => v !== undefined && v !== null),
  );
  return { draft: { ...before, metadata: { ...metadata, ...some }, spec: of.spec } };
}
