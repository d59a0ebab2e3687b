DROP INDEX `recordings_without_peaks`;--> statement-breakpoint
ALTER TABLE `recordings` ADD `speech` blob;--> statement-breakpoint
ALTER TABLE `recordings` ADD `sound_due` integer DEFAULT 3;--> statement-breakpoint
CREATE INDEX `recordings_by_sound_due` ON `recordings` (`sound_due`,`project_id`,`seq`) WHERE sound_due is not null;--> statement-breakpoint
ALTER TABLE `calls` ADD `sound` text;--> statement-breakpoint
ALTER TABLE `calls` ADD `response_ms` real GENERATED ALWAYS AS (sound ->> '$.responseMs') VIRTUAL;--> statement-breakpoint
ALTER TABLE `calls` ADD `response_p95_ms` real GENERATED ALWAYS AS (sound ->> '$.responseP95Ms') VIRTUAL;--> statement-breakpoint
ALTER TABLE `calls` ADD `response_max_ms` real GENERATED ALWAYS AS (sound ->> '$.responseMaxMs') VIRTUAL;--> statement-breakpoint
ALTER TABLE `calls` ADD `dead_air_seconds` real GENERATED ALWAYS AS (sound ->> '$.deadAirSeconds') VIRTUAL;--> statement-breakpoint
ALTER TABLE `calls` ADD `talk_over_seconds` real GENERATED ALWAYS AS (sound ->> '$.talkOverSeconds') VIRTUAL;--> statement-breakpoint
ALTER TABLE `calls` ADD `agent_share` real GENERATED ALWAYS AS (sound ->> '$.agentShare') VIRTUAL;--> statement-breakpoint
ALTER TABLE `calls` ADD `interruptions` real GENERATED ALWAYS AS (sound ->> '$.interruptions') VIRTUAL;--> statement-breakpoint
ALTER TABLE `projects` ADD `caller_channel` integer;--> statement-breakpoint
-- Written by hand: what is cached of settings counts as long as this value stays.
DROP TRIGGER `projects_update_rights`;--> statement-breakpoint
CREATE TRIGGER `projects_update_rights` AFTER UPDATE OF `public_id`, `deleted_at`, `retain_days`, `redact`, `country`, `keep_numbers`, `keep_questions_days`, `gap_coverage`, `notes_reading`, `members_may_delete`, `time_zone`, `end_silent_after`, `recordings`, `recording_retain_days`, `caller_channel` ON `projects` BEGIN
	UPDATE `meta` SET `value` = lower(hex(randomblob(8))) WHERE `name` = 'rights';
END;--> statement-breakpoint
-- Who says which channel is the caller's changes the figures of sound: see soundDue in src/db/schema.ts.
CREATE TRIGGER `projects_update_sounds` AFTER UPDATE OF `caller_channel` ON `projects` BEGIN
	UPDATE `recordings` SET `sound_due` = 1 WHERE `project_id` = new.`id` AND `sound_due` IS NULL
		AND (SELECT `status` FROM `calls` WHERE `calls`.`seq` = `recordings`.`seq`) = 'completed';
END;--> statement-breakpoint
CREATE TRIGGER `sources_update_sounds` AFTER UPDATE OF `options` ON `sources`
	WHEN old.`options` ->> 'callerChannel' IS NOT new.`options` ->> 'callerChannel' BEGIN
	UPDATE `recordings` SET `sound_due` = 1 WHERE `project_id` = new.`project_id` AND `sound_due` IS NULL
		AND (SELECT `status` FROM `calls` WHERE `calls`.`seq` = `recordings`.`seq`) = 'completed';
END;--> statement-breakpoint
-- The calls whose recordings are kept wait to be measured, and are found by that.
UPDATE `call_details` SET `details` = substr(`details`, 1, instr(`details`, ',"analysis":{') - 1) || ',"sound":{"state":"waiting","reason":null,"responses":null,"responseMs":null,"responseP95Ms":null,"responseMaxMs":null,"deadAirs":null,"deadAirSeconds":null,"talkOvers":null,"talkOverSeconds":null,"interruptions":null,"callerSeconds":null,"agentSeconds":null,"agentShare":null,"monologueSeconds":null,"agentChannel":null,"untilSeconds":null,"version":null}'
	|| substr(`details`, instr(`details`, ',"analysis":{'))
WHERE `seq` IN (SELECT `seq` FROM `recordings`);--> statement-breakpoint
UPDATE `calls` SET `sound` = '{"state":"waiting","reason":null}',
	`value_list` = json_insert(coalesce(`value_list`, '[]'), '$[#]', '["sound","waiting"]')
WHERE `seq` IN (SELECT `seq` FROM `recordings`);
