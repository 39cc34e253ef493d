import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { nonce } from "./lib/csp";
import { queryClient } from "./lib/query";
import { begin, router } from "./router";
import "./style.css";
import { Toasts } from "./ui/toast";
import { TooltipProvider } from "./ui/tooltip";

// What makes style elements of its own reads the nonce from here.
Object.assign(globalThis, { __webpack_nonce__: nonce });

begin();

createRoot(document.getElementById("root") as HTMLElement).render(
  <StrictMode>
    <QueryClientProvider client={queryClient}>
      <TooltipProvider delayDuration={300}>
        <RouterProvider router={router} />
        <Toasts />
      </TooltipProvider>
    </QueryClientProvider>
  </StrictMode>,
);
