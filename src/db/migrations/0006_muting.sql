ALTER TABLE `recordings` ADD `waiting_since` integer;--> statement-breakpoint
ALTER TABLE `recordings` ADD `muting` text;--> statement-breakpoint
CREATE INDEX `recordings_waiting` ON `recordings` (`waiting_since`) WHERE waiting_since is not null;--> statement-breakpoint
-- Written by hand: nothing is silent in what is kept already. `keptAt` is the last member of a recording.
UPDATE `call_details` SET `details` = substr(`details`, 1, instr(`details`, ',"keptAt":"') + 35)
	|| ',"mutedSeconds":0,"muted":[]' || substr(`details`, instr(`details`, ',"keptAt":"') + 36)
WHERE `seq` IN (SELECT `seq` FROM `recordings`) AND instr(`details`, ',"keptAt":"') > 0;
