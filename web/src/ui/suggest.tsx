import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ComponentProps, useId } from "react";
import { client, data } from "@/api/client";
import { useMissing } from "@/lib/session";
import { useSettled } from "@/lib/settled";
import { Input } from "@/ui/field";

const most = 50; // suggestions together; writing on finds the others

const lists = {
  service: (search: string, signal: AbortSignal) =>
    data(client.GET("/api/v1/services", { params: { query: { limit: most, search } }, signal })),
  environment: (search: string, signal: AbortSignal) =>
    data(client.GET("/api/v1/environments", { params: { query: { limit: most, search } }, signal })),
};

// Suggest is a field for the id of a service or environment, which offers those that there are.
export function Suggest({
  of,
  value,
  onChange,
  ...rest
}: { of: keyof typeof lists; value: string; onChange: (id: string) => void } & Omit<
  ComponentProps<"input">,
  "value" | "onChange" | "list" | "ref"
>) {
  const list = useId();
  const missing = useMissing(`${of}_view`);
  const search = useSettled(value.trim(), 200);
  const { data: page } = useQuery({
    queryKey: [of, "suggest", search],
    placeholderData: keepPreviousData,
    staleTime: 60_000,
    // Without the permission to list them, the id can still be written.
    enabled: !missing,
    retry: false,
    queryFn: ({ signal }) => lists[of](search, signal),
  });
  return (
    <>
      <Input
        {...rest}
        value={value}
        list={list}
        autoComplete="off"
        spellCheck={false}
        onChange={(e) => onChange(e.target.value)}
      />
      <datalist id={list}>
        {(page?.items ?? []).map((one) => (
          <option key={one.id} value={one.id ?? ""}>
            {one.displayName || one.name}
          </option>
        ))}
      </datalist>
    </>
  );
}
