import { RefreshCw, Trash2 } from "lucide-react";
import { useState } from "react";
import { Button } from "@/ui/button";
import { Confirm } from "@/ui/confirm";
import { Dialog, Drawer } from "@/ui/dialog";
import { Field, Input } from "@/ui/field";
import { Menu } from "@/ui/menu";
import { toast, toastError } from "@/ui/toast";
import { Piece, Row } from "./piece";

// Overlays are what stands over a page; each has a button that opens it.
export function Overlays() {
  const [open, setOpen] = useState("");
  const close = () => setOpen("");
  return (
    <Piece name="Overlays">
      <Row>
        <Button onClick={() => setOpen("dialog")}>Dialog</Button>
        <Button onClick={() => setOpen("confirm")}>Confirmation</Button>
        <Button onClick={() => setOpen("drawer")}>Drawer</Button>
        <Button onClick={() => toast("Sync requested", "web")}>Message</Button>
        <Button onClick={() => toastError(new Error("no answer"), "web could not be synced")}>Error message</Button>
        <Menu
          align="start"
          trigger={<Button>Menu</Button>}
          items={[
            "Heading",
            { label: "Refresh", icon: <RefreshCw size={15} aria-hidden />, run: () => undefined },
            { label: "Chosen", checked: true, run: () => undefined },
            { label: "Sync", why: "You need the permission application_sync.", run: () => undefined },
            null,
            { label: "Delete", icon: <Trash2 size={15} aria-hidden />, danger: true, run: () => undefined },
          ]}
        />
      </Row>
      <Dialog
        open={open === "dialog"}
        onClose={close}
        title="Save this view"
        description="The search and all conditions are saved."
        footer={
          <>
            <Button onClick={close}>Cancel</Button>
            <Button look="primary">Save</Button>
          </>
        }
      >
        <Field label="Name">
          <Input />
        </Field>
      </Dialog>
      <Confirm
        open={open === "confirm"}
        onClose={close}
        title="Delete web"
        action="Delete web"
        typed="web"
        onConfirm={() => Promise.resolve()}
      >
        <p>12 objects go with it.</p>
      </Confirm>
      <Drawer open={open === "drawer"} onClose={close} title="Deployment web" description="In namespace shop">
        <p className="p-4">What is shown beside the page.</p>
      </Drawer>
    </Piece>
  );
}
