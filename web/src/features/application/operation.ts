import { useQuery } from "@tanstack/react-query";
import { useEffect, useMemo, useRef } from "react";
import { client, data } from "@/api/client";
import { type App, lookKey } from "@/lib/application";
import type { Plan } from "./plan";
import type { OperationState, Resource } from "./resource";
import { isOf, type Timeline, timelineOf, timelineOfAnswer } from "./timeline";

// useTimeline is the operation step by step, as the agent reports it. As long as it has not reported the one that the status is
// about, or cannot, it is put together from the status.
export function useTimeline(
  app: App,
  state: OperationState,
  resource: Resource,
  plan?: Plan,
): { timeline: Timeline; warnings: string[] } {
  const own = resource.status?.resources;
  const query = useQuery({
    queryKey: lookKey(app, "operation"),
    staleTime: 0,
    retry: false,
    queryFn: () =>
      data(
        client.GET("/api/v1/agents/{agent}/applications/{namespace}/{name}/operation", {
          params: { path: { agent: app.agent, namespace: app.namespace, name: app.name } },
        }),
      ),
  });
  // The agent is asked again when what the status says has changed, one question after the other: a large operation changes
  // faster than it can be reported.
  const { isFetching, refetch } = query;
  const asked = useRef({ state, own });
  useEffect(() => {
    if (!isFetching && (asked.current.state !== state || asked.current.own !== own)) {
      asked.current = { state, own };
      void refetch({ cancelRefetch: false });
    }
  }, [state, own, isFetching, refetch]);
  const answer = isOf(query.data, state) && query.error == null ? query.data : undefined;
  const timeline = useMemo(
    () => (answer ? timelineOfAnswer(answer, plan) : timelineOf(state, own ?? [], plan)),
    [answer, state, own, plan],
  );
  return {
    timeline,
    warnings:
      answer?.warnings ??
      (query.error == null
        ? []
        : ["the agent did not report the steps: the next ones are derived from the application's status"]),
  };
}
