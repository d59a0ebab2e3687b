DROP INDEX `recordings_without_peaks`;--> statement-breakpoint
CREATE INDEX `recordings_without_peaks` ON `recordings` (`project_id`,`seq`) WHERE peaks is null;--> statement-breakpoint
CREATE INDEX `sources_by_api_key` ON `sources` (options ->> 'apiKey') WHERE platform = 'livekit';