import { LoaderCircle } from "lucide-react";

export function Spinner({ label }: { label?: string }) {
  return (
    <LoaderCircle
      size={14}
      className="animate-spin"
      {...(label ? { role: "status", "aria-label": label } : { "aria-hidden": true })}
    />
  );
}
