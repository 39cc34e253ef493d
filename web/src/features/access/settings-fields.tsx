import type { Schemas } from "@/api/client";
import { Checkbox, Field, Input, Select, Textarea } from "@/ui/field";
import { Notice } from "@/ui/notice";

type Settings = Schemas["Settings"];

export interface Part {
  value: Settings;
  change: (next: Partial<Settings>) => void;
  disabled: boolean;
  wrong: (field: string) => string | undefined;
}

const severities = [
  ["info", "Information"],
  ["warning", "Warning"],
  ["critical", "Critical"],
] as const;

// BannerFields are the notice at the top of every page, with what it looks like.
export function BannerFields({ value, change, disabled, wrong }: Part) {
  const banner = value.banner ?? {};
  // Without a text there is no banner.
  const set = (next: Partial<Schemas["Banner"]>) => {
    const after = { ...banner, ...next };
    change({ banner: after.text ? after : {} });
  };
  const off = disabled || !banner.text;
  return (
    <div className="space-y-4">
      <Field
        label="Text"
        hint="Plain text, for everyone who is signed in. Without a text there is no banner."
        error={wrong("banner.text")}
      >
        <Textarea
          rows={2}
          maxLength={500}
          value={banner.text ?? ""}
          disabled={disabled}
          onChange={(e) => set({ text: e.target.value })}
        />
      </Field>
      <Field label="Link" hint="Where to read more: https://…, or mailto:…" error={wrong("banner.url")}>
        <Input value={banner.url ?? ""} disabled={off} onChange={(e) => set({ url: e.target.value })} />
      </Field>
      <Field label="Severity" error={wrong("banner.severity")}>
        <Select
          value={banner.severity ?? "info"}
          disabled={off}
          onChange={(e) => set({ severity: e.target.value as (typeof severities)[number][0] })}
          className="max-w-40"
        >
          {severities.map(([severity, label]) => (
            <option key={severity} value={severity}>
              {label}
            </option>
          ))}
        </Select>
      </Field>
      <Checkbox
        label="Permanent"
        hint="Readers cannot dismiss it."
        checked={banner.permanent ?? false}
        disabled={off}
        onChange={(e) => set({ permanent: e.target.checked })}
      />
      {banner.text && (
        <div aria-label="Preview" role="group" className="overflow-hidden rounded-md border border-b-0">
          <Notice banner={banner} />
        </div>
      )}
    </div>
  );
}

// BadgeFields turn on the badges of applications.
export function BadgeFields({ value, change, disabled }: Part) {
  return (
    <Checkbox
      label="Status badges"
      hint="Anyone who knows the name of an application can see its health and sync status as a picture, without signing in."
      checked={value.badges ?? false}
      disabled={disabled}
      onChange={(e) => change({ badges: e.target.checked })}
    />
  );
}

const times = [
  {
    name: "auditRetentionDays",
    label: "Audit log: retention in days",
    hint: "0 for no limit. The server deletes the oldest entries first.",
    min: 0,
    max: 36_500,
  },
  {
    name: "commandRetentionDays",
    label: "Commands: retention of finished ones in days",
    hint: "Requests to agents, and their results.",
    min: 1,
    max: 3_650,
  },
  {
    name: "ledgerRetentionDays",
    label: "Ledger: retention in days",
    hint: "0 for no limit. The newest deployment of each application is kept longer.",
    min: 0,
    max: 36_500,
  },
  {
    name: "ledgerRetentionGiB",
    label: "Ledger: maximum size in GiB",
    hint: "Above this size, the server deletes the oldest entries. 0 for no limit.",
    min: 0,
    max: 100_000,
  },
] as const;

export type Time = (typeof times)[number]["name"];

// TimeFields are how long things are kept. A number is a text while it is written.
export function TimeFields({
  text,
  onText,
  disabled,
  wrong,
}: {
  text: Record<Time, string>;
  onText: (next: Record<Time, string>) => void;
  disabled: boolean;
  wrong: (field: string) => string | undefined;
}) {
  return (
    <div className="space-y-4">
      {times.map((f) => (
        <Field key={f.name} label={f.label} hint={f.hint} error={wrong(f.name)}>
          <Input
            type="number"
            inputMode="numeric"
            required
            min={f.min}
            max={f.max}
            value={text[f.name]}
            disabled={disabled}
            onChange={(e) => onText({ ...text, [f.name]: e.target.value })}
            className="max-w-40"
          />
        </Field>
      ))}
    </div>
  );
}
