import { useState } from "react";
import { client, data } from "@/api/client";
import { finished } from "@/lib/command";
import { queryClient } from "@/lib/query";
import { known } from "@/lib/time";
import { Confirm } from "@/ui/confirm";
import { Checkbox } from "@/ui/field";
import { toast } from "@/ui/toast";
import { placeOf } from "./items";
import { type Kind, type SettingItem, settingOf } from "./setting";

export function Remove({
  kind,
  item,
  open,
  onClose,
  onDone,
}: {
  kind: Kind;
  item: SettingItem;
  open: boolean;
  onClose: () => void;
  onDone: () => void;
}) {
  const [force, setForce] = useState(false);
  const title = settingOf(item).fields[kind.title] || item.name;
  const stale = known(item.staleSince);
  return (
    <Confirm
      open={open}
      onClose={onClose}
      title={`Delete ${kind.called} ${title}?`}
      action={`Delete ${kind.called}`}
      onConfirm={async () => {
        const query = stale ? { forget: true } : force ? { force: true } : {};
        finished(
          await data(
            client.DELETE(`/api/v1/agents/{agent}/${kind.noun}/{namespace}/{name}`, {
              params: { path: placeOf(item), query },
            }),
          ),
        );
        toast(`The ${kind.called} was deleted`, title);
        void queryClient.invalidateQueries({ queryKey: [kind.event] });
        onDone();
      }}
    >
      <p>
        It is deleted from the cluster of agent {item.agent}, with its credentials. Applications that need it cannot be
        compared or synced any more; what they have deployed stays.
      </p>
      {(kind.tests || kind.type === "repocreds") && !stale && (
        <Checkbox
          label="Even if applications refer to it"
          checked={force}
          onChange={(e) => setForce(e.target.checked)}
        />
      )}
    </Confirm>
  );
}
