import type { Schemas } from "@/api/client";
import type { Kind } from "./entity";

// Kinds of entities that several pages list or choose from.
export const agents: Kind<Schemas["Agent"]> = { type: "agent", path: "/api/v1/agents", one: "agent", many: "agents" };
export const organizations: Kind<Schemas["Organization"]> = {
  type: "organization",
  path: "/api/v1/organizations",
  one: "organization",
  many: "organizations",
};
export const projects: Kind<Schemas["Project"]> = {
  type: "project",
  path: "/api/v1/projects",
  one: "project",
  many: "projects",
};
export const services: Kind<Schemas["Service"]> = {
  type: "service",
  path: "/api/v1/services",
  one: "service",
  many: "services",
};
export const environments: Kind<Schemas["Environment"]> = {
  type: "environment",
  path: "/api/v1/environments",
  one: "environment",
  many: "environments",
};
