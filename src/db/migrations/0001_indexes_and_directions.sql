DROP INDEX `recordings_without_peaks`;--> statement-breakpoint
CREATE INDEX `recordings_without_peaks` ON `recordings` (`project_id`,`seq`) WHERE peaks is null;--> statement-breakpoint
CREATE INDEX `sources_by_api_key` ON `sources` (options ->> 'apiKey') WHERE platform = 'livekit';--> statement-breakpoint
-- Written by hand: the calls that have a direction are found by it, as new ones are. Nothing else of them changes.
UPDATE `calls` SET `value_list` = json_insert(coalesce(`value_list`, '[]'), '$[#]', (
	SELECT '["direction",' || substr(`details`, instr(`details`, ',"direction":"') + 13,
		instr(substr(`details`, instr(`details`, ',"direction":"') + 14), '"') + 1) || ']'
	FROM `call_details` WHERE `call_details`.`seq` = `calls`.`seq`))
WHERE `seq` IN (SELECT `seq` FROM `call_details` WHERE instr(`details`, ',"direction":"') > 0);
