import { Link, useLocation } from "@tanstack/react-router";
import { may, useSession } from "@/lib/session";
import { Button } from "@/ui/button";
import { Page } from "@/ui/page";
import { Empty, Failed } from "@/ui/states";

// Broken is shown where a page cannot be shown at all.
export function Broken({ error }: { error: unknown }) {
  const stale = error instanceof TypeError && /dynamically imported module/i.test(error.message);
  if (stale) {
    return (
      <main className="p-6">
        <Empty
          title="A newer version of this page is available"
          action={
            <Button look="primary" onClick={() => location.reload()}>
              Load it
            </Button>
          }
        >
          The server was upgraded since this page was opened.
        </Empty>
      </main>
    );
  }
  return (
    <main className="p-6">
      <Failed error={error} retry={() => location.reload()} />
    </main>
  );
}

// NotFound is shown for an address that leads nowhere.
export function NotFound() {
  const { pathname } = useLocation();
  const mayApplications = may(useSession(), "application_view");
  return (
    <Page title="Page not found">
      <Empty
        filtered
        title="Nothing is at this address"
        action={
          <>
            <Button asChild look="primary">
              <Link to="/">Go to the fleet</Link>
            </Button>
            {mayApplications && (
              <Button asChild>
                <Link to="/applications">All applications</Link>
              </Button>
            )}
            <Button onClick={() => history.back()}>Back</Button>
          </>
        }
      >
        <code className="break-all">{pathname}</code> may be mistyped, or the object was deleted. Ctrl-K finds
        applications and pages.
      </Empty>
    </Page>
  );
}
