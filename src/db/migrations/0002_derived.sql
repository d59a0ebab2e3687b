ALTER TABLE `calls` ADD `derived` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
-- Written by hand: of these calls nobody has said whether the caller was engaged, so figures of engagement leave them out.
UPDATE `calls` SET `is_engaged` = 2 WHERE `is_engaged` = 0 AND NOT `engagement_stated`;
