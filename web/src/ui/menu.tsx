import { Check } from "lucide-react";
import { DropdownMenu } from "radix-ui";
import type { ReactElement, ReactNode } from "react";
import { cn } from "@/lib/cn";

export interface MenuItem {
  label: ReactNode;
  icon?: ReactNode;
  run: () => void;
  danger?: boolean;
  // why it cannot be done
  why?: string | undefined;
  // checked is there for what is on or off.
  checked?: boolean;
}

// Menu offers actions below the button that it is around. A string is a heading, null a line.
export function Menu({
  trigger,
  items,
  align = "end",
  defaultOpen = false,
}: {
  trigger: ReactElement;
  items: (MenuItem | string | null)[];
  align?: "start" | "end";
  // defaultOpen opens it with its appearance: for lists, which make a menu only for the row that was asked for it.
  defaultOpen?: boolean;
}) {
  return (
    <DropdownMenu.Root defaultOpen={defaultOpen}>
      <DropdownMenu.Trigger asChild>{trigger}</DropdownMenu.Trigger>
      <DropdownMenu.Portal>
        <DropdownMenu.Content
          align={align}
          sideOffset={4}
          collisionPadding={8}
          className="animate-appear z-50 max-h-[70vh] max-w-80 min-w-44 overflow-auto rounded-md border bg-raised p-1 shadow-xl"
        >
          {items.map((item, i) =>
            item === null ? (
              <DropdownMenu.Separator key={i} className="my-1 border-t" />
            ) : typeof item === "string" ? (
              <DropdownMenu.Label key={i} className="px-2 pt-1.5 pb-1 text-xs font-medium text-muted">
                {item}
              </DropdownMenu.Label>
            ) : (
              <DropdownMenu.Item
                key={i}
                disabled={Boolean(item.why)}
                onSelect={item.run}
                {...(item.checked === undefined ? {} : { role: "menuitemcheckbox", "aria-checked": item.checked })}
                className={cn(
                  "flex cursor-pointer items-start gap-2 rounded px-2 py-1.5 outline-none data-[disabled]:cursor-not-allowed data-[disabled]:text-muted data-[highlighted]:bg-accent-soft",
                  item.danger && !item.why && "text-bad",
                )}
              >
                {item.icon && <span className="mt-0.5 shrink-0">{item.icon}</span>}
                <span className="min-w-0 flex-1">
                  {item.label}
                  {item.why && <span className="block text-xs">{item.why}</span>}
                </span>
                {item.checked && <Check size={14} aria-hidden className="mt-0.5 shrink-0 text-accent" />}
              </DropdownMenu.Item>
            ),
          )}
        </DropdownMenu.Content>
      </DropdownMenu.Portal>
    </DropdownMenu.Root>
  );
}
