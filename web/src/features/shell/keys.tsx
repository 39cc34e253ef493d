import { hotkeys } from "@/lib/hotkeys";
import { Dialog } from "@/ui/dialog";

// Keys lists the keys that do something on the page that is shown.
export default function Keys({ onClose }: { onClose: () => void }) {
  return (
    <Dialog open onClose={onClose} title="Keys">
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-2">
        {hotkeys().map((h) => (
          <div key={h.keys} className="contents">
            <dt>
              {h.keys.split(" ").map((key, i) => (
                <kbd key={i} className="mr-1 rounded border bg-ground px-1.5 py-0.5 text-sm">
                  {key.replace("mod+", "Ctrl ").toUpperCase()}
                </kbd>
              ))}
            </dt>
            <dd>{h.what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
