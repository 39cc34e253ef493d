import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { client, data } from "@/api/client";
import { Button } from "@/ui/button";
import { Dialog } from "@/ui/dialog";
import { Field, Input, Textarea } from "@/ui/field";
import { ErrorNote } from "@/ui/states";
import { toast } from "@/ui/toast";
import { reread, type Service } from "./data";

export const nameShape = /^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/;
export const nameHint = "Lower-case letters, digits and inner hyphens, at most 63; it never changes";
export const scopeHint = "account, org.<organization> or project.<organization>.<project>; it never changes";

// EditService makes a service, or changes what is said of one.
export function EditService({ service, onClose }: { service?: Service; onClose: () => void }) {
  const navigate = useNavigate();
  const [name, setName] = useState(service?.name ?? "");
  const [scope, setScope] = useState(service?.scope ?? "account");
  const [displayName, setDisplayName] = useState(service?.displayName ?? "");
  const [description, setDescription] = useState(service?.description ?? "");
  const bad = name !== "" && !nameShape.test(name);
  const save = useMutation({
    mutationFn: () =>
      service
        ? data(
            client.PUT("/api/v1/services/{id}", {
              params: { path: { id: service.id ?? "" }, query: {} },
              body: { ...service, displayName, description },
            }),
          )
        : data(
            client.POST("/api/v1/services", {
              params: { query: {} },
              body: { name, scope, displayName, description },
            }),
          ),
    onSuccess: async (saved) => {
      await reread();
      toast(`The service ${saved.name} is saved`);
      onClose();
      if (!service && saved.id) {
        await navigate({ to: "/services/$service", params: { service: saved.id } });
      }
    },
  });
  return (
    <Dialog
      open
      onClose={onClose}
      title={service ? `Change ${service.name}` : "New service"}
      footer={
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="primary" type="submit" form="service" busy={save.isPending} disabled={name === "" || bad}>
            Save
          </Button>
        </>
      }
    >
      <form
        id="service"
        className="space-y-3"
        onSubmit={(event) => {
          event.preventDefault();
          save.mutate();
        }}
      >
        {!service && (
          <>
            <Field label="Name" hint={nameHint} error={bad ? nameHint : undefined}>
              <Input value={name} autoComplete="off" spellCheck={false} onChange={(e) => setName(e.target.value)} />
            </Field>
            <Field label="Scope" hint={scopeHint}>
              <Input value={scope} autoComplete="off" spellCheck={false} onChange={(e) => setScope(e.target.value)} />
            </Field>
          </>
        )}
        <Field label="Name for people">
          <Input value={displayName} maxLength={200} onChange={(e) => setDisplayName(e.target.value)} />
        </Field>
        <Field label="What it is for">
          <Textarea value={description} maxLength={2000} onChange={(e) => setDescription(e.target.value)} />
        </Field>
        {save.error && <ErrorNote error={save.error} />}
      </form>
    </Dialog>
  );
}
