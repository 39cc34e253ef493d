import { type ComponentProps, lazy, Suspense } from "react";
import { Loading } from "./states";

// The editor is large: it is loaded when a user opens a text.
const LazyEditor = lazy(() => import("./code-editor"));
const LazyMerge = lazy(() => import("./code-merge"));

// Code shows YAML or another text, and lets it be changed where onChange is given.
export function Code(props: ComponentProps<typeof LazyEditor>) {
  return (
    <Suspense fallback={<Loading rows={8} />}>
      <LazyEditor {...props} />
    </Suspense>
  );
}

// CodeDiff shows what differs between two texts, side by side or one below the other.
export function CodeDiff(props: ComponentProps<typeof LazyMerge>) {
  return (
    <Suspense fallback={<Loading rows={8} />}>
      <LazyMerge {...props} />
    </Suspense>
  );
}
