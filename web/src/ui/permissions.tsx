import { useQuery } from "@tanstack/react-query";
import { Check } from "lucide-react";
import { client, data } from "@/api/client";
import { grants, matrix, toggle } from "@/lib/permissions";

// usePermissions are all permissions that there are.
export function usePermissions(): string[] {
  const all = useQuery({
    queryKey: ["permissions"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () => data(client.GET("/api/v1/access/permissions")),
  });
  return all.data?.permissions ?? [];
}

// PermissionMatrix shows what is allowed by type and verb, and lets it be chosen where onChange is given. held bounds what
// can be chosen.
export function PermissionMatrix({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string[];
  onChange?: ((value: string[]) => void) | undefined;
}) {
  const all = usePermissions();
  const m = matrix(all);
  return (
    <div tabIndex={0} role="group" aria-label={label} className="max-h-[60vh] overflow-auto rounded-md border">
      <table className="w-full text-sm">
        <thead className="sticky top-0 z-10 bg-raised">
          <tr>
            <th scope="col" className="px-2 py-1.5 text-left font-medium">
              Type
            </th>
            {m.verbs.map((verb) => (
              <th key={verb} scope="col" className="px-2 py-1.5 font-medium">
                {verb === "resourceaction" ? "action" : verb}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {m.types.map((type) => (
            <tr key={type} className="border-t">
              <th scope="row" className="px-2 py-1 text-left font-normal">
                {type}
              </th>
              {m.verbs.map((verb) => {
                const permission = `${type}_${verb}`;
                if (!m.has(type, verb)) {
                  return <td key={verb} />;
                }
                const on = grants(value, permission);
                return (
                  <td key={verb} className="px-2 py-1 text-center">
                    {onChange ? (
                      <input
                        type="checkbox"
                        aria-label={permission}
                        className="size-4 accent-accent"
                        checked={on}
                        onChange={() => onChange(toggle(value, permission, all))}
                      />
                    ) : (
                      on && <Check size={14} role="img" aria-label={permission} className="inline text-ok" />
                    )}
                  </td>
                );
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
