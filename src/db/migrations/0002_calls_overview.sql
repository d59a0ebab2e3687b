CREATE TABLE `calls_without_words` (
	`seq` integer PRIMARY KEY NOT NULL,
	FOREIGN KEY (`seq`) REFERENCES `calls`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
DROP INDEX `calls_by_status`;--> statement-breakpoint
DROP INDEX `calls_by_engagement`;--> statement-breakpoint
DROP INDEX `calls_by_caller`;--> statement-breakpoint
DROP INDEX `calls_by_called`;--> statement-breakpoint
ALTER TABLE `calls` ADD `caller_digits` text GENERATED ALWAYS AS (replace(replace(replace(replace(replace(replace(replace(caller_number, ' ', ''), '+', ''), '-', ''), '(', ''), ')', ''), '.', ''), '/', '')) VIRTUAL;--> statement-breakpoint
ALTER TABLE `calls` ADD `called_digits` text GENERATED ALWAYS AS (replace(replace(replace(replace(replace(replace(replace(called_number, ' ', ''), '+', ''), '-', ''), '(', ''), ')', ''), '.', ''), '/', '')) VIRTUAL;--> statement-breakpoint
CREATE INDEX `calls_at_a_glance` ON `calls` (`project_id`,`created_at`,`id`,`status`,`evaluation`,`is_engaged`,`duration`,`ended_reason`,`caller_digits`,`called_digits`);--> statement-breakpoint
INSERT INTO `calls_without_words` (`seq`) SELECT `seq` FROM `calls`;
