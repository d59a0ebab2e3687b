DROP INDEX `projects_name_unique`;--> statement-breakpoint
CREATE INDEX `projects_by_name` ON `projects` (`name`);