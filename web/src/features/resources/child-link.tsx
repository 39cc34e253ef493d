import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { SquareArrowOutUpRight } from "lucide-react";
import { detailQuery, useApp } from "@/lib/application";
import { cn } from "@/lib/cn";
import { childOf, type Node } from "./model";

// ChildLink leads to the page of an Application that another one deploys; nothing for any other object.
export function ChildLink({ node, small = false }: { node: Node; small?: boolean }) {
  const app = useApp();
  const destination = useQuery(detailQuery(app)).data?.destination;
  const child = childOf(node, { agent: app.agent, destination });
  if (!child) {
    return null;
  }
  const label = `Open the application ${child.name}`;
  return (
    <Link
      to="/applications/$agent/$namespace/$name"
      params={child}
      title={label}
      aria-label={label}
      onClick={(event) => event.stopPropagation()}
      // In the graph, arrow keys move and Enter opens the object, which has the link too.
      {...(small ? { tabIndex: -1 } : {})}
      className={cn("shrink-0 text-accent hover:underline", small ? "p-1" : "inline-flex items-center gap-1")}
    >
      <SquareArrowOutUpRight size={14} aria-hidden />
      {!small && "Open the application"}
    </Link>
  );
}
