import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { infoQuery } from "@/lib/info";
import { Notice } from "@/ui/notice";

const key = "slipway.notice";
const every = 300_000; // ms: no event reports another banner

// SiteNotice is the banner of the settings. Once it is dismissed, this browser shows it again when it says something else.
export function SiteNotice() {
  const { data: info } = useQuery({ ...infoQuery, refetchInterval: every });
  const [dismissed, setDismissed] = useState(() => localStorage.getItem(key));
  const banner = info?.banner;
  if (!banner?.text) {
    return null;
  }
  const said = JSON.stringify([banner.text, banner.url ?? "", banner.severity ?? ""]);
  if (!banner.permanent && dismissed === said) {
    return null;
  }
  const dismiss = () => {
    localStorage.setItem(key, said);
    setDismissed(said);
  };
  return <Notice banner={banner} onDismiss={banner.permanent ? undefined : dismiss} />;
}
