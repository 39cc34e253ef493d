import { useNavigate } from "@tanstack/react-router";
import { create, update } from "@/lib/entity";
import { services } from "@/lib/kinds";
import { useMissing } from "@/lib/session";
import { EntityForm } from "@/ui/entity-form";
import { useMeta } from "@/ui/meta";
import { toast } from "@/ui/toast";
import { reread, type Service } from "./data";

// EditService makes a service, or changes one.
export function EditService({
  service,
  onClose,
  onReload = () => undefined,
}: {
  service?: Service | undefined;
  onClose: () => void;
  // onReload reads it again, if another user changed it.
  onReload?: () => void;
}) {
  const navigate = useNavigate();
  const form = {
    value: service,
    onClose,
    save: (body: unknown) =>
      service ? update<Service>(services, service.id ?? "", body) : create<Service>(services, body),
    readOnly: useMissing("service_edit", service?.scope),
    onReload,
    onDelete: undefined,
    whyNotDelete: undefined,
  };
  return (
    <EntityForm
      of={form}
      kind={services}
      meta={useMeta(service)}
      about="A service runs in one or more environments."
      onSaved={(saved) => {
        void reread();
        toast(`The service ${saved.name} is saved`);
        onClose();
        if (!service && saved.id) {
          void navigate({ to: "/services/$service", params: { service: saved.id } });
        }
      }}
    />
  );
}
