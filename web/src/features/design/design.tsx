import { useTitle } from "@/ui/page";
import { Basics } from "./basics";
import { Content } from "./content";
import { Forms } from "./forms";
import { Overlays } from "./overlays";

// Design shows every component in every state. It asks no server for anything, and what it shows never changes on its own.
export default function Design() {
  useTitle("Design");
  return (
    <main id="main" className="mx-auto max-w-[1200px]">
      <h1 className="p-4 text-xl font-semibold">Design</h1>
      <Basics />
      <Forms />
      <Content />
      <Overlays />
    </main>
  );
}
