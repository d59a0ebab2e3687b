DROP INDEX `recordings_without_peaks`;--> statement-breakpoint
CREATE INDEX `recordings_without_peaks` ON `recordings` (`project_id`,`seq`) WHERE peaks is null;