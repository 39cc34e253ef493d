import { Copy } from "./copy";

// Secret is a value that is shown once: it can be copied, and is not stored.
export function Secret({ label, value }: { label: string; value: string }) {
  return (
    <div className="flex items-center gap-2 rounded-md border bg-ground px-3 py-2">
      <code data-testid="secret" className="min-w-0 flex-1 font-mono break-all select-all">
        {value}
      </code>
      <Copy text={value} label={`Copy: ${label}`} />
    </div>
  );
}
