import {
  Bell,
  BookText,
  Boxes,
  FileKey,
  FolderGit2,
  FolderKanban,
  Gauge,
  KeyRound,
  Layers,
  ListChecks,
  type LucideIcon,
  Network,
  ScrollText,
  Server,
  Settings,
  ShieldCheck,
  SquareStack,
  Waypoints,
} from "lucide-react";
import { accessParts, type Need, notificationParts, projectParts } from "@/lib/access";

export interface Place {
  to: string;
  label: string;
  icon: LucideIcon;
  // permission to see what is there; a place whose permission is missing everywhere is not offered.
  permission?: string;
  // parts are what each part of the place needs, where they differ: it is offered to users who see one.
  parts?: Need[];
  keys?: string;
  // words to find it by in the palette, beside its label
  keywords?: string;
}

// The places that the sidebar and the palette lead to.
export const places: { group: string; places: Place[] }[] = [
  {
    group: "Deliver",
    places: [
      { to: "/", label: "Fleet", icon: Gauge, keys: "g f", keywords: "home dashboard overview dora" },
      { to: "/applications", label: "Applications", icon: Boxes, permission: "application_view", keys: "g a" },
      { to: "/application-sets", label: "Application sets", icon: SquareStack, permission: "applicationset_view" },
      {
        to: "/services",
        label: "Services",
        icon: Layers,
        permission: "service_view",
        keys: "g s",
        keywords: "matrix what runs where version",
      },
      { to: "/environments", label: "Environments", icon: Waypoints, permission: "environment_view", keys: "g e" },
      { to: "/jobs", label: "Jobs", icon: ListChecks, keywords: "bulk sync refresh rollback" },
    ],
  },
  {
    group: "Connect",
    places: [
      { to: "/agents", label: "Agents", icon: Network, permission: "agent_view", keys: "g g" },
      { to: "/clusters", label: "Clusters", icon: Server, permission: "cluster_view", keys: "g c" },
      {
        to: "/repositories",
        label: "Repositories",
        icon: FolderGit2,
        permission: "repository_view",
        keys: "g r",
        keywords: "git helm oci credentials",
      },
      {
        to: "/certificates",
        label: "Certificates",
        icon: FileKey,
        permission: "cert_view",
        keywords: "tls ssh known hosts",
      },
      { to: "/keys", label: "Signing keys", icon: KeyRound, permission: "gpgkey_view", keywords: "gnupg gpg" },
    ],
  },
  {
    group: "Govern",
    places: [
      {
        to: "/projects",
        label: "Projects",
        icon: FolderKanban,
        parts: Object.values(projectParts),
        keys: "g p",
        keywords: "organizations argo appproject",
      },
      { to: "/audit", label: "Audit", icon: ScrollText, permission: "audit_view", keys: "g u" },
      {
        to: "/ledger",
        label: "Ledger",
        icon: BookText,
        permission: "application_view",
        keywords: "what ran when difference",
      },
      {
        to: "/notifications",
        label: "Notifications",
        icon: Bell,
        parts: Object.values(notificationParts),
        keywords: "rules channels deliveries",
      },
      {
        to: "/access",
        label: "Access",
        icon: ShieldCheck,
        parts: Object.values(accessParts),
        keywords: "users groups roles bindings permissions rbac",
      },
      { to: "/settings", label: "Settings", icon: Settings, permission: "setting_view" },
    ],
  },
];
