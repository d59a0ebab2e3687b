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
WHERE `seq` IN (SELECT `seq` FROM `call_details` WHERE instr(`details`, ',"direction":"') > 0);--> statement-breakpoint
-- Written by hand: a set is one row. Queues are kept; calls that were selected, and what was being done to them, are not.
CREATE TABLE `new_call_sets` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` integer NOT NULL,
	`person_id` text NOT NULL,
	`name` text,
	`seqs` text NOT NULL,
	`created_at` integer NOT NULL,
	`kept_until` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);--> statement-breakpoint
INSERT INTO `new_call_sets` SELECT `id`, `project_id`, `person_id`, `name`, (
	SELECT json_group_array(`value`) FROM (
		SELECT `one`.`value` FROM `call_set_slices` CROSS JOIN json_each(`call_set_slices`.`seqs`) AS `one`
		WHERE `set_id` = `call_sets`.`id` ORDER BY `number`, `one`.`key`)), `created_at`, `kept_until`
FROM `call_sets` WHERE `name` IS NOT NULL ORDER BY `call_sets`.`rowid`;--> statement-breakpoint
DROP TABLE `call_set_slices`;--> statement-breakpoint
DROP TABLE `call_sets`;--> statement-breakpoint
ALTER TABLE `new_call_sets` RENAME TO `call_sets`;--> statement-breakpoint
CREATE INDEX `call_sets_by_person` ON `call_sets` (`project_id`,`person_id`);
