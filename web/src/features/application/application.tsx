import { Outlet } from "@tanstack/react-router";

// ApplicationPage is the header of one application with its parts below.
export default function ApplicationPage() {
  return <Outlet />;
}
