import { queryOptions } from "@tanstack/react-query";
import { client, data } from "@/api/client";

// infoQuery is the server's self-description: its version, its address and what it offers.
export const infoQuery = queryOptions({
  queryKey: ["info"],
  staleTime: 300_000,
  queryFn: () => data(client.GET("/api/v1/info")),
});
