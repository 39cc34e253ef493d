// isBeside is whether an agent works beside an Argo CD, which then deploys and reads the settings, and not Slipway's own engine.
export const isBeside = (agent?: { engine?: string; status?: { engine?: string } }): boolean =>
  (agent?.status?.engine || agent?.engine) === "argocd";
