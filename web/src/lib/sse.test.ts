import { expect, test } from "vitest";
import { MessageParser } from "./sse";

test("a message is the same however the stream is cut into pieces", () => {
  const text = ': hello\nid: 7\nevent: tree\ndata: {"a":\ndata: 1}\r\n\ndata: second\n\n';
  const want = [
    { id: "7", event: "tree", data: '{"a":\n1}' },
    { id: "7", event: "message", data: "second" },
  ];
  for (const size of [1, 2, 3, 5, 8, text.length]) {
    const parser = new MessageParser();
    const pieces = text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
    expect(
      pieces.flatMap((piece) => parser.push(piece)),
      `pieces of ${size}`,
    ).toEqual(want);
  }
});

test("a message without its end is none", () => {
  const parser = new MessageParser();
  expect(parser.push("data: half")).toEqual([]);
  expect(parser.push(" a line\n")).toEqual([]);
  expect(parser.push("\n")).toEqual([{ id: "", event: "message", data: "half a line" }]);
});
