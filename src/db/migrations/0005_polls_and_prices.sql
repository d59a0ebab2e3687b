ALTER TABLE `projects` ADD `prices` text;--> statement-breakpoint
ALTER TABLE `sources` ADD `poll` text;--> statement-breakpoint
ALTER TABLE `sources` ADD `poll_due_at` integer;--> statement-breakpoint
CREATE INDEX `sources_poll_due` ON `sources` (`poll_due_at`) WHERE poll_due_at is not null;--> statement-breakpoint
-- Written by hand: what is cached of settings counts as long as this value stays.
DROP TRIGGER `projects_update_rights`;--> statement-breakpoint
CREATE TRIGGER `projects_update_rights` AFTER UPDATE OF `public_id`, `deleted_at`, `retain_days`, `redact`, `country`, `keep_numbers`, `keep_questions_days`, `gap_coverage`, `notes_reading`, `members_may_delete`, `time_zone`, `end_silent_after`, `recordings`, `recording_retain_days`, `caller_channel`, `prices` ON `projects` BEGIN
	UPDATE `meta` SET `value` = lower(hex(randomblob(8))) WHERE `name` = 'rights';
END;
