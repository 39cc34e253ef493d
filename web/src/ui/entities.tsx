import { Plus } from "lucide-react";
import { type ComponentType, type ReactNode, useState } from "react";
import { ApiError } from "@/api/client";
import {
  create,
  type Entity,
  type Kind,
  type Params,
  remove,
  update,
  useEntity,
  useList,
  useMissingView,
} from "@/lib/entity";
import { count, upper } from "@/lib/format";
import { useAddress } from "@/lib/navigate";
import { useCommands } from "@/lib/palette";
import { queryClient } from "@/lib/query";
import { leave } from "@/lib/reread";
import { one } from "@/lib/search";
import { useMissing } from "@/lib/session";
import { Button } from "./button";
import { Confirm } from "./confirm";
import { Drawer } from "./dialog";
import type { FormProps } from "./entity-form";
import { Empty, Failed, Loaded, Loading, NoneYet, NoPermission } from "./states";
import { type Column, Table } from "./table";
import { toast } from "./toast";
import { SearchBox, ScopeFilter } from "./list-filters";

// Entities is a list of one kind with a form for each: what is searched and which one is open are in the address.
export function Entities<T extends Entity>(props: EntitiesProps<T>) {
  const missing = useMissingView(props.kind);
  return missing ? <NoPermission why={missing} /> : <Seen {...props} />;
}

interface EntitiesProps<T extends Entity> {
  kind: Kind<T>;
  columns: Column<T>[];
  Form: ComponentType<FormProps<T>>;
  params?: Params;
  filters?: ReactNode;
  // children say what such a thing is for, where there is none yet.
  children: ReactNode;
  // changeable says why one cannot be changed or deleted; undefined where it can.
  changeable?: (value: T) => string | undefined;
  about?: ReactNode;
  // warn says what goes with one that is deleted.
  warn: (value: T) => ReactNode;
}

function Seen<T extends Entity>({
  kind,
  columns,
  Form,
  params,
  filters,
  children,
  changeable,
  about,
  warn,
}: EntitiesProps<T>) {
  const [search, set] = useAddress();
  const [deleting, setDeleting] = useState<T | null>(null);
  // A form keeps what it began with, whatever arrives in the meantime, until it is read again on purpose.
  const [reads, setReads] = useState(0);
  const open = one(search, "open");
  const making = open === "new";
  const mayEdit = useMissing(`${kind.type}_edit`);
  const mayDelete = useMissing(`${kind.type}_delete`);
  const sort = one(search, "sort");
  const filter = { search: one(search, "q"), scope: one(search, "scope"), sort, ...params };
  const list = useList<T>(kind.type, kind.path, filter);
  const chosen = useEntity(kind, making ? undefined : open || undefined);
  const close = () => set({ open: "" }, false);
  const add = () => set({ open: "new" }, false);
  // What is gone is not read again, though its form is still there for a moment.
  const again = (gone?: string) =>
    queryClient.invalidateQueries({
      queryKey: [kind.type],
      predicate: ({ queryKey: [, what, id] }) => what !== "one" || id !== gone,
    });
  const save = async (value: T | undefined, body: unknown) => {
    const made = await (value?.id ? update<T>(kind, value.id, body) : create<T>(kind, body));
    void again();
    toast(`${upper(kind.one)} ${made.name} ${value ? "changed" : "created"}.`);
    return made;
  };
  useCommands([
    {
      id: `new-${kind.type}`,
      title: `New ${kind.one}`,
      group: "Actions",
      ...(mayEdit ? { disabled: mayEdit } : {}),
      run: add,
    },
  ]);
  const filtered = Boolean(filter.search || filter.scope);
  const fresh = (
    <Button look="primary" onClick={add} why={mayEdit}>
      <Plus size={15} aria-hidden /> New {kind.one}
    </Button>
  );
  const rows = list.query.data;
  return (
    <div className="space-y-3">
      {about && <p className="text-muted">{about}</p>}
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox label={`Search ${kind.many}`} />
        <ScopeFilter />
        {filters}
        <span role="status" className="text-sm text-muted">
          {rows && `${count(list.total < 0 ? rows.length : list.total)} ${list.total === 1 ? kind.one : kind.many}`}
        </span>
        {(filtered || rows?.length !== 0) && <span className="ml-auto">{fresh}</span>}
      </div>
      <section className="min-w-0 rounded-lg border bg-surface">
        <Loaded query={list.query}>
          {(all) =>
            all.length > 0 ? (
              <Table
                label={upper(kind.many)}
                rows={all}
                columns={columns}
                rowKey={(row) => row.id ?? row.name}
                sort={sort || "name"}
                onSort={(next) => set({ sort: next === "name" ? "" : next })}
                onOpen={(row) => set({ open: row.id ?? "" }, false)}
                selected={(row) => row.id === open}
                {...(list.more ? { onEnd: list.more } : {})}
              />
            ) : filtered ? (
              <Empty
                filtered
                title={`No ${kind.one} matches`}
                action={<Button onClick={() => set({ q: "", scope: "" })}>Show all</Button>}
              >
                Search for less, or show all.
              </Empty>
            ) : (
              <NoneYet many={kind.many} permission={`${kind.type}_view`} action={fresh}>
                {children}
              </NoneYet>
            )
          }
        </Loaded>
      </section>
      {making && (
        <Form
          value={undefined}
          onClose={close}
          save={(body) => save(undefined, body)}
          readOnly={mayEdit}
          onReload={() => undefined}
          onDelete={undefined}
          whyNotDelete={undefined}
        />
      )}
      {!making && open && chosen.data && (
        <Form
          key={`${open} ${reads}`}
          value={chosen.data}
          onClose={close}
          save={(body) => save(chosen.data, body)}
          readOnly={changeable?.(chosen.data) ?? mayEdit}
          onReload={() => void chosen.refetch().then(() => setReads(reads + 1))}
          onDelete={() => setDeleting(chosen.data ?? null)}
          whyNotDelete={changeable?.(chosen.data) ?? mayDelete}
        />
      )}
      {!making && open && !chosen.data && (
        <Drawer open onClose={close} title={open} className="max-w-xl">
          {chosen.error ? <Failed error={chosen.error} retry={() => void chosen.refetch()} /> : <Loading />}
        </Drawer>
      )}
      {deleting && (
        <Delete
          kind={kind}
          value={deleting}
          warning={warn(deleting)}
          onClose={() => setDeleting(null)}
          onGone={() => {
            close();
            void again(deleting.id);
          }}
        />
      )}
    </div>
  );
}

// Delete asks before something goes; what stands in the way is named, and may go with it.
export function Delete<T extends Entity>({
  kind,
  value,
  warning,
  onClose,
  onGone,
}: {
  kind: Kind<T>;
  value: T;
  warning: ReactNode;
  onClose: () => void;
  onGone: () => void;
}) {
  const [blocked, setBlocked] = useState<ApiError | null>(null);
  return (
    <Confirm
      open
      onClose={onClose}
      title={`Delete ${kind.one} ${value.name}`}
      action={blocked ? `Delete ${value.name} and all of these` : `Delete ${value.name}`}
      {...(blocked ? { typed: value.name } : {})}
      onConfirm={async () => {
        const id = value.id ?? value.name;
        await leave(id, async () => {
          try {
            await remove(kind, id, Boolean(blocked));
          } catch (problem) {
            if (problem instanceof ApiError && problem.references.length > 0 && !blocked) {
              setBlocked(problem);
            }
            throw problem;
          }
          toast(`${upper(kind.one)} ${value.name} deleted.`);
          onGone();
        });
      }}
    >
      <div>{warning}</div>
      {blocked && <p>If you continue, the references to it are removed as well.</p>}
    </Confirm>
  );
}
