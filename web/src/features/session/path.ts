// localPath keeps a link from leading elsewhere after the sign-in: browsers drop tabs and line ends from an address and read \ as /.
export function localPath(to: string): string {
  // oxlint-disable-next-line no-control-regex
  return /^\/(?!\/)[^\u0000-\u001f\u007f\\]*$/.test(to) ? to : "/";
}
