import { useQuery } from "@tanstack/react-query";
import { stringify } from "yaml";
import { client, data, type Schemas } from "@/api/client";
import { plural } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { one } from "@/lib/search";
import { Button } from "@/ui/button";
import { Code } from "@/ui/code";
import { Copy } from "@/ui/copy";
import { Empty, Loaded } from "@/ui/states";
import { Badge } from "@/ui/status";
import { type Column, Table } from "@/ui/table";
import { type Detail, keyOf, placeOf } from "./entries";

type Rendering = Schemas["LedgerObject"];

const columns: Column<Rendering>[] = [
  {
    key: "object",
    title: "Object",
    width: "minmax(14rem,2fr)",
    cell: (o) => (
      <>
        {placeOf(o)} {o.hook && <Badge>hook</Badge>} {o.lacking && <Badge tone="warn">not stored</Badge>}
      </>
    ),
  },
  { key: "images", title: "Images", width: "minmax(10rem,2fr)", cell: (o) => o.images?.join(", ") },
  { key: "hash", title: "Hash", width: "8rem", cell: (o) => <code className="text-sm">{o.hash.slice(0, 12)}</code> },
];

// Rendered is all that the sources of an operation rendered, with the manifest of the object that is chosen.
export function Rendered({ entry }: { entry: Detail }) {
  const [search, set] = useAddress();
  const objects = entry.objects ?? [];
  const key = one(search, "object");
  const chosen = objects.find((o) => keyOf(o) === key);
  if (objects.length === 0) {
    return (
      <Empty title="Nothing was rendered">
        It ended before manifests were rendered, or its sources have none. See the missing information in the overview.
      </Empty>
    );
  }
  return (
    <div className="space-y-3">
      {chosen && <Manifest key={key} entry={entry.id} object={chosen} onClose={() => set({ object: "" }, false)} />}
      <p className="text-muted">
        {plural(objects.length, "object")} as rendered. Choose one to see its manifest; values of secrets are hashes.
      </p>
      <div className="rounded-md border">
        <Table
          label="Objects as rendered"
          rows={objects}
          columns={columns}
          rowKey={keyOf}
          onOpen={(o) => set({ object: keyOf(o) }, false)}
          selected={(o) => keyOf(o) === key}
          className="max-h-[50vh]"
        />
      </div>
    </div>
  );
}

function Manifest({ entry, object, onClose }: { entry: string; object: Rendering; onClose: () => void }) {
  const query = useQuery({
    queryKey: ["ledger", "manifest", entry, keyOf(object)],
    staleTime: Number.POSITIVE_INFINITY, // entries stay as they are
    queryFn: async ({ signal }) => {
      const answer = await data(
        client.GET("/api/v1/ledger/{id}/manifests", {
          params: {
            path: { id: entry },
            query: {
              kind: object.kind,
              objectName: object.name,
              ...(object.namespace ? { objectNamespace: object.namespace } : {}),
            },
          },
          signal,
        }),
      );
      const found = answer.manifests?.find((m) => keyOf(m) === keyOf(object));
      return found?.manifest ? stringify(found.manifest) : "";
    },
  });
  return (
    <section aria-label={placeOf(object)} className="space-y-1.5">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="min-w-0 flex-1 font-semibold break-all">{placeOf(object)}</h3>
        {query.data && <Copy text={query.data} label="Copy the manifest" />}
        <Button small onClick={onClose}>
          Close the manifest
        </Button>
      </div>
      <p className="flex items-center gap-1 text-sm text-muted">
        SHA-256 <code className="break-all">{object.hash}</code>
        <Copy text={object.hash} label="Copy the hash" />
      </p>
      <Loaded query={query}>
        {(text) =>
          text ? (
            <Code value={text} label={`Manifest of ${placeOf(object)}`} />
          ) : (
            <p className="text-muted">
              Its manifest is missing: the agent could not keep it until the server was back. Only its hash is known.
            </p>
          )
        }
      </Loaded>
    </section>
  );
}
