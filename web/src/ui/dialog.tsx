import { X } from "lucide-react";
import { Dialog as Radix } from "radix-ui";
import { type ReactNode, useRef } from "react";
import { cn } from "@/lib/cn";
import { IconButton } from "./button";

interface Props {
  open: boolean;
  onClose: () => void;
  title: ReactNode;
  // description is read with the title by screen readers.
  description?: ReactNode;
  footer?: ReactNode;
  children?: ReactNode;
  className?: string;
}

// useFocus has the first field get the focus; without one, what is shown does: the button that closes it is no place to begin.
// When it closes, the focus goes back to where it was: most are opened by an address, and have no button that opened them. What
// is gone by then leaves it to the page.
export function useFocus() {
  const before = useRef<Element | null>(null);
  return {
    onOpenAutoFocus(event: Event): void {
      event.preventDefault();
      before.current = document.activeElement;
      const content = event.currentTarget as HTMLElement;
      const field = content.querySelector<HTMLElement>(
        "input:not([type=hidden]):not(:disabled), textarea:not(:disabled), select:not(:disabled)",
      );
      (field ?? content).focus();
    },
    onCloseAutoFocus(event: Event): void {
      event.preventDefault();
      const was = before.current;
      const back = was instanceof HTMLElement && was.isConnected && was !== document.body;
      (back ? was : document.getElementById("main"))?.focus({ preventScroll: true });
    },
  };
}

const shade = "fixed inset-0 z-40 bg-black/40 dark:bg-black/60";

function Head({ title, description }: Pick<Props, "title" | "description">) {
  return (
    <header className="flex items-start gap-3 border-b px-4 py-3">
      <div className="min-w-0 flex-1">
        <Radix.Title className="text-lg font-semibold break-words">{title}</Radix.Title>
        {description && (
          <Radix.Description className="mt-0.5 text-sm break-words text-muted">{description}</Radix.Description>
        )}
      </div>
      <Radix.Close asChild>
        <IconButton label="Close" small>
          <X size={16} aria-hidden />
        </IconButton>
      </Radix.Close>
    </header>
  );
}

// Dialog asks for something before anything else goes on.
export function Dialog({ open, onClose, title, description, footer, children, className }: Props) {
  const focus = useFocus();
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={shade} />
        <Radix.Content
          {...focus}
          {...(description ? {} : { "aria-describedby": undefined })}
          className={cn(
            "animate-appear fixed inset-x-2 top-[6vh] z-40 mx-auto flex max-h-[min(88vh,calc(94vh-var(--toasts,0px)))] max-w-lg flex-col rounded-lg border bg-raised shadow-2xl outline-none",
            className,
          )}
        >
          <Head title={title} description={description} />
          {children && <div className="min-h-0 flex-1 overflow-auto p-4">{children}</div>}
          {footer && <footer className="flex flex-wrap justify-end gap-2 border-t px-4 py-3">{footer}</footer>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}

// Drawer shows one thing in full beside the page that it is on.
export function Drawer({ open, onClose, title, description, footer, children, className }: Props) {
  const focus = useFocus();
  return (
    <Radix.Root open={open} onOpenChange={(next) => !next && onClose()}>
      <Radix.Portal>
        <Radix.Overlay className={shade} />
        <Radix.Content
          {...focus}
          {...(description ? {} : { "aria-describedby": undefined })}
          // What is inside may need the key for itself: a terminal, or the search of an editor.
          onEscapeKeyDown={(event) =>
            event.target instanceof Element && event.target.closest("[data-escape=own]") && event.preventDefault()
          }
          className={cn(
            "animate-slide fixed top-0 right-0 bottom-[var(--toasts,0px)] z-40 flex w-full max-w-3xl flex-col border-l bg-raised shadow-2xl outline-none",
            className,
          )}
        >
          <Head title={title} description={description} />
          <div className="min-h-0 flex-1 overflow-auto">{children}</div>
          {footer && <footer className="flex flex-wrap justify-end gap-2 border-t px-4 py-3">{footer}</footer>}
        </Radix.Content>
      </Radix.Portal>
    </Radix.Root>
  );
}
