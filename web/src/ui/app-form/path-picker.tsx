import { useQuery } from "@tanstack/react-query";
import { ChevronRight, Folder } from "lucide-react";
import { useState } from "react";
import { Button } from "@/ui/button";
import { Field, Input } from "@/ui/field";
import { Loaded, Loading } from "@/ui/states";
import { Badge } from "@/ui/status";
import { pathsQuery } from "@/lib/browse";

interface Props {
  agent: string;
  repoURL: string;
  revision: string;
  argoProject: string;
  // ready is true once the repository was read.
  ready: boolean;
  path: string;
  error: string | undefined;
  onPath: (path: string) => void;
}

const tools: Record<string, string> = {
  helm: "Helm chart",
  kustomize: "Kustomize",
  jsonnet: "Jsonnet",
  directory: "manifests",
  plugin: "plugin",
};

// PathPicker is the path in the repository: written, or found by walking its directories.
export function PathPicker({ agent, repoURL, revision, argoProject, ready, path, error, onPath }: Props) {
  const [open, setOpen] = useState(false);
  const here = useQuery(pathsQuery(agent, repoURL, revision, path, argoProject, ready));
  const tool = tools[here.data?.tool ?? ""];
  const parts = path.split("/").filter(Boolean);
  return (
    <div className="space-y-2">
      <div className="flex items-end gap-2">
        <Field
          label="Path"
          error={error}
          hint={tool && !here.isPlaceholderData ? `Renders as ${tool}` : undefined}
          className="flex-1"
        >
          <Input
            value={path}
            spellCheck={false}
            autoComplete="off"
            placeholder="."
            onChange={(e) => onPath(e.target.value.trim())}
          />
        </Field>
        <Button
          disabled={!ready}
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className={error || tool ? "mb-6" : ""}
        >
          <Folder size={14} aria-hidden /> Browse
        </Button>
      </div>
      {open && (
        <div className="rounded-md border">
          <nav aria-label="Directory" className="flex flex-wrap items-center gap-0.5 border-b px-2 py-1 text-sm">
            <Button small look="ghost" onClick={() => onPath("")}>
              /
            </Button>
            {parts.map((part, i) => (
              <span key={i} className="flex items-center gap-0.5">
                <ChevronRight size={12} aria-hidden />
                <Button small look="ghost" onClick={() => onPath(parts.slice(0, i + 1).join("/"))}>
                  {part}
                </Button>
              </span>
            ))}
          </nav>
          <Loaded query={here} loading={<Loading rows={3} />}>
            {(found) => {
              const directories = (found.items ?? []).filter((i) => i.type === "directory");
              return (
                <ul className="max-h-56 overflow-auto p-1">
                  {directories.length === 0 && <li className="px-2 py-1 text-muted">No directories here.</li>}
                  {directories.map((d) => (
                    <li key={d.path}>
                      <button
                        type="button"
                        onClick={() => onPath(d.path)}
                        className="flex w-full items-center gap-2 rounded px-2 py-1 text-left hover:bg-idle-soft"
                      >
                        <Folder size={14} aria-hidden className="shrink-0 text-muted" />
                        <span className="min-w-0 flex-1 truncate">{d.path.split("/").at(-1)}</span>
                        {tools[d.tool] && (
                          <Badge tone={d.tool === "directory" ? "idle" : "busy"}>{tools[d.tool]}</Badge>
                        )}
                      </button>
                    </li>
                  ))}
                </ul>
              );
            }}
          </Loaded>
        </div>
      )}
    </div>
  );
}
