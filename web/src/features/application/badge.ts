import { type App, basePath } from "@/lib/application";

// badgeOf is the badge of an application as Markdown: a picture that leads to its page.
export function badgeOf(app: App, server: string): string {
  const at = [app.agent, app.namespace, app.name].map(encodeURIComponent).join("/");
  return `[![${app.name}](${server}${basePath(app)}/badge?showAppName=true)](${server}/applications/${at})`;
}
