CREATE TABLE `item_tags` (
	`project_id` integer NOT NULL,
	`tag` text NOT NULL,
	`item_seq` integer NOT NULL,
	PRIMARY KEY(`project_id`, `tag`, `item_seq`)
) WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `golden_questions` ADD `tags` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `golden_questions` ADD `file` text;--> statement-breakpoint
ALTER TABLE `keys` ADD `tags` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `knowledge_items` ADD `tags` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
ALTER TABLE `questions` ADD `tags` text DEFAULT '[]' NOT NULL;--> statement-breakpoint
-- Written by hand: the items of a tag are found without reading all of them.
CREATE TRIGGER `items_insert_tags` AFTER INSERT ON `knowledge_items` WHEN new.`tags` <> '[]' BEGIN
	INSERT OR IGNORE INTO `item_tags` SELECT new.`project_id`, `value`, new.`seq` FROM json_each(new.`tags`);
END;--> statement-breakpoint
CREATE TRIGGER `items_update_tags` AFTER UPDATE OF `tags` ON `knowledge_items` WHEN old.`tags` <> new.`tags` BEGIN
	DELETE FROM `item_tags` WHERE `project_id` = old.`project_id` AND `item_seq` = old.`seq`
		AND `tag` IN (SELECT `value` FROM json_each(old.`tags`));
	INSERT OR IGNORE INTO `item_tags` SELECT new.`project_id`, `value`, new.`seq` FROM json_each(new.`tags`);
END;--> statement-breakpoint
-- The questions of a file go with its item.
CREATE TRIGGER `items_delete_tags` AFTER DELETE ON `knowledge_items` BEGIN
	DELETE FROM `item_tags` WHERE `project_id` = old.`project_id` AND `item_seq` = old.`seq`
		AND `tag` IN (SELECT `value` FROM json_each(old.`tags`));
	DELETE FROM `golden_questions` WHERE `project_id` = old.`project_id` AND `item_seq` = old.`seq` AND `file` IS NOT NULL;
END;--> statement-breakpoint
DROP TRIGGER `keys_update_rights`;--> statement-breakpoint
CREATE TRIGGER `keys_update_rights` AFTER UPDATE OF `id`, `project_id`, `kind`, `scope`, `name`, `hash`, `allowed_ips`, `allowed_origins`, `expires_at`, `revoked_at`, `tags` ON `keys` BEGIN
	UPDATE `meta` SET `value` = lower(hex(randomblob(8))) WHERE `name` = 'rights';
END;
