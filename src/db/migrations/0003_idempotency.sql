CREATE TABLE `idempotent_creates` (
	`project_id` integer NOT NULL,
	`key_hash` text NOT NULL,
	`body_hash` text NOT NULL,
	`item_id` text,
	`created_at` integer NOT NULL,
	PRIMARY KEY(`project_id`, `key_hash`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `idempotent_creates_by_item` ON `idempotent_creates` (`project_id`,`item_id`);--> statement-breakpoint
CREATE INDEX `idempotent_creates_by_time` ON `idempotent_creates` (`created_at`);