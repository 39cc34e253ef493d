// sides makes the two texts of a unified diff: what is between its pieces is not known, and stands as a line that says so.
export function sides(diff: string): { before: string; after: string } {
  const before: string[] = [];
  const after: string[] = [];
  let inside = false;
  for (const line of diff.split("\n")) {
    const hunk = /^@@ -(\d+)/.exec(line);
    if (hunk) {
      if (inside || Number(hunk[1]) > 1) {
        const gap = "# …";
        before.push(gap);
        after.push(gap);
      }
      inside = true;
    } else if (!inside || line.startsWith("\\")) {
      continue;
    } else if (line.startsWith("-")) {
      before.push(line.slice(1));
    } else if (line.startsWith("+")) {
      after.push(line.slice(1));
    } else if (line.startsWith(" ")) {
      before.push(line.slice(1));
      after.push(line.slice(1));
    }
  }
  return { before: before.join("\n"), after: after.join("\n") };
}
