// Message is one server-sent event.
export interface Message {
  id: string;
  event: string;
  data: string;
}

// MessageParser puts server-sent events together from pieces of text as they arrive.
export class MessageParser {
  private rest: string[] = [];
  private id = "";
  private event = "";
  private data: string[] = [];

  // push returns the events that are complete with this piece.
  push(piece: string): Message[] {
    const out: Message[] = [];
    this.rest.push(piece);
    if (!piece.includes("\n")) {
      return out; // the middle of a long line is put together once, when its end is there
    }
    const lines = this.rest.join("").split("\n");
    this.rest = [lines.pop() ?? ""];
    for (const raw of lines) {
      const line = raw.endsWith("\r") ? raw.slice(0, -1) : raw;
      if (line === "") {
        if (this.data.length > 0) {
          out.push({ id: this.id, event: this.event || "message", data: this.data.join("\n") });
        }
        this.event = "";
        this.data = [];
        continue;
      }
      const colon = line.indexOf(":");
      const field = colon < 0 ? line : line.slice(0, colon);
      const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
      if (field === "data") {
        this.data.push(value);
      } else if (field === "event") {
        this.event = value;
      } else if (field === "id") {
        this.id = value;
      }
    }
    return out;
  }
}

// readMessages reads a stream of server-sent events to its end. alive is called for every piece, comments included.
export async function readMessages(
  response: Response,
  each: (message: Message) => void,
  alive?: () => void,
): Promise<void> {
  if (!response.body) {
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const parser = new MessageParser();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) {
      return;
    }
    alive?.();
    for (const message of parser.push(value)) {
      each(message);
    }
  }
}
