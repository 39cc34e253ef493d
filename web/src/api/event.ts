import type { Schemas } from "./client";

// Event is what the stream of changes says, as api.Event of the server: streams are not in the API's description.
export interface Event {
  id: string;
  // type is "<type of object>.changed", "<type of object>.deleted", or "reset" where events were lost.
  type: string;
  at: string;
  object: Schemas["Ref"];
  labels?: Record<string, string>;
  // data is what a list says of the object; missing where it was deleted or is too large.
  data?: unknown;
}
