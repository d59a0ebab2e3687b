-- Written by hand: counts are read from the calls themselves. Only a project's total stays, in the row that every write changes.
DROP TRIGGER `calls_insert`;--> statement-breakpoint
DROP TRIGGER `calls_before_delete`;--> statement-breakpoint
DROP TRIGGER `calls_before_update`;--> statement-breakpoint
DROP TRIGGER `calls_update`;--> statement-breakpoint
DROP TRIGGER `call_counts_update`;--> statement-breakpoint
DROP VIEW `counted_calls`;--> statement-breakpoint
DROP TRIGGER `calls_insert_values`;--> statement-breakpoint
DROP TRIGGER `calls_update_values`;--> statement-breakpoint
DROP TRIGGER `calls_delete_values`;--> statement-breakpoint
DROP TABLE `call_counts`;--> statement-breakpoint
DROP TABLE `call_values`;--> statement-breakpoint
DROP INDEX `calls_by_evaluation`;--> statement-breakpoint
DROP INDEX `calls_by_updated_at`;--> statement-breakpoint
DROP INDEX `calls_by_duration`;--> statement-breakpoint
DROP INDEX `calls_by_created_at`;--> statement-breakpoint
CREATE INDEX `calls_by_created_at` ON `calls` (`project_id`,`created_at`,`id`,`document_chars`,`status`,`evaluation`,`is_engaged`,`duration`,`ended_reason`,`source`,`agent_id`,`cost_usd`,`latency_ms`,`updated_at`);--> statement-breakpoint
DROP INDEX `recordings_without_peaks`;--> statement-breakpoint
CREATE INDEX `recordings_without_peaks` ON `recordings` (`project_id`,`seq`) WHERE peaks is null;--> statement-breakpoint
CREATE INDEX `sources_by_api_key` ON `sources` (options ->> 'apiKey') WHERE platform = 'livekit';--> statement-breakpoint
CREATE TRIGGER `calls_insert_total` AFTER INSERT ON `calls` BEGIN
	UPDATE `projects` SET `calls` = `calls` + 1 WHERE `id` = new.`project_id`;
END;--> statement-breakpoint
CREATE TRIGGER `calls_delete_total` AFTER DELETE ON `calls` BEGIN
	UPDATE `projects` SET `calls` = `calls` - 1 WHERE `id` = old.`project_id`;
END;--> statement-breakpoint
-- What is cached of keys and settings counts as long as this value stays.
INSERT INTO `meta` (`name`, `value`) VALUES ('rights', lower(hex(randomblob(8))));--> statement-breakpoint
CREATE TRIGGER `keys_update_rights` AFTER UPDATE OF `id`, `project_id`, `kind`, `scope`, `name`, `hash`, `allowed_ips`, `allowed_origins`, `expires_at`, `revoked_at` ON `keys` BEGIN
	UPDATE `meta` SET `value` = lower(hex(randomblob(8))) WHERE `name` = 'rights';
END;--> statement-breakpoint
CREATE TRIGGER `keys_delete_rights` AFTER DELETE ON `keys` BEGIN
	UPDATE `meta` SET `value` = lower(hex(randomblob(8))) WHERE `name` = 'rights';
END;--> statement-breakpoint
CREATE TRIGGER `projects_update_rights` AFTER UPDATE OF `public_id`, `deleted_at`, `retain_days`, `redact`, `country`, `keep_numbers`, `keep_questions_days`, `gap_coverage`, `notes_reading`, `members_may_delete`, `time_zone`, `end_silent_after`, `recordings`, `recording_retain_days` ON `projects` BEGIN
	UPDATE `meta` SET `value` = lower(hex(randomblob(8))) WHERE `name` = 'rights';
END;--> statement-breakpoint
-- Written by hand: the calls that have a direction are found by it, as new ones are. Nothing else of them changes.
UPDATE `calls` SET `value_list` = json_insert(coalesce(`value_list`, '[]'), '$[#]', (
	SELECT '["direction",' || substr(`details`, instr(`details`, ',"direction":"') + 13,
		instr(substr(`details`, instr(`details`, ',"direction":"') + 14), '"') + 1) || ']'
	FROM `call_details` WHERE `call_details`.`seq` = `calls`.`seq`))
WHERE `seq` IN (SELECT `seq` FROM `call_details` WHERE instr(`details`, ',"direction":"') > 0);
