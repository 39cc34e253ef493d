import { useInfiniteQuery } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { type FormEvent, type ReactNode, useState } from "react";
import { ApiError, type Schemas, send } from "@/api/client";
import { useAddress } from "@/lib/navigate";
import { plural } from "@/lib/format";
import { queryClient } from "@/lib/query";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { Ago } from "@/ui/ago";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Drawer } from "@/ui/dialog";
import { Field, Input, Textarea } from "@/ui/field";
import { Empty, ErrorNote, Loaded } from "@/ui/states";
import { type Column, Table } from "@/ui/table";
import { toast } from "@/ui/toast";

type Entity = Schemas["Organization"] & { organization?: string };

interface Page {
  items: Entity[];
  nextCursor?: string;
  total: number;
}

interface Props {
  // noun is the part of the API's address, called one of them.
  noun: string;
  called: string;
  type: string;
  about: string;
  // goes says what is deleted with one.
  goes: string;
  columns?: Column<Entity>[];
  // more fields of a new one, by name.
  extra?: (values: Record<string, string>, set: (name: string, value: string) => void) => ReactNode;
}

// EntityList is the page of organizations, or of projects: what they have in common is all there is.
export function EntityList({ noun, called, type, about, goes, columns = [], extra }: Props) {
  const [search, go] = useAddress();
  const text = one(search, "q");
  const missing = useMissing(`${type}_edit`);
  const list = useInfiniteQuery({
    queryKey: [type, "list", text],
    initialPageParam: "",
    queryFn: ({ pageParam }) =>
      send<Page>(
        "GET",
        `/api/v1/${noun}?limit=200&search=${encodeURIComponent(text)}&cursor=${encodeURIComponent(pageParam)}`,
      ),
    getNextPageParam: (last) => last.nextCursor || undefined,
  });
  const add = (
    <Button look="primary" why={missing} onClick={() => go({ open: "new" }, false)}>
      <Plus size={15} aria-hidden /> Add {called}
    </Button>
  );
  const all: Column<Entity>[] = [
    { key: "name", title: "Name", width: "minmax(9rem, 1fr)", cell: (e) => e.displayName || e.name },
    { key: "id", title: "Id", width: "minmax(9rem, 1fr)", cell: (e) => <code>{e.id}</code> },
    ...columns,
    { key: "description", title: "For", width: "minmax(12rem, 2fr)", cell: (e) => e.description },
    { key: "updated", title: "Changed", width: "8rem", cell: (e) => <Ago at={e.updatedAt} /> },
  ];
  const close = () => go({ open: undefined }, false);
  return (
    <>
      <div className="flex flex-wrap items-center gap-2">
        <Input
          type="search"
          aria-label="Search"
          placeholder="Search"
          value={text}
          onChange={(e) => go({ q: e.target.value }, true)}
          className="max-w-xs"
        />
        <div className="ml-auto">{add}</div>
      </div>
      <Loaded query={list}>
        {(pages) => {
          const items = pages.pages.flatMap((p) => p.items);
          const open = one(search, "open");
          const shown = items.find((e) => e.id === open);
          return (
            <>
              {items.length === 0 ? (
                <Empty
                  filtered={text !== ""}
                  title={text ? "None is called like that" : `No ${called} yet`}
                  action={text ? <Button onClick={() => go({ q: undefined })}>Clear the search</Button> : add}
                >
                  {!text && about}
                </Empty>
              ) : (
                <div className="rounded-lg border bg-surface">
                  <Table
                    label={`${called}s`}
                    rows={items}
                    columns={all}
                    rowKey={(e) => e.id ?? e.name}
                    onOpen={(e) => go({ open: e.id }, false)}
                    onEnd={() => list.hasNextPage && !list.isFetchingNextPage && void list.fetchNextPage()}
                  />
                  <p className="border-t px-3 py-2 text-sm text-muted">
                    {plural(pages.pages[0]?.total ?? items.length, called)}
                  </p>
                </div>
              )}
              {(open === "new" || shown) && (
                <One
                  key={open}
                  noun={noun}
                  called={called}
                  type={type}
                  goes={goes}
                  entity={shown}
                  extra={extra}
                  onClose={close}
                />
              )}
            </>
          );
        }}
      </Loaded>
    </>
  );
}

interface OneProps extends Pick<Props, "noun" | "called" | "type" | "goes" | "extra"> {
  entity: Entity | undefined;
  onClose: () => void;
}

function One({ noun, called, type, goes, entity, extra, onClose }: OneProps) {
  const [values, setValues] = useState<Record<string, string>>({});
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [remove, setRemove] = useState(false);
  const cannotEdit = useMissing(`${type}_edit`, entity?.scope);
  const cannotDelete = useMissing(`${type}_delete`, entity?.scope);
  const set = (name: string, value: string) => setValues((v) => ({ ...v, [name]: value }));
  const path = `/api/v1/${noun}${entity ? `/${encodeURIComponent(entity.id ?? "")}` : ""}`;
  const wrong = (field: string) =>
    error instanceof ApiError ? error.fields.find((f) => f.field.endsWith(field))?.message : undefined;
  const done = (text: string) => {
    toast(text, entity?.id ?? values.name);
    void queryClient.invalidateQueries({ queryKey: [type] });
    onClose();
  };
  const save = async () => {
    setBusy(true);
    setError(null);
    try {
      await send(entity ? "PUT" : "POST", path, entity ? { ...entity, ...values } : values);
      done(entity ? `The ${called} was changed` : `The ${called} was added`);
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Drawer
      open
      onClose={onClose}
      title={entity ? entity.displayName || entity.name : `Add ${called}`}
      description={entity?.id ?? goes}
      className="max-w-xl"
    >
      <form
        className="space-y-4 p-4"
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          void save();
        }}
      >
        {!entity && extra?.(values, set)}
        {!entity && (
          <Field
            label="Name"
            hint="Lower-case letters, digits and inner hyphens; it never changes"
            error={wrong("name")}
          >
            <Input
              required
              maxLength={63}
              value={values.name ?? ""}
              onChange={(e) => set("name", e.target.value)}
              spellCheck={false}
            />
          </Field>
        )}
        <Field label="Name for people" error={wrong("displayName")}>
          <Input
            maxLength={200}
            value={values.displayName ?? entity?.displayName ?? ""}
            onChange={(e) => set("displayName", e.target.value)}
          />
        </Field>
        <Field label="What it is for" error={wrong("description")}>
          <Textarea
            maxLength={2000}
            value={values.description ?? entity?.description ?? ""}
            onChange={(e) => set("description", e.target.value)}
          />
        </Field>
        {error != null && <ErrorNote error={error} />}
        <div className="flex flex-wrap gap-2">
          <Button type="submit" look="primary" busy={busy} why={cannotEdit}>
            {entity ? "Save" : `Add ${called}`}
          </Button>
          {entity && (
            <Button look="danger" why={cannotDelete} onClick={() => setRemove(true)}>
              Delete
            </Button>
          )}
        </div>
      </form>
      {entity && (
        <Confirm
          open={remove}
          onClose={() => setRemove(false)}
          title={`Delete ${called} ${entity.id}?`}
          action={`Delete ${entity.id}`}
          typed={entity.name}
          onConfirm={async () => {
            await send("DELETE", path);
            done(`The ${called} was deleted`);
          }}
        >
          <p>{goes}</p>
        </Confirm>
      )}
    </Drawer>
  );
}
