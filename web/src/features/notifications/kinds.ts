import type { Schemas } from "@/api/client";
import type { Kind } from "@/lib/entity";

export type Channel = Schemas["NotificationChannel"];
export type Rule = Schemas["NotificationRule"];
export type Delivery = Schemas["NotificationDelivery"];

export const channels: Kind<Channel> = {
  type: "notificationchannel",
  path: "/api/v1/notification-channels",
  one: "channel",
  many: "channels",
};
export const rules: Kind<Rule> = {
  type: "notificationrule",
  path: "/api/v1/notification-rules",
  one: "rule",
  many: "rules",
};

// What channels send to, with what the file of the secret holds and the options that are no secret.
export const services: Record<string, { label: string; secret: string; options: string[] }> = {
  slack: {
    label: "Slack",
    secret: "The address of an incoming webhook in Slack.",
    options: ["botname", "icon", "color"],
  },
  teams: { label: "Microsoft Teams", secret: "The address of an incoming webhook.", options: ["color"] },
  email: {
    label: "Mail",
    secret: "smtp://USER:PASSWORD@HOST:PORT/?fromaddress=…&toaddresses=…",
    options: ["to", "fromname", "usehtml"],
  },
  webhook: { label: "Webhook", secret: "The key that signs messages.", options: [] },
  pagerduty: {
    label: "PagerDuty",
    secret: "pagerduty://events.pagerduty.com/INTEGRATION-KEY",
    options: ["severity", "source", "action"],
  },
  opsgenie: {
    label: "Opsgenie",
    secret: "opsgenie://api.opsgenie.com/API-KEY",
    options: ["tags", "entity", "source", "priority", "responders"],
  },
  discord: { label: "Discord", secret: "The address from Discord.", options: ["username", "avatar", "color"] },
  telegram: {
    label: "Telegram",
    secret: "telegram://TOKEN@telegram?chats=…",
    options: ["chats", "notification", "preview"],
  },
  googlechat: { label: "Google Chat", secret: "The address from Google Chat.", options: [] },
  mattermost: { label: "Mattermost", secret: "Its URL for shoutrrr.", options: ["icon"] },
  matrix: { label: "Matrix", secret: "Its URL for shoutrrr.", options: ["rooms"] },
  rocketchat: { label: "Rocket.Chat", secret: "Its URL for shoutrrr.", options: [] },
  zulip: { label: "Zulip", secret: "Its URL for shoutrrr.", options: ["stream", "topic"] },
  ntfy: { label: "ntfy", secret: "Its URL for shoutrrr.", options: ["priority", "tags", "click", "icon"] },
  gotify: { label: "Gotify", secret: "Its URL for shoutrrr.", options: ["priority"] },
  pushover: { label: "Pushover", secret: "Its URL for shoutrrr.", options: ["devices", "priority"] },
};

export type Event = NonNullable<Rule["events"]>[number];

export const events: [Event, string][] = [
  ["sync.failed", "A sync or rollback failed"],
  ["sync.succeeded", "A sync or rollback succeeded"],
  ["out-of-sync", "An application is out of sync"],
  ["degraded", "An application became degraded"],
  ["healthy", "An application is healthy again"],
  ["held", "A sync or a deletion waits for a user, a window or a date"],
  ["drift", "An application has been out of sync for a long time"],
  ["drift.reverted", "A change in the cluster was reverted"],
  ["deleted", "An application was deleted with its objects"],
  ["agent.disconnected", "An agent has been away for a long time"],
  ["agent.connected", "An agent is back after a long absence"],
  ["certificate.expiring", "A TLS certificate expires soon"],
  ["token.expiring", "An API token expires soon"],
];
