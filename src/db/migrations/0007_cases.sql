CREATE TABLE `cases` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_id` integer NOT NULL,
	`call_seq` integer NOT NULL,
	`turn` integer NOT NULL,
	`content` text NOT NULL,
	`expect_hash` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` text,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`call_seq`) REFERENCES `calls`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `cases_by_project` ON `cases` (`project_id`,`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `cases_by_call` ON `cases` (`call_seq`,`turn`,`expect_hash`);