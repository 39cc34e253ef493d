import {
  Activity,
  ArrowRightLeft,
  BellRing,
  Blocks,
  Box,
  Boxes,
  CalendarClock,
  CopyPlus,
  Database,
  FileSliders,
  Folder,
  Globe,
  HardDrive,
  IdCard,
  LayoutGrid,
  Link2,
  ListTodo,
  LockKeyhole,
  type LucideIcon,
  Network,
  Puzzle,
  Rocket,
  Route,
  Scaling,
  Server,
  ShieldBan,
  ShieldCheck,
  ShieldHalf,
  SquareStack,
  UserCog,
  Waypoints,
} from "lucide-react";
import { cn } from "@/lib/cn";

// Pictures of kinds: of one family, what runs, what connects, what configures, what keeps data, and who may do what.
const kinds: Record<string, LucideIcon> = {
  Application: LayoutGrid,
  ApplicationSet: SquareStack,
  AppProject: Folder,
  // what runs
  Pod: Box,
  Deployment: Rocket,
  Rollout: Rocket,
  StatefulSet: Database,
  DaemonSet: Server,
  ReplicaSet: CopyPlus,
  ReplicationController: CopyPlus,
  ControllerRevision: CopyPlus,
  Job: ListTodo,
  CronJob: CalendarClock,
  HorizontalPodAutoscaler: Scaling,
  VerticalPodAutoscaler: Scaling,
  ScaledObject: Scaling,
  PodDisruptionBudget: ShieldHalf,
  // what connects
  Service: Network,
  Endpoints: Waypoints,
  EndpointSlice: Waypoints,
  Ingress: Globe,
  IngressClass: Globe,
  Gateway: Globe,
  HTTPRoute: Route,
  GRPCRoute: Route,
  TCPRoute: Route,
  VirtualService: Route,
  DestinationRule: ArrowRightLeft,
  NetworkPolicy: ShieldBan,
  // what configures
  ConfigMap: FileSliders,
  Secret: LockKeyhole,
  SealedSecret: LockKeyhole,
  ExternalSecret: LockKeyhole,
  Certificate: ShieldCheck,
  Issuer: ShieldCheck,
  ClusterIssuer: ShieldCheck,
  CustomResourceDefinition: Puzzle,
  Namespace: Boxes,
  ServiceMonitor: Activity,
  PodMonitor: Activity,
  PrometheusRule: BellRing,
  // what keeps data
  PersistentVolume: HardDrive,
  PersistentVolumeClaim: HardDrive,
  StorageClass: HardDrive,
  // who may do what
  ServiceAccount: UserCog,
  Role: IdCard,
  ClusterRole: IdCard,
  RoleBinding: Link2,
  ClusterRoleBinding: Link2,
};

// pictured are the kinds that have a picture of their own.
export const pictured = Object.keys(kinds);

// kindIcon is the picture of a kind; a kind that has none of its own has one for all.
export const kindIcon = (kind: string): LucideIcon => (Object.hasOwn(kinds, kind) ? kinds[kind] : undefined) ?? Blocks;

// KindIcon is the picture of a kind. It stands beside the word: it says nothing to a screen reader.
export function KindIcon({ kind, size = 16, className }: { kind: string; size?: number; className?: string }) {
  const Icon = kindIcon(kind);
  return <Icon size={size} strokeWidth={1.75} aria-hidden className={cn("shrink-0 text-muted", className)} />;
}

// KindTile is the picture of a kind on a ground of its own.
export function KindTile({ kind, accent = false }: { kind: string; accent?: boolean }) {
  return (
    <span
      className={cn(
        "flex size-8 shrink-0 items-center justify-center rounded-md",
        accent ? "bg-accent-soft" : "bg-idle-soft",
      )}
    >
      <KindIcon kind={kind} size={18} className={cn(accent ? "text-accent" : "text-idle")} />
    </span>
  );
}
