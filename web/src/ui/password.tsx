import { useState } from "react";
import { Field, Input } from "./field";

const shortest = 12;

// usePasswords holds a change of a password: the present one, and the new one twice.
export function usePasswords() {
  const [current, setCurrent] = useState("");
  const [next, setNext] = useState("");
  const [again, setAgain] = useState("");
  return {
    current,
    next,
    again,
    setCurrent,
    setNext,
    setAgain,
    ok: current !== "" && next.length >= shortest && next === again,
    clear: () => {
      setCurrent("");
      setNext("");
      setAgain("");
    },
  };
}

export function PasswordFields({ passwords: p }: { passwords: ReturnType<typeof usePasswords> }) {
  return (
    <>
      <Field label="Present password">
        <Input
          type="password"
          autoComplete="current-password"
          required
          value={p.current}
          onChange={(e) => p.setCurrent(e.target.value)}
        />
      </Field>
      <Field label="New password" hint={`At least ${shortest} characters.`}>
        <Input
          type="password"
          autoComplete="new-password"
          required
          minLength={shortest}
          maxLength={256}
          value={p.next}
          onChange={(e) => p.setNext(e.target.value)}
        />
      </Field>
      <Field
        label="New password again"
        error={p.again !== "" && p.again !== p.next ? "The passwords do not match." : undefined}
      >
        <Input
          type="password"
          autoComplete="new-password"
          required
          value={p.again}
          onChange={(e) => p.setAgain(e.target.value)}
        />
      </Field>
    </>
  );
}
