import { Slot } from "radix-ui";
import type { ComponentProps } from "react";
import { cn } from "@/lib/cn";
import { Spinner } from "./spinner";
import { Tooltip } from "./tooltip";

const looks = {
  primary: "bg-accent text-on-accent hover:brightness-110",
  plain: "bg-surface text-text border border-line hover:bg-idle-soft",
  ghost: "text-text hover:bg-idle-soft",
  danger: "bg-bad text-surface hover:brightness-110 dark:text-ground",
};

export interface ButtonProps extends ComponentProps<"button"> {
  look?: keyof typeof looks;
  small?: boolean;
  // busy shows that it is being done.
  busy?: boolean | undefined;
  // why says why it cannot be done, such as a missing permission; the button is disabled with it, and stays reachable by
  // keyboard so that every user can read why.
  why?: string | undefined;
  // asChild gives its look to the one element inside, such as a link.
  asChild?: boolean;
}

// Button does something. A link leads somewhere: use asChild for one that looks like a button.
export function Button({
  look = "plain",
  small,
  busy,
  why,
  asChild,
  className,
  disabled,
  children,
  onClick,
  ...rest
}: ButtonProps) {
  const Element = asChild ? Slot.Root : "button";
  const off = disabled || busy || Boolean(why);
  const button = (
    <Element
      {...(asChild ? {} : { type: "button" as const })}
      {...rest}
      {...(why ? { "aria-disabled": true, "aria-description": why } : asChild ? {} : { disabled: off })}
      onClick={off ? (event) => event.preventDefault() : onClick}
      className={cn(
        "inline-flex shrink-0 items-center justify-center gap-1.5 rounded-md font-medium whitespace-nowrap transition-colors",
        small ? "h-7 px-2 text-sm" : "h-8 px-3",
        looks[look],
        off && "cursor-not-allowed opacity-60",
        className,
      )}
    >
      {asChild ? (
        children
      ) : (
        <>
          {busy && <Spinner />}
          {children}
        </>
      )}
    </Element>
  );
  return why ? <Tooltip text={why}>{button}</Tooltip> : button;
}

// IconButton is a button with a picture only; label says what it does.
export function IconButton({
  label,
  className,
  children,
  ...rest
}: Omit<ButtonProps, "why"> & { label: string; why?: string | undefined }) {
  const { why, ...other } = rest;
  const button = (
    <Button
      look="ghost"
      aria-label={label}
      why={why}
      {...other}
      className={cn("w-8 px-0", other.small && "w-7", className)}
    >
      {children}
    </Button>
  );
  return why ? button : <Tooltip text={label}>{button}</Tooltip>;
}
