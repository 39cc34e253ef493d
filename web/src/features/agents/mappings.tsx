import { useQuery } from "@tanstack/react-query";
import { Trash2 } from "lucide-react";
import { type FormEvent, useState } from "react";
import { client, data, type Schemas } from "@/api/client";
import { useAll, useMissingView } from "@/lib/entity";
import { projects } from "@/lib/kinds";
import { queryClient } from "@/lib/query";
import { useMissing } from "@/lib/session";
import { Button, IconButton } from "@/ui/button";
import { Field, Input, Select } from "@/ui/field";
import { Card } from "@/ui/page";
import { ErrorNote, Loaded, Loading } from "@/ui/states";
import { toast, toastError } from "@/ui/toast";
import type { Agent } from "./data";

// Mappings say which Argo projects of the agent belong to which projects of this server.
export function Mappings({ agent }: { agent: Agent }) {
  const id = agent.id ?? "";
  const missing = useMissing("agent_edit", agent.scope);
  const key = ["agent", "mappings", id];
  const list = useQuery({
    queryKey: key,
    queryFn: () => data(client.GET("/api/v1/agents/{id}/mappings", { params: { path: { id } } })),
  });
  const unseen = useMissing("argoproject_view");
  const argo = useQuery({
    queryKey: ["argoproject", "names", id],
    enabled: !unseen,
    queryFn: () => data(client.GET("/api/v1/argo-projects", { params: { query: { agent: id, limit: 500 } } })),
  });
  const all = useAll(projects);
  const noProjects = useMissingView(projects);
  const [from, setFrom] = useState("");
  const [to, setTo] = useState("");
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const again = () => queryClient.invalidateQueries({ queryKey: key });
  const add = async (event: FormEvent) => {
    event.preventDefault();
    if (missing) {
      return;
    }
    setBusy(true);
    setError(null);
    try {
      await data(
        client.PUT("/api/v1/agents/{id}/mappings/{argoProject}", {
          params: { path: { id, argoProject: from.trim() } },
          body: { agent: id, argoProject: from.trim(), project: to },
        }),
      );
      toast(`Argo project ${from.trim()} belongs to ${to} now.`);
      setFrom("");
      await again();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  const drop = async (mapping: Schemas["Mapping"]) => {
    try {
      await data(
        client.DELETE("/api/v1/agents/{id}/mappings/{argoProject}", {
          params: { path: { id, argoProject: mapping.argoProject } },
        }),
      );
      toast(`Argo project ${mapping.argoProject} belongs to ${agent.scope} again.`);
      await again();
    } catch (problem) {
      toastError(problem, `${mapping.argoProject} could not be removed`);
    }
  };
  return (
    <Card title="Argo project mappings">
      <Loaded query={list} loading={<Loading rows={2} />}>
        {({ items }) => (
          <div className="space-y-3">
            {!items?.length ? (
              <p className="text-muted">
                All applications of this agent belong to {agent.scope}. Map an Argo project to have its applications,
                and the rights on them, belong to a project.
              </p>
            ) : (
              <ul className="divide-y rounded-md border">
                {items.map((m) => (
                  <li key={m.argoProject} className="flex items-center gap-2 px-3 py-1.5">
                    <span className="min-w-0 flex-1 break-words">
                      {m.argoProject} <span className="text-muted">belongs to</span> {m.project}
                    </span>
                    <IconButton small label={`Remove ${m.argoProject}`} why={missing} onClick={() => void drop(m)}>
                      <Trash2 size={14} aria-hidden />
                    </IconButton>
                  </li>
                ))}
              </ul>
            )}
            <form className="flex flex-wrap items-end gap-3" onSubmit={(event) => void add(event)}>
              <Field
                label="Argo project"
                className="w-56"
                hint={unseen && `Those of the agent are not offered. ${unseen}`}
              >
                <Input
                  list="argo-projects"
                  value={from}
                  required
                  autoComplete="off"
                  onChange={(e) => setFrom(e.target.value)}
                />
              </Field>
              <datalist id="argo-projects">
                {argo.data?.items?.map((p) => (
                  <option key={`${p.namespace}/${p.name}`} value={p.name} />
                ))}
              </datalist>
              <Field label="Project" className="w-56" hint={noProjects && `None is available. ${noProjects}`}>
                <Select value={to} required onChange={(e) => setTo(e.target.value)}>
                  <option value="">Choose</option>
                  {all.map((p) => (
                    <option key={p.id} value={p.id}>
                      {p.id}
                    </option>
                  ))}
                </Select>
              </Field>
              <Button type="submit" busy={busy} why={missing}>
                Map
              </Button>
            </form>
            {error != null && <ErrorNote error={error} />}
          </div>
        )}
      </Loaded>
    </Card>
  );
}
