// readable is a resource without what only machines read: who set which field, and the annotation that repeats the whole.
export function readable(resource: unknown): unknown {
  if (!resource || typeof resource !== "object" || !("metadata" in resource)) {
    return resource;
  }
  const metadata = { ...(resource.metadata as Record<string, unknown>) };
  for (const name of ["managedFields", "resourceVersion", "uid", "generation", "creationTimestamp", "selfLink"]) {
    delete metadata[name];
  }
  const { status: _, ...rest } = resource as Record<string, unknown>;
  return { ...rest, metadata };
}
