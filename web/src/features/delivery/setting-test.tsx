import { Check, Minus, X } from "lucide-react";
import type { Schemas } from "@/api/client";
import { Status } from "@/ui/status";
import type { Kind } from "./setting";

// Found shows what came of a connection test.
export function Found({ test, kind }: { test: Schemas["SettingTest"]; kind: Kind }) {
  return (
    <div role="status" className={test.ok ? "rounded-md bg-ok-soft px-3 py-2" : "rounded-md bg-bad-soft px-3 py-2"}>
      <Status
        status={test.ok ? "Succeeded" : "Failed"}
        label={test.ok ? `The agent can use this ${kind.called}` : `The agent cannot use this ${kind.called}`}
      />
      {test.message && <p className="mt-1 break-words whitespace-pre-wrap">{test.message}</p>}
      <Steps steps={test.steps ?? []} />
    </div>
  );
}

// Steps are the layers of a connection, with a mark, what was found, and what to do after a failure.
function Steps({ steps }: { steps: Schemas["SettingStep"][] }) {
  if (steps.length === 0) {
    return null;
  }
  return (
    <ol className="mt-2 space-y-1" aria-label="Steps of the test">
      {steps.map((s) => (
        <li key={s.layer} className="flex gap-2">
          <StepMark status={s.status} />
          <div className="min-w-0 break-words">
            <span className="font-medium">{s.layer}</span>{" "}
            {s.status === "skipped" ? <span className="text-muted">not tested</span> : s.detail}
            {s.millis ? <span className="text-muted"> ({s.millis} ms)</span> : null}
            {s.next && <p className="text-muted">{s.next}</p>}
          </div>
        </li>
      ))}
    </ol>
  );
}

function StepMark({ status }: { status: Schemas["SettingStep"]["status"] }) {
  const label = { ok: "OK", failed: "Failed", skipped: "Skipped" }[status];
  const Icon = { ok: Check, failed: X, skipped: Minus }[status];
  const colour = { ok: "text-ok", failed: "text-bad", skipped: "text-muted" }[status];
  return <Icon size={16} role="img" aria-label={label} className={`mt-0.5 shrink-0 ${colour}`} />;
}
