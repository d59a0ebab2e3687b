-- Counts are read from the calls themselves. Only a project's total stays, in the row that every write changes.
DROP TRIGGER `calls_insert`;--> statement-breakpoint
DROP TRIGGER `calls_before_delete`;--> statement-breakpoint
DROP TRIGGER `calls_before_update`;--> statement-breakpoint
DROP TRIGGER `calls_update`;--> statement-breakpoint
DROP TRIGGER `call_counts_update`;--> statement-breakpoint
DROP VIEW `counted_calls`;--> statement-breakpoint
DROP TRIGGER `calls_insert_values`;--> statement-breakpoint
DROP TRIGGER `calls_update_values`;--> statement-breakpoint
DROP TRIGGER `calls_delete_values`;--> statement-breakpoint
DROP TABLE `call_values`;--> statement-breakpoint
DROP TABLE `call_counts`;--> statement-breakpoint
DROP INDEX `calls_by_evaluation`;--> statement-breakpoint
DROP INDEX `calls_by_updated_at`;--> statement-breakpoint
DROP INDEX `calls_by_duration`;--> statement-breakpoint
CREATE TRIGGER `calls_insert_total` AFTER INSERT ON `calls` BEGIN
	UPDATE `projects` SET `calls` = `calls` + 1 WHERE `id` = new.`project_id`;
END;--> statement-breakpoint
CREATE TRIGGER `calls_delete_total` AFTER DELETE ON `calls` BEGIN
	UPDATE `projects` SET `calls` = `calls` - 1 WHERE `id` = old.`project_id`;
END;
