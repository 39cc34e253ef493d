import { useNavigate } from "@tanstack/react-router";
import { client, data } from "@/api/client";
import { create, remove } from "@/lib/entity";
import { agents } from "@/lib/kinds";
import { count } from "@/lib/format";
import { queryClient } from "@/lib/query";
import { leave } from "@/lib/reread";
import { Confirm } from "@/ui/confirm";
import { toast } from "@/ui/toast";
import { type Agent, useApplications } from "./data";

export type Asked = "rotate" | "revoke" | "delete" | "";

export function Asks({ agent, asked, onClose }: { agent: Agent; asked: Asked; onClose: () => void }) {
  const id = agent.id ?? "";
  const path = `${agents.path}/${encodeURIComponent(id)}`;
  const apps = useApplications(asked === "delete" ? id : "");
  const navigate = useNavigate();
  const again = () => void queryClient.invalidateQueries({ queryKey: ["agent"] });
  return (
    <>
      <Confirm
        open={asked === "rotate"}
        onClose={onClose}
        title={`Rotate the keys of ${agent.name}`}
        action="Rotate keys"
        danger={false}
        onConfirm={async () => {
          await create({ path: `${path}/rotate` }, undefined);
          toast(`${agent.name} was asked to rotate its keys.`);
          again();
        }}
      >
        <p>The agent creates a new key pair and continues with it. Nothing is interrupted.</p>
      </Confirm>
      <Confirm
        open={asked === "revoke"}
        onClose={onClose}
        title={`Revoke ${agent.name}`}
        action={`Revoke ${agent.name}`}
        typed={agent.name}
        onConfirm={async () => {
          await data(client.POST("/api/v1/agents/{id}/revoke", { params: { path: { id } } }));
          toast(`${agent.name} revoked.`);
          again();
        }}
      >
        <p>
          Its key is revoked and its connection is closed immediately. It goes on deploying what Git says, unseen; with
          a new registration token it can come back.
        </p>
      </Confirm>
      <Confirm
        open={asked === "delete"}
        onClose={onClose}
        title={`Delete ${agent.name}`}
        action={`Delete ${agent.name}`}
        typed={agent.name}
        onConfirm={async () => {
          await leave(id, async () => {
            await remove(agents, id);
            toast(`${agent.name} deleted.`);
            await navigate({ to: "/agents" });
          });
          again();
        }}
      >
        <p>
          The server deletes the agent and its data: {apps.data ? count(apps.data.total) : "its"} applications, its
          clusters and repositories, and which Argo projects are mapped. Deployed objects stay, and so does the agent's
          own installation in the cluster. The ledger and the audit log keep past operations.
        </p>
      </Confirm>
    </>
  );
}
