import { client, data, type Schemas } from "@/api/client";

// What the API says of an application before it is made or changed.
export type Preview = Schemas["Preview"];

// preview asks what an application would do; quick asks neither repositories nor the destination. Nothing is written.
export const preview = (agent: string, draft: Schemas["PreviewRequest"], quick = false): Promise<Preview> =>
  data(
    client.POST("/api/v1/agents/{agent}/applications/preview", {
      params: { path: { agent }, query: quick ? { quick } : {} },
      body: draft,
    }),
  );
