-- Which receivers of its channel have a message that others do not have yet.
ALTER TABLE notification_delivery ADD COLUMN taken TEXT NOT NULL DEFAULT '';
