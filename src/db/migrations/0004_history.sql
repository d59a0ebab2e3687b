CREATE TABLE `source_imports` (
	`source_id` text PRIMARY KEY NOT NULL,
	`project_id` integer NOT NULL,
	`id` text NOT NULL,
	`state` text NOT NULL,
	`reason` text,
	`progress` text NOT NULL,
	`due_at` integer,
	FOREIGN KEY (`source_id`) REFERENCES `sources`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `source_imports_due` ON `source_imports` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX `source_imports_by_project` ON `source_imports` (`project_id`);--> statement-breakpoint
ALTER TABLE `recording_fetches` ADD `past_rank` integer;--> statement-breakpoint
CREATE INDEX `recording_fetches_turn` ON `recording_fetches` (`past_rank`,`due_at`,`project_id`) WHERE due_at is not null;