function linkOf(address: string | undefined | null, protocols: string[]): string | undefined {
  if (!address) {
    return undefined;
  }
  try {
    const url = new URL(address);
    return protocols.includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}

// webLink is the address where it leads to a web page, and undefined for anything else.
export const webLink = (address: string | undefined | null) => linkOf(address, ["https:", "http:"]);

// safeLink is the address where it leads to a web page or to a mail, and undefined for anything else: texts that come from clusters,
// Git or users must not run script (javascript:) or open something of this machine.
export const safeLink = (address: string | undefined | null) => linkOf(address, ["https:", "http:", "mailto:"]);
