// Image is the name of an image in parts: what may be cut where there is little room, and what matters.
export interface Image {
  // where is the registry and the path, with the "/" behind it; "" for none.
  where: string;
  name: string;
  // version is the tag, or else the beginning of the digest, with the sign before it; "" for neither.
  version: string;
}

// imageOf takes the name of an image apart.
export function imageOf(text: string): Image {
  const [tagged = "", digest = ""] = text.split("@", 2);
  const slash = tagged.lastIndexOf("/") + 1;
  const colon = tagged.indexOf(":", slash); // one before it is that of a port
  const name = colon < 0 ? tagged.slice(slash) : tagged.slice(slash, colon);
  const hash = /^(sha256:)?([0-9a-f]{12})/.exec(digest)?.[2] ?? digest;
  return {
    where: tagged.slice(0, slash),
    name,
    version: colon < 0 ? digest && `@${hash}` : tagged.slice(colon),
  };
}
