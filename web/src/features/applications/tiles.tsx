import { useEffect, useLayoutEffect, useRef, useState } from "react";
import { useFavourites } from "@/lib/favourites";
import { useSight } from "@/lib/sight";
import { has } from "./selection";
import { Tile } from "./tile";
import { type GridProps, useBeginning, follow, box } from "./table";

const tileWidth = 290;

const tileHeight = 122;

// ApplicationTiles shows the same as tiles beside each other, or one below the other where it is narrow.
export function ApplicationTiles({ list, selection, actions, onSeen, onToggle, stale }: GridProps) {
  const scroller = useRef<HTMLUListElement & HTMLDivElement>(null);
  const [across, setAcross] = useState(1);
  const favourites = useFavourites();
  useBeginning(list, scroller);
  useLayoutEffect(() => {
    const element = scroller.current;
    if (!element) {
      return undefined;
    }
    const watch = new ResizeObserver(() => setAcross(Math.max(1, Math.floor(element.clientWidth / tileWidth))));
    watch.observe(element);
    return () => watch.disconnect();
  }, []);
  const sight = useSight(scroller, Math.ceil(list.total / across), tileHeight, 3);
  const first = sight.first * across;
  const last = Math.min(list.total, (sight.last + 1) * across) - 1;
  useEffect(() => onSeen(first, last), [first, last, onSeen]);
  return (
    <div
      ref={scroller}
      tabIndex={0}
      role="region"
      aria-label="Applications"
      aria-busy={stale}
      data-testid="applications-table"
      data-total={list.total}
      data-filter={list.filter.search ?? ""}
      className={box}
      onClick={(event) => follow(event, actions)}
    >
      <ul className="relative" style={{ height: Math.ceil(list.total / across) * tileHeight }}>
        {Array.from({ length: last - first + 1 }, (_, i) => {
          const index = first + i;
          const app = list.row(index);
          return (
            <Tile
              key={index}
              app={app}
              index={index}
              style={{
                width: `${100 / across}%`,
                height: tileHeight,
                transform: `translate(${(index % across) * 100}%, ${Math.floor(index / across) * tileHeight}px)`,
              }}
              selected={has(selection, app?.id)}
              starred={app !== undefined && favourites.has(app.id)}
              actions={actions}
              onToggle={onToggle}
            />
          );
        })}
      </ul>
    </div>
  );
}
