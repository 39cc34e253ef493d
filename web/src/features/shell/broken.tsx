import { Link } from "@tanstack/react-router";
import { Button } from "@/ui/button";
import { Empty, Failed } from "@/ui/states";

// Broken is shown where a page cannot be shown at all.
export function Broken({ error }: { error: unknown }) {
  const stale = error instanceof TypeError && /dynamically imported module/i.test(error.message);
  if (stale) {
    return (
      <main className="p-6">
        <Empty
          title="There is a newer version of this page"
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
  return (
    <main className="p-6">
      <Empty
        title="There is no such page"
        action={
          <Button asChild>
            <Link to="/">Go to the fleet</Link>
          </Button>
        }
      >
        The address may be mistyped, or what it was for is gone.
      </Empty>
    </main>
  );
}
