CREATE TABLE `call_documents` (
	`seq` integer PRIMARY KEY NOT NULL,
	`document` text NOT NULL,
	FOREIGN KEY (`seq`) REFERENCES `calls`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `call_metadata` (
	`seq` integer PRIMARY KEY NOT NULL,
	`metadata` text NOT NULL,
	FOREIGN KEY (`seq`) REFERENCES `calls`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `calls` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_id` integer NOT NULL,
	`id` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`occurred_at` integer,
	`status` text NOT NULL,
	`evaluation` text,
	`is_engaged` integer NOT NULL,
	`duration` real NOT NULL,
	`caller_number` text,
	`called_number` text,
	`ended_reason` text,
	`document_chars` integer NOT NULL,
	`change_seq` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `calls_by_id` ON `calls` (`project_id`,`id`);--> statement-breakpoint
CREATE INDEX `calls_by_time` ON `calls` (`project_id`,`created_at`,`id`,`document_chars`);--> statement-breakpoint
CREATE INDEX `calls_by_status` ON `calls` (`project_id`,`status`,`created_at`);--> statement-breakpoint
CREATE INDEX `calls_by_evaluation` ON `calls` (`project_id`,`evaluation`,`created_at`);--> statement-breakpoint
CREATE INDEX `calls_by_engagement` ON `calls` (`project_id`,`is_engaged`,`created_at`);--> statement-breakpoint
CREATE INDEX `calls_by_caller` ON `calls` (`project_id`,`caller_number`,`created_at`);--> statement-breakpoint
CREATE INDEX `calls_by_called` ON `calls` (`project_id`,`called_number`,`created_at`);--> statement-breakpoint
CREATE INDEX `calls_by_ended_reason` ON `calls` (`project_id`,`ended_reason`,`created_at`);--> statement-breakpoint
CREATE TABLE `calls_by_day` (
	`project_id` integer NOT NULL,
	`day` integer NOT NULL,
	`calls` integer NOT NULL,
	PRIMARY KEY(`project_id`, `day`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `chunks` (
	`label` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_id` integer NOT NULL,
	`item_seq` integer NOT NULL,
	`position` integer NOT NULL,
	`heading` text,
	`text` text NOT NULL,
	`overlap_chars` integer NOT NULL,
	`text_hash` text NOT NULL,
	`embedding` blob,
	`embedding_space` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` integer,
	`last_error` text,
	`leased_until` integer,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`item_seq`) REFERENCES `knowledge_items`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `chunks_by_item` ON `chunks` (`item_seq`,`position`);--> statement-breakpoint
CREATE INDEX `chunks_by_space` ON `chunks` (`project_id`,`embedding_space`);--> statement-breakpoint
CREATE INDEX `chunks_pending` ON `chunks` (`project_id`,`next_attempt_at`) WHERE embedding_space is null;--> statement-breakpoint
CREATE TABLE `erasures` (
	`project_id` integer NOT NULL,
	`kind` text NOT NULL,
	`id_hash` text NOT NULL,
	`change_seq` integer NOT NULL,
	`requested_at` integer NOT NULL,
	`done_at` integer,
	PRIMARY KEY(`project_id`, `kind`, `id_hash`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `erasures_open` ON `erasures` (`requested_at`) WHERE done_at is null;--> statement-breakpoint
CREATE TABLE `keys` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` integer NOT NULL,
	`kind` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`hint` text NOT NULL,
	`allowed_ips` text NOT NULL,
	`expires_at` integer,
	`created_at` integer NOT NULL,
	`created_by` text,
	`last_used_at` integer,
	`last_used_ip` text,
	`revoked_at` integer,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `keys_hash_unique` ON `keys` (`hash`);--> statement-breakpoint
CREATE INDEX `keys_by_project` ON `keys` (`project_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `knowledge_items` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_id` integer NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`description` text NOT NULL,
	`text` text NOT NULL,
	`text_hash` text NOT NULL,
	`revision` integer DEFAULT 1 NOT NULL,
	`change_seq` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `knowledge_items_by_id` ON `knowledge_items` (`project_id`,`id`);--> statement-breakpoint
CREATE INDEX `knowledge_items_by_time` ON `knowledge_items` (`project_id`,`created_at`,`seq`);--> statement-breakpoint
CREATE TABLE `meta` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `projects` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`name` text NOT NULL,
	`change_seq` integer DEFAULT 0 NOT NULL,
	`knowledge_version` integer DEFAULT 0 NOT NULL,
	`call_count` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `projects_public_id_unique` ON `projects` (`public_id`);--> statement-breakpoint
CREATE UNIQUE INDEX `projects_name_unique` ON `projects` (`name`);--> statement-breakpoint
CREATE TRIGGER `calls_count_insert` AFTER INSERT ON `calls` BEGIN
	INSERT INTO `calls_by_day` (`project_id`, `day`, `calls`) VALUES (new.`project_id`, new.`created_at` / 86400000, 1)
	ON CONFLICT (`project_id`, `day`) DO UPDATE SET `calls` = `calls` + 1;
	UPDATE `projects` SET `call_count` = `call_count` + 1 WHERE `id` = new.`project_id`;
END;--> statement-breakpoint
CREATE TRIGGER `calls_count_delete` AFTER DELETE ON `calls` BEGIN
	UPDATE `calls_by_day` SET `calls` = `calls` - 1 WHERE `project_id` = old.`project_id` AND `day` = old.`created_at` / 86400000;
	DELETE FROM `calls_by_day` WHERE `project_id` = old.`project_id` AND `day` = old.`created_at` / 86400000 AND `calls` = 0;
	UPDATE `projects` SET `call_count` = `call_count` - 1 WHERE `id` = old.`project_id`;
END;
