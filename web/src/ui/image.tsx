import { cn } from "@/lib/cn";
import { imageOf } from "@/lib/image";
import { Copy } from "./copy";

// ImageName is the name of an image in one line. Where there is no room for all of it, the registry is cut, then the name, and
// the tag last: it is what people look for. The whole is shown on hover, and can be copied.
export function ImageName({ image, title = image, className }: { image: string; title?: string; className?: string }) {
  const { where, name, version } = imageOf(image);
  return (
    <span className={cn("flex min-w-0 items-center", className)} title={title}>
      <span className="min-w-0 shrink-[1000] truncate">{where}</span>
      <span className="min-w-[2ch] shrink-[30] truncate">{name}</span>
      <span className="min-w-0 truncate font-medium">{version}</span>
      <span className="ml-auto shrink-0">
        <Copy text={image} label={`Copy ${image}`} />
      </span>
    </span>
  );
}
