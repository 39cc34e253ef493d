// safeLink is the address where it leads to a web page or to a mail, and undefined for anything else: texts that come from clusters, Git
// or users must not run script (javascript:) or open something of this machine.
export function safeLink(address: string | undefined | null): string | undefined {
  if (!address) {
    return undefined;
  }
  try {
    const url = new URL(address);
    return ["https:", "http:", "mailto:"].includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}
