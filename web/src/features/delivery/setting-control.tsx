import { Checkbox, Field, Input, Select, Textarea } from "@/ui/field";
import { type SettingField } from "./setting";

interface ControlProps {
  field: SettingField;
  value: string;
  // kept is true where the agent has a value that is not reported.
  kept: boolean;
  disabled: boolean;
  error: string | undefined;
  onChange: (value: string) => void;
}

export function Control({ field: f, value, kept, disabled, error, onChange }: ControlProps) {
  if (f.flag) {
    return (
      <Checkbox
        label={f.label}
        hint={f.hint}
        checked={value === "true"}
        onChange={(e) => onChange(String(e.target.checked))}
      />
    );
  }
  const hint = kept ? "The agent has one. Leave this empty to keep it." : f.hint;
  const common = { value, disabled, spellCheck: false, autoComplete: f.secret ? "new-password" : "off" };
  return (
    <Field label={f.label} hint={hint} error={error}>
      {f.choices ? (
        <Select value={value || f.choices[0]?.[0]} disabled={disabled} onChange={(e) => onChange(e.target.value)}>
          {f.choices.map(([choice, label]) => (
            <option key={choice} value={choice}>
              {label}
            </option>
          ))}
        </Select>
      ) : f.lines ? (
        <Textarea {...common} rows={5} className="font-mono text-sm" onChange={(e) => onChange(e.target.value)} />
      ) : (
        <Input
          {...common}
          type={f.secret && f.name !== "username" ? "password" : "text"}
          onChange={(e) => onChange(e.target.value)}
        />
      )}
    </Field>
  );
}
