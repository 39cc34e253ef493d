import { useQuery } from "@tanstack/react-query";
import { client, data } from "@/api/client";
import { Field, Select } from "@/ui/field";
import { EntityList } from "./entity-list";

export function SlipwayProjects() {
  const organizations = useQuery({
    queryKey: ["organization", "choices"],
    queryFn: () => data(client.GET("/api/v1/organizations", { params: { query: { limit: 1000 } } })),
  });
  return (
    <EntityList
      noun="projects"
      called="project"
      type="project"
      about="A project holds what a team works with. It belongs to an organization: add one first."
      goes="The project goes, with its roles and bindings. It is refused while something belongs to it. Nothing goes from any cluster."
      columns={[
        { key: "organization", title: "Organization", width: "minmax(8rem, 1fr)", cell: (p) => p.organization },
      ]}
      extra={(values, set) => (
        <Field label="Organization" hint="It never changes">
          <Select required value={values.organization ?? ""} onChange={(e) => set("organization", e.target.value)}>
            <option value="">Choose one</option>
            {(organizations.data?.items ?? []).map((o) => (
              <option key={o.id} value={o.id}>
                {o.displayName || o.name}
              </option>
            ))}
          </Select>
        </Field>
      )}
    />
  );
}
