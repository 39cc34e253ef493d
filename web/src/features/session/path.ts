// localPath keeps a link from leading elsewhere after the sign-in.
export function localPath(to: string): string {
  return to.startsWith("/") && !to.startsWith("//") && !to.includes("\\") ? to : "/";
}
