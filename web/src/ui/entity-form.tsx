import type { ReactNode } from "react";
import type { Entity, Kind } from "@/lib/entity";
import { upper } from "@/lib/format";
import { Button } from "./button";
import { FormDrawer, type Wrong } from "./form";
import { metaBody, MetaFields, type useMeta } from "./meta";

// FormProps is what the form of one entity gets: value is undefined for one that is to be made.
export interface FormProps<T> {
  value: T | undefined;
  onClose: () => void;
  // save makes or changes it.
  save: (body: unknown) => Promise<T>;
  // readOnly says why it cannot be changed.
  readOnly: string | undefined;
  onReload: () => void;
  onDelete: (() => void) | undefined;
  whyNotDelete: string | undefined;
}

// EntityForm is the form of one entity: what all entities have in common, what this kind has besides, and the buttons that save and
// delete it. It closes when it is saved.
export function EntityForm<T extends Entity>({
  of: { value, onClose, save, readOnly, onReload, onDelete, whyNotDelete },
  kind,
  meta: [meta, setMeta],
  metaLast = false,
  scoped = true,
  about,
  looks = false,
  why,
  body,
  onSaved = onClose,
  more,
  children,
}: {
  of: FormProps<T>;
  kind: Kind<T>;
  // meta are the common fields, of useMeta.
  meta: ReturnType<typeof useMeta>;
  // metaLast puts them below what the kind has besides.
  metaLast?: boolean;
  // scoped is false for what belongs nowhere.
  scoped?: boolean;
  // about says what one is that is to be made.
  about?: string;
  // looks is true for one that is only looked at.
  looks?: boolean | undefined;
  // why says what is missing before it can be saved.
  why?: string | undefined;
  // body is what is sent besides the common fields.
  body?: () => object;
  onSaved?: (saved: T) => void;
  // more are further buttons.
  more?: ReactNode;
  children?: (wrong: Wrong) => ReactNode;
}) {
  const common = (wrong: Wrong) => (
    <MetaFields
      meta={meta}
      onChange={setMeta}
      there={Boolean(value)}
      wrong={wrong}
      scoped={scoped}
      disabled={Boolean(readOnly)}
    />
  );
  return (
    <FormDrawer
      open
      onClose={onClose}
      title={value ? `${upper(kind.one)} ${value.name}` : `New ${kind.one}`}
      description={value ? value.id : about}
      action={looks ? undefined : value ? "Save" : `Create ${kind.one}`}
      why={readOnly ?? why}
      submit={async () => onSaved(await save({ ...metaBody(meta), ...body?.(), version: value?.version }))}
      onReload={onReload}
      footer={
        value && (
          <>
            {(onDelete ?? whyNotDelete) && (
              <Button look="ghost" className="text-bad" onClick={onDelete} why={whyNotDelete}>
                Delete
              </Button>
            )}
            {more}
          </>
        )
      }
    >
      {(wrong) => (
        <>
          {!metaLast && common(wrong)}
          {children?.(wrong)}
          {metaLast && common(wrong)}
        </>
      )}
    </FormDrawer>
  );
}
