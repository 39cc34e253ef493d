import { Tooltip as Radix } from "radix-ui";
import type { ReactElement, ReactNode } from "react";

export const TooltipProvider = Radix.Provider;

// Tooltip says more of what it is around, on hover and focus.
export function Tooltip({ text, children }: { text: ReactNode; children: ReactElement }) {
  return (
    <Radix.Root>
      <Radix.Trigger asChild>{children}</Radix.Trigger>
      <Radix.Portal>
        <Radix.Content
          sideOffset={5}
          collisionPadding={8}
          className="z-50 max-w-xs rounded-md bg-text px-2 py-1 text-xs break-words text-surface shadow-lg"
        >
          {text}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
