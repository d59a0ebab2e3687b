CREATE TABLE `accounts` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`account_id` text NOT NULL,
	`provider_id` text NOT NULL,
	`access_token` text,
	`refresh_token` text,
	`id_token` text,
	`access_token_expires_at` integer,
	`refresh_token_expires_at` integer,
	`scope` text,
	`password` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `accounts_by_person` ON `accounts` (`user_id`);--> statement-breakpoint
CREATE TABLE `alert_changes` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`alert_seq` integer NOT NULL,
	`at` integer NOT NULL,
	`message` text NOT NULL,
	FOREIGN KEY (`alert_seq`) REFERENCES `alerts`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `alert_changes_by_alert` ON `alert_changes` (`alert_seq`,`seq`);--> statement-breakpoint
CREATE INDEX `alert_changes_by_time` ON `alert_changes` (`at`);--> statement-breakpoint
CREATE TABLE `alerts` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_id` integer NOT NULL,
	`rule` text NOT NULL,
	`destinations` text NOT NULL,
	`version` integer DEFAULT 1 NOT NULL,
	`is_paused` integer DEFAULT false NOT NULL,
	`state` text DEFAULT 'no_data' NOT NULL,
	`since` integer NOT NULL,
	`value` real,
	`calls` integer DEFAULT 0 NOT NULL,
	`sent_at` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `alerts_id_unique` ON `alerts` (`id`);--> statement-breakpoint
CREATE INDEX `alerts_by_project` ON `alerts` (`project_id`,`seq`);--> statement-breakpoint
CREATE TABLE `analysis_pauses` (
	`project_id` integer PRIMARY KEY NOT NULL,
	`reason` text NOT NULL,
	`detail` text NOT NULL,
	`since` integer NOT NULL,
	`until` integer NOT NULL,
	`attempts` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
-- WITHOUT ROWID was added by hand, here and below: drizzle-kit does not know it.
CREATE TABLE `analysis_queue` (
	`seq` integer NOT NULL,
	`run_id` text DEFAULT '' NOT NULL,
	`project_id` integer NOT NULL,
	`due_at` integer NOT NULL,
	`position` integer DEFAULT 0 NOT NULL,
	`change_seq` integer DEFAULT 0 NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	PRIMARY KEY(`seq`, `run_id`),
	FOREIGN KEY (`seq`) REFERENCES `calls`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE INDEX `analysis_queue_due` ON `analysis_queue` (`project_id`,`due_at`,`position`);--> statement-breakpoint
CREATE INDEX `analysis_queue_by_run` ON `analysis_queue` (`run_id`) WHERE run_id <> '';--> statement-breakpoint
CREATE TABLE `analysis_runs` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` integer NOT NULL,
	`version` integer NOT NULL,
	`is_again` integer NOT NULL,
	`calls` integer NOT NULL,
	`done` integer DEFAULT 0 NOT NULL,
	`skipped` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` text,
	`stopped_at` integer,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `analysis_runs_by_project` ON `analysis_runs` (`project_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `analysis_slices` (
	`run_id` text NOT NULL,
	`number` integer NOT NULL,
	`seqs` text NOT NULL,
	PRIMARY KEY(`run_id`, `number`),
	FOREIGN KEY (`run_id`) REFERENCES `analysis_runs`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `analysis_usage` (
	`project_id` integer NOT NULL,
	`month` text NOT NULL,
	`prompt` integer NOT NULL,
	`completion` integer NOT NULL,
	PRIMARY KEY(`project_id`, `month`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `audit_events` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_id` integer,
	`number` integer NOT NULL,
	`at` integer NOT NULL,
	`actor_kind` text NOT NULL,
	`actor_id` text,
	`actor_name` text,
	`action` text NOT NULL,
	`target` text,
	`target_ref` text,
	`ip_address` text
);
--> statement-breakpoint
CREATE INDEX `audit_events_by_project` ON `audit_events` (`project_id`,`seq`);--> statement-breakpoint
CREATE UNIQUE INDEX `audit_events_by_number` ON `audit_events` (`project_id`,`number`);--> statement-breakpoint
CREATE INDEX `audit_events_by_actor` ON `audit_events` (`actor_id`,`seq`);--> statement-breakpoint
CREATE TABLE `call_counts` (
	`project_id` integer NOT NULL,
	`until` integer NOT NULL,
	`name` text NOT NULL,
	`value` text NOT NULL,
	`calls` integer NOT NULL,
	`success` integer NOT NULL,
	`fail` integer NOT NULL,
	`unevaluated` integer NOT NULL,
	`engaged` integer NOT NULL,
	`is_few` integer NOT NULL,
	PRIMARY KEY(`project_id`, `until`, `name`, `value`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `call_details` (
	`seq` integer PRIMARY KEY NOT NULL,
	`details` text,
	`metadata` text,
	`redactions` text,
	`analysis` text,
	FOREIGN KEY (`seq`) REFERENCES `calls`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `call_documents` (
	`seq` integer PRIMARY KEY NOT NULL,
	`call_change_seq` integer NOT NULL,
	`has_parts` integer DEFAULT false NOT NULL,
	`document` text NOT NULL,
	FOREIGN KEY (`seq`) REFERENCES `calls`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `call_parts` (
	`seq` integer NOT NULL,
	`turn_count` integer NOT NULL,
	`turns` text NOT NULL,
	`words` text NOT NULL,
	`updated_at` text NOT NULL,
	PRIMARY KEY(`seq`, `turn_count`),
	FOREIGN KEY (`seq`) REFERENCES `calls`(`seq`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `call_segments` (
	`project_id` integer NOT NULL,
	`segment` integer NOT NULL,
	PRIMARY KEY(`project_id`, `segment`)
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `call_sessions` (
	`project_id` integer NOT NULL,
	`trace_id` text NOT NULL,
	`framework` text NOT NULL,
	`call_id` text,
	`spans` text NOT NULL,
	`due_at` integer,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `call_sessions_by_trace` ON `call_sessions` (`project_id`,`trace_id`);--> statement-breakpoint
CREATE INDEX `call_sessions_by_call` ON `call_sessions` (`project_id`,`call_id`);--> statement-breakpoint
CREATE INDEX `call_sessions_due` ON `call_sessions` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE TABLE `call_set_slices` (
	`set_id` text NOT NULL,
	`number` integer NOT NULL,
	`seqs` text NOT NULL,
	PRIMARY KEY(`set_id`, `number`),
	FOREIGN KEY (`set_id`) REFERENCES `call_sets`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `call_sets` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` integer NOT NULL,
	`person_id` text NOT NULL,
	`name` text,
	`calls` integer NOT NULL,
	`created_at` integer NOT NULL,
	`kept_until` integer NOT NULL,
	`task` text,
	`due_at` integer,
	`slices_done` integer DEFAULT 0 NOT NULL,
	`changed` integer DEFAULT 0 NOT NULL,
	`held` integer DEFAULT 0 NOT NULL,
	`failed` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `call_sets_by_person` ON `call_sets` (`project_id`,`person_id`);--> statement-breakpoint
CREATE INDEX `call_sets_due` ON `call_sets` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE TABLE `call_values` (
	`project_id` integer NOT NULL,
	`value` text NOT NULL,
	`created_at` integer NOT NULL,
	`seq` integer NOT NULL,
	PRIMARY KEY(`project_id`, `value`, `created_at`, `seq`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
) WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `call_views` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` integer NOT NULL,
	`person_id` text NOT NULL,
	`is_shared` integer NOT NULL,
	`name` text NOT NULL,
	`page` text NOT NULL,
	`query` text NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `call_views_by_project` ON `call_views` (`project_id`);--> statement-breakpoint
CREATE TABLE `calls` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_id` integer NOT NULL,
	`id` text NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	`occurred_at` integer,
	`created_on_arrival` integer DEFAULT false NOT NULL,
	`engagement_stated` integer DEFAULT false NOT NULL,
	`status` text NOT NULL,
	`completed_at` integer,
	`heard_at` integer,
	`evaluation` text,
	`is_engaged` integer NOT NULL,
	`duration` real NOT NULL,
	`caller_number` text,
	`called_number` text,
	`ended_reason` text,
	`source` text,
	`agent_id` text,
	`review` text,
	`recording` text,
	`cost_usd` real,
	`latency_ms` real,
	`document_chars` integer NOT NULL,
	`change_seq` integer NOT NULL,
	`caller_digits` text GENERATED ALWAYS AS (replace(replace(replace(replace(replace(replace(replace(caller_number, ' ', ''), '+', ''), '-', ''), '(', ''), ')', ''), '.', ''), '/', '')) VIRTUAL,
	`called_digits` text GENERATED ALWAYS AS (replace(replace(replace(replace(replace(replace(replace(called_number, ' ', ''), '+', ''), '-', ''), '(', ''), ')', ''), '.', ''), '/', '')) VIRTUAL,
	`value_list` text,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `calls_by_id` ON `calls` (`project_id`,`id`);--> statement-breakpoint
CREATE INDEX `calls_by_evaluation` ON `calls` (`project_id`,`evaluation`,`created_at`,`id`,`status`,`is_engaged`,`duration`,`ended_reason`,`source`,`agent_id`);--> statement-breakpoint
CREATE INDEX `calls_by_completed_at` ON `calls` (`project_id`,`completed_at`) WHERE completed_at is not null;--> statement-breakpoint
CREATE INDEX `calls_by_updated_at` ON `calls` (`project_id`,`updated_at`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `calls_by_duration` ON `calls` (`project_id`,`duration`,`created_at`,`id`,`status`);--> statement-breakpoint
CREATE INDEX `calls_by_change` ON `calls` (`project_id`,`change_seq`);--> statement-breakpoint
CREATE INDEX `calls_by_heard_at` ON `calls` (`project_id`,`heard_at`,`id`,`document_chars`) WHERE status = 'live';--> statement-breakpoint
CREATE INDEX `calls_by_created_at` ON `calls` (`project_id`,`created_at`,`id`,`document_chars`,`status`,`evaluation`,`is_engaged`,`duration`,`ended_reason`,`source`,`agent_id`,`caller_digits`,`called_digits`);--> statement-breakpoint
CREATE TABLE `calls_without_words` (
	`seq` integer PRIMARY KEY NOT NULL,
	`project_id` integer NOT NULL,
	`due_at` integer DEFAULT 0 NOT NULL,
	`words` text,
	FOREIGN KEY (`seq`) REFERENCES `calls`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `chunk_segments` (
	`project_id` integer NOT NULL,
	`segment` integer NOT NULL,
	`chunks` integer NOT NULL,
	`words` integer NOT NULL,
	`first_label` integer NOT NULL,
	`last_label` integer NOT NULL,
	PRIMARY KEY(`project_id`, `segment`)
) WITHOUT ROWID;
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
	`segment` integer NOT NULL,
	`word_count` integer NOT NULL,
	`embedding` blob,
	`embedding_space` text,
	`attempts` integer DEFAULT 0 NOT NULL,
	`next_attempt_at` integer,
	`last_error` text,
	`leased_until` integer,
	`refusals` integer DEFAULT 0 NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`item_seq`) REFERENCES `knowledge_items`(`seq`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `chunks_by_item` ON `chunks` (`item_seq`,`position`);--> statement-breakpoint
CREATE INDEX `chunks_by_space` ON `chunks` (`project_id`,`embedding_space`);--> statement-breakpoint
CREATE INDEX `chunks_pending` ON `chunks` (`project_id`,`next_attempt_at`) WHERE embedding_space is null;--> statement-breakpoint
CREATE TABLE `erasure_requests` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` integer NOT NULL,
	`calls` integer NOT NULL,
	`deleted` integer DEFAULT 0 NOT NULL,
	`on_hold` integer DEFAULT 0 NOT NULL,
	`is_done` integer DEFAULT false NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `erasure_requests_open` ON `erasure_requests` (`project_id`) WHERE not is_done;--> statement-breakpoint
CREATE TABLE `erasure_slices` (
	`request_id` text NOT NULL,
	`number` integer NOT NULL,
	`seqs` text NOT NULL,
	PRIMARY KEY(`request_id`, `number`),
	FOREIGN KEY (`request_id`) REFERENCES `erasure_requests`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `erasures` (
	`project_id` integer NOT NULL,
	`kind` text NOT NULL,
	`id_hash` text NOT NULL,
	`record` integer,
	`change_seq` integer NOT NULL,
	`requested_at` integer NOT NULL,
	`done_at` integer,
	`request_id` text,
	PRIMARY KEY(`project_id`, `kind`, `id_hash`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `erasures_open` ON `erasures` (`requested_at`) WHERE done_at is null;--> statement-breakpoint
CREATE INDEX `erasures_by_change` ON `erasures` (`project_id`,`change_seq`);--> statement-breakpoint
CREATE TABLE `golden_questions` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_id` integer NOT NULL,
	`call_id` text,
	`wording` text NOT NULL,
	`query` text NOT NULL,
	`item_seq` integer NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` text,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`created_by`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE UNIQUE INDEX `golden_questions_id_unique` ON `golden_questions` (`id`);--> statement-breakpoint
CREATE UNIQUE INDEX `golden_questions_by_wording` ON `golden_questions` (`project_id`,`wording`);--> statement-breakpoint
CREATE INDEX `golden_questions_by_call` ON `golden_questions` (`project_id`,`call_id`);--> statement-breakpoint
CREATE TABLE `golden_runs` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_id` integer NOT NULL,
	`at` integer NOT NULL,
	`last_at` integer NOT NULL,
	`ranks` text NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `golden_runs_by_project` ON `golden_runs` (`project_id`,`seq`);--> statement-breakpoint
CREATE TABLE `holds` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`id` text NOT NULL,
	`project_id` integer NOT NULL,
	`call_id` text,
	`number` text,
	`reason` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` text,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `holds_id_unique` ON `holds` (`id`);--> statement-breakpoint
CREATE INDEX `holds_by_project` ON `holds` (`project_id`,`seq`);--> statement-breakpoint
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
CREATE INDEX `idempotent_creates_by_time` ON `idempotent_creates` (`created_at`);--> statement-breakpoint
CREATE TABLE `invitations` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` integer,
	`role` text,
	`person_id` text,
	`token_hash` text NOT NULL,
	`created_by` text,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `invitations_token_hash_unique` ON `invitations` (`token_hash`);--> statement-breakpoint
CREATE INDEX `invitations_by_project` ON `invitations` (`project_id`);--> statement-breakpoint
CREATE TABLE `keys` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` integer NOT NULL,
	`kind` text NOT NULL,
	`scope` text,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`hint` text NOT NULL,
	`allowed_ips` text NOT NULL,
	`allowed_origins` text NOT NULL,
	`expires_at` integer,
	`created_at` integer NOT NULL,
	`created_by` text,
	`last_used_at` integer,
	`last_used_ip` text,
	`revoked_at` integer,
	`replaces` text,
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
	`updated_at` integer NOT NULL,
	`updated_by` text,
	`change_seq` integer NOT NULL,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `knowledge_items_by_id` ON `knowledge_items` (`project_id`,`id`);--> statement-breakpoint
CREATE INDEX `knowledge_items_by_time` ON `knowledge_items` (`project_id`,`created_at`,`seq`);--> statement-breakpoint
CREATE INDEX `knowledge_items_by_change` ON `knowledge_items` (`project_id`,`change_seq`);--> statement-breakpoint
CREATE INDEX `knowledge_items_by_text` ON `knowledge_items` (`project_id`,`text_hash`);--> statement-breakpoint
CREATE TABLE `members` (
	`project_id` integer NOT NULL,
	`person_id` text NOT NULL,
	`role` text NOT NULL,
	`without_groups` text,
	`created_at` integer NOT NULL,
	`views` text,
	PRIMARY KEY(`project_id`, `person_id`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`person_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `members_by_person` ON `members` (`person_id`);--> statement-breakpoint
CREATE TABLE `meta` (
	`name` text PRIMARY KEY NOT NULL,
	`value` text NOT NULL
);
--> statement-breakpoint
CREATE TABLE `people` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`email` text NOT NULL,
	`email_verified` integer DEFAULT false NOT NULL,
	`image` text,
	`two_factor_enabled` integer DEFAULT false NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `people_email_unique` ON `people` (`email`);--> statement-breakpoint
CREATE TABLE `project_erasures` (
	`project_id` integer PRIMARY KEY NOT NULL,
	`id_hash` text NOT NULL,
	`requested_at` integer NOT NULL,
	`done_at` integer
);
--> statement-breakpoint
CREATE TABLE `projects` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`public_id` text NOT NULL,
	`name` text NOT NULL,
	`change_seq` integer DEFAULT 0 NOT NULL,
	`calls` integer DEFAULT 0 NOT NULL,
	`knowledge_version` integer DEFAULT 0 NOT NULL,
	`replaced_seq` integer DEFAULT 0 NOT NULL,
	`created_at` integer NOT NULL,
	`deleted_at` integer,
	`retain_days` integer,
	`redact` text DEFAULT '[]' NOT NULL,
	`country` text,
	`keep_numbers` text DEFAULT 'all' NOT NULL,
	`keep_questions_days` integer,
	`gap_coverage` real DEFAULT 0.5 NOT NULL,
	`notes_reading` integer DEFAULT false NOT NULL,
	`members_may_delete` integer DEFAULT true NOT NULL,
	`time_zone` text,
	`end_silent_after` text DEFAULT '24h',
	`recordings` text DEFAULT 'off' NOT NULL,
	`recording_retain_days` integer
);
--> statement-breakpoint
CREATE UNIQUE INDEX `projects_public_id_unique` ON `projects` (`public_id`);--> statement-breakpoint
CREATE INDEX `projects_by_name` ON `projects` (`name`);--> statement-breakpoint
CREATE TABLE `question_states` (
	`project_id` integer NOT NULL,
	`wording` text NOT NULL,
	`coverage` real,
	`hits` text,
	`since` integer,
	`mark` text,
	`marked_at` integer,
	`marked_by` text,
	`assignee_id` text,
	PRIMARY KEY(`project_id`, `wording`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`marked_by`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE set null,
	FOREIGN KEY (`assignee_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE set null
);
--> statement-breakpoint
CREATE TABLE `questions` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_id` integer NOT NULL,
	`at` integer NOT NULL,
	`call_id` text,
	`wording` text NOT NULL,
	`query` text NOT NULL,
	`coverage` real,
	`hits` text NOT NULL,
	`reads` text DEFAULT '[]' NOT NULL,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `questions_by_time` ON `questions` (`project_id`,`at`);--> statement-breakpoint
CREATE INDEX `questions_by_call` ON `questions` (`project_id`,`call_id`);--> statement-breakpoint
CREATE INDEX `questions_by_wording` ON `questions` (`project_id`,`wording`,`at`,`coverage`);--> statement-breakpoint
CREATE TABLE `recording_fetches` (
	`seq` integer PRIMARY KEY NOT NULL,
	`project_id` integer NOT NULL,
	`source_id` text,
	`url` blob,
	`url_expires_at` integer,
	`reference` text,
	`since` integer NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer,
	FOREIGN KEY (`seq`) REFERENCES `calls`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `recording_fetches_due` ON `recording_fetches` (`due_at`) WHERE due_at is not null;--> statement-breakpoint
CREATE INDEX `recording_fetches_by_project` ON `recording_fetches` (`project_id`);--> statement-breakpoint
CREATE TABLE `recording_removals` (
	`file` text PRIMARY KEY NOT NULL
);
--> statement-breakpoint
CREATE TABLE `recordings` (
	`seq` integer PRIMARY KEY NOT NULL,
	`project_id` integer NOT NULL,
	`file` text NOT NULL,
	`key` blob NOT NULL,
	`content_type` text NOT NULL,
	`bytes` integer NOT NULL,
	`sha256` text NOT NULL,
	`duration_seconds` real,
	`channels` integer,
	`kept_at` integer NOT NULL,
	`peaks` blob,
	FOREIGN KEY (`seq`) REFERENCES `calls`(`seq`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `recordings_file_unique` ON `recordings` (`file`);--> statement-breakpoint
CREATE INDEX `recordings_by_project` ON `recordings` (`project_id`,`bytes`);--> statement-breakpoint
CREATE INDEX `recordings_without_peaks` ON `recordings` (`seq`) WHERE peaks is null;--> statement-breakpoint
CREATE TABLE `rubrics` (
	`project_id` integer NOT NULL,
	`version` integer NOT NULL,
	`content` text NOT NULL,
	`created_at` integer NOT NULL,
	`created_by` text,
	PRIMARY KEY(`project_id`, `version`),
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE TABLE `sessions` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`token` text NOT NULL,
	`expires_at` integer NOT NULL,
	`ends_at` integer,
	`ip_address` text,
	`user_agent` text,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL,
	FOREIGN KEY (`user_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sessions_token_unique` ON `sessions` (`token`);--> statement-breakpoint
CREATE INDEX `sessions_by_person` ON `sessions` (`user_id`);--> statement-breakpoint
CREATE TABLE `sign_in_limits` (
	`id` text PRIMARY KEY NOT NULL,
	`key` text NOT NULL,
	`count` integer NOT NULL,
	`last_request` integer NOT NULL
);
--> statement-breakpoint
CREATE UNIQUE INDEX `sign_in_limits_key_unique` ON `sign_in_limits` (`key`);--> statement-breakpoint
CREATE TABLE `source_failures` (
	`seq` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`project_id` integer NOT NULL,
	`source_id` text NOT NULL,
	`at` integer NOT NULL,
	`call_id` text,
	`field` text NOT NULL,
	`message` text NOT NULL,
	`event` text,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade,
	FOREIGN KEY (`source_id`) REFERENCES `sources`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `source_failures_by_source` ON `source_failures` (`source_id`,`seq`);--> statement-breakpoint
CREATE INDEX `source_failures_by_call` ON `source_failures` (`project_id`,`call_id`);--> statement-breakpoint
CREATE INDEX `source_failures_by_time` ON `source_failures` (`at`);--> statement-breakpoint
CREATE TABLE `sources` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` integer NOT NULL,
	`platform` text NOT NULL,
	`name` text NOT NULL,
	`secret` text,
	`previous_secret` text,
	`previous_secret_until` integer,
	`options` text NOT NULL,
	`events` integer DEFAULT 0 NOT NULL,
	`last_event_at` integer,
	`created_at` integer NOT NULL,
	`created_by` text,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `sources_by_project` ON `sources` (`project_id`,`created_at`);--> statement-breakpoint
CREATE TABLE `two_factors` (
	`id` text PRIMARY KEY NOT NULL,
	`user_id` text NOT NULL,
	`secret` text NOT NULL,
	`backup_codes` text NOT NULL,
	`verified` integer DEFAULT false NOT NULL,
	`failed_verification_count` integer DEFAULT 0 NOT NULL,
	`locked_until` integer,
	FOREIGN KEY (`user_id`) REFERENCES `people`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE UNIQUE INDEX `two_factors_user_id_unique` ON `two_factors` (`user_id`);--> statement-breakpoint
CREATE TABLE `verifications` (
	`id` text PRIMARY KEY NOT NULL,
	`identifier` text NOT NULL,
	`value` text NOT NULL,
	`expires_at` integer NOT NULL,
	`created_at` integer NOT NULL,
	`updated_at` integer NOT NULL
);
--> statement-breakpoint
CREATE INDEX `verifications_by_identifier` ON `verifications` (`identifier`);--> statement-breakpoint
CREATE TABLE `webhook_queue` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`webhook_id` text NOT NULL,
	`kind` text NOT NULL,
	`record` integer,
	`erased_calls` integer,
	`alert` text,
	`ref` text,
	`event` text NOT NULL,
	`seq` integer NOT NULL,
	`at` integer DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER)) NOT NULL,
	`attempts` integer DEFAULT 0 NOT NULL,
	`due_at` integer DEFAULT 0,
	`is_sent` integer DEFAULT false NOT NULL,
	FOREIGN KEY (`webhook_id`) REFERENCES `webhooks`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `webhook_queue_due` ON `webhook_queue` (`webhook_id`,`due_at`,`is_sent`);--> statement-breakpoint
CREATE INDEX `webhook_queue_by_record` ON `webhook_queue` (`record`,`kind`,`webhook_id`);--> statement-breakpoint
CREATE INDEX `webhook_queue_by_ref` ON `webhook_queue` (`ref`,`webhook_id`) WHERE ref is not null;--> statement-breakpoint
CREATE TABLE `webhook_attempts` (
	`id` integer PRIMARY KEY AUTOINCREMENT NOT NULL,
	`webhook_id` text NOT NULL,
	`message_id` text NOT NULL,
	`kind` text NOT NULL,
	`record` integer,
	`ref` text,
	`event` text NOT NULL,
	`seq` integer NOT NULL,
	`attempt` integer NOT NULL,
	`at` integer NOT NULL,
	`status` integer,
	`error` text,
	`duration_ms` integer NOT NULL,
	`bytes` integer NOT NULL,
	`answer` text,
	FOREIGN KEY (`webhook_id`) REFERENCES `webhooks`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `webhook_attempts_by_webhook` ON `webhook_attempts` (`webhook_id`,`id`);--> statement-breakpoint
CREATE INDEX `webhook_attempts_by_message` ON `webhook_attempts` (`webhook_id`,`message_id`);--> statement-breakpoint
CREATE INDEX `webhook_attempts_failed` ON `webhook_attempts` (`webhook_id`,`id`) WHERE coalesce(status, 0) not between 200 and 299;--> statement-breakpoint
CREATE INDEX `webhook_answers_by_record` ON `webhook_attempts` (`record`,`kind`) WHERE answer is not null;--> statement-breakpoint
CREATE INDEX `webhook_attempts_by_time` ON `webhook_attempts` (`at`);--> statement-breakpoint
CREATE TABLE `webhooks` (
	`id` text PRIMARY KEY NOT NULL,
	`project_id` integer NOT NULL,
	`kind` text DEFAULT 'webhook' NOT NULL,
	`url` text NOT NULL,
	`events` text NOT NULL,
	`is_detailed` integer DEFAULT false NOT NULL,
	`secret` text NOT NULL,
	`previous_secret` text,
	`previous_secret_until` integer,
	`created_at` integer NOT NULL,
	`created_by` text,
	`failures` integer DEFAULT 0 NOT NULL,
	`failing_since` integer,
	`last_success_at` integer,
	`disabled_at` integer,
	`disabled_reason` text,
	`missed_after` integer,
	FOREIGN KEY (`project_id`) REFERENCES `projects`(`id`) ON UPDATE no action ON DELETE cascade
);
--> statement-breakpoint
CREATE INDEX `webhooks_by_project` ON `webhooks` (`project_id`,`disabled_at`);--> statement-breakpoint
CREATE TABLE `word_removals` (
	`kind` text NOT NULL,
	`segment` integer NOT NULL,
	`record` integer NOT NULL,
	`project_id` integer NOT NULL,
	PRIMARY KEY(`kind`, `segment`, `record`)
) WITHOUT ROWID;
--> statement-breakpoint
-- Written by hand: drizzle-kit knows no triggers. They keep `call_counts`, which src/calls/finding/counts.ts explains. `entry` is
-- how `call_values` has a value that few calls have.
CREATE VIEW `counted_calls` (`seq`, `project_id`, `created_at`, `until`, `name`, `value`, `entry`, `evaluation`, `is_engaged`) AS
SELECT `seq`, `project_id`, `created_at`, `created_at` / 900000 * 900000 + 900000, '', '', NULL, `evaluation`, `is_engaged` FROM `calls`
UNION ALL
SELECT `seq`, `project_id`, `created_at`, `created_at` / 86400000 * 86400000 + 86400000, 'endedReason', json_quote(`ended_reason`), NULL, `evaluation`, `is_engaged` FROM `calls`
UNION ALL
SELECT `seq`, `project_id`, `created_at`, `created_at` / 86400000 * 86400000 + 86400000, 'source', json_quote(`source`), NULL, `evaluation`, `is_engaged` FROM `calls`
UNION ALL
SELECT `seq`, `project_id`, `created_at`, `created_at` / 86400000 * 86400000 + 86400000, 'agentId', json_quote(`agent_id`), NULL, `evaluation`, `is_engaged` FROM `calls`
UNION ALL
SELECT `seq`, `project_id`, `created_at`, `created_at` / 86400000 * 86400000 + 86400000, 'duration', CAST(min(CAST(`duration` / 10 AS INTEGER), 180) * 10 AS TEXT), NULL, `evaluation`, `is_engaged` FROM `calls` WHERE `status` = 'completed'
UNION ALL
SELECT `seq`, `project_id`, `created_at`, 9007199254740991, 'status', json_quote(`status`), '["status",' || json_quote(`status`) || ']', `evaluation`, `is_engaged` FROM `calls`
UNION ALL
SELECT `seq`, `project_id`, `created_at`, 9007199254740991, 'evaluation', json_quote(`evaluation`), '["evaluation",' || json_quote(`evaluation`) || ']', `evaluation`, `is_engaged` FROM `calls`
UNION ALL
SELECT `seq`, `project_id`, `created_at`, 9007199254740991, 'isEngaged', json_quote(`is_engaged`), '["isEngaged",' || json_quote(`is_engaged`) || ']', `evaluation`, `is_engaged` FROM `calls`
UNION ALL
SELECT `seq`, `project_id`, `created_at`, 9007199254740991, 'endedReason', json_quote(`ended_reason`), '["endedReason",' || json_quote(`ended_reason`) || ']', `evaluation`, `is_engaged` FROM `calls`
UNION ALL
SELECT `seq`, `project_id`, `created_at`, 9007199254740991, 'source', json_quote(`source`), '["source",' || json_quote(`source`) || ']', `evaluation`, `is_engaged` FROM `calls`
UNION ALL
SELECT `seq`, `project_id`, `created_at`, 9007199254740991, 'agentId', json_quote(`agent_id`), '["agentId",' || json_quote(`agent_id`) || ']', `evaluation`, `is_engaged` FROM `calls`;
--> statement-breakpoint
CREATE TRIGGER `calls_insert` AFTER INSERT ON `calls` BEGIN
	UPDATE `projects` SET `calls` = `calls` + 1 WHERE `id` = new.`project_id`;
	INSERT INTO `call_counts`
	SELECT `project_id`, `until`, `name`, `value`, 1, `evaluation` IS 'success', `evaluation` IS 'fail',
		`evaluation` IS NULL, `is_engaged`, `entry` IS NOT NULL
	FROM `counted_calls` WHERE `seq` = new.`seq`
	ON CONFLICT DO UPDATE SET `calls` = `calls` + 1, `success` = `success` + excluded.`success`,
		`fail` = `fail` + excluded.`fail`, `unevaluated` = `unevaluated` + excluded.`unevaluated`,
		`engaged` = `engaged` + excluded.`engaged`, `is_few` = CASE WHEN `is_few`
			THEN `calls` < 1000 + (SELECT `calls` FROM `projects` WHERE `id` = excluded.`project_id`) / 100 ELSE false END;
	INSERT INTO `call_values`
	SELECT `counted`.`project_id`, `entry`, `created_at`, `seq` FROM `counted_calls` AS `counted`
	CROSS JOIN `call_counts` AS `few` USING (`project_id`, `until`, `name`, `value`)
	WHERE `seq` = new.`seq` AND `entry` IS NOT NULL AND `is_few`;
END;--> statement-breakpoint
CREATE TRIGGER `call_counts_update` AFTER UPDATE OF `calls` ON `call_counts` WHEN new.`calls` = 0 BEGIN
	DELETE FROM `call_counts` WHERE `project_id` = new.`project_id` AND `until` = new.`until` AND `name` = new.`name`
		AND `value` = new.`value`;
END;--> statement-breakpoint
CREATE TRIGGER `calls_before_delete` BEFORE DELETE ON `calls` BEGIN
	UPDATE `projects` SET `calls` = `calls` - 1 WHERE `id` = old.`project_id`;
	DELETE FROM `call_values` WHERE `project_id` = old.`project_id` AND `created_at` = old.`created_at`
		AND `seq` = old.`seq` AND `value` IN (
			SELECT `entry` FROM `counted_calls` WHERE `seq` = old.`seq` AND `entry` IS NOT NULL);
	INSERT INTO `call_counts`
	SELECT `project_id`, `until`, `name`, `value`, -1, -(`evaluation` IS 'success'), -(`evaluation` IS 'fail'),
		-(`evaluation` IS NULL), -`is_engaged`, false
	FROM `counted_calls` WHERE `seq` = old.`seq` AND EXISTS (SELECT 1 FROM `projects` WHERE `id` = old.`project_id`)
	ON CONFLICT DO UPDATE SET `calls` = `calls` - 1, `success` = `success` + excluded.`success`,
		`fail` = `fail` + excluded.`fail`, `unevaluated` = `unevaluated` + excluded.`unevaluated`,
		`engaged` = `engaged` + excluded.`engaged`;
END;--> statement-breakpoint
CREATE TRIGGER `calls_before_update` BEFORE UPDATE OF `created_at`, `evaluation`, `is_engaged`, `status`, `duration`, `ended_reason`, `source`, `agent_id` ON `calls`
WHEN (old.`created_at`, old.`evaluation`, old.`is_engaged`, old.`status`, old.`ended_reason`, old.`source`, old.`agent_id`, old.`duration` * (old.`status` = 'completed'))
	IS NOT (new.`created_at`, new.`evaluation`, new.`is_engaged`, new.`status`, new.`ended_reason`, new.`source`, new.`agent_id`, new.`duration` * (new.`status` = 'completed')) BEGIN
	DELETE FROM `call_values` WHERE `project_id` = old.`project_id` AND `created_at` = old.`created_at`
		AND `seq` = old.`seq` AND `value` IN (
			SELECT `entry` FROM `counted_calls` WHERE `seq` = old.`seq` AND `entry` IS NOT NULL);
	INSERT INTO `call_counts`
	SELECT `project_id`, `until`, `name`, `value`, -1, -(`evaluation` IS 'success'), -(`evaluation` IS 'fail'),
		-(`evaluation` IS NULL), -`is_engaged`, false
	FROM `counted_calls` WHERE `seq` = old.`seq` AND EXISTS (SELECT 1 FROM `projects` WHERE `id` = old.`project_id`)
	ON CONFLICT DO UPDATE SET `calls` = `calls` - 1, `success` = `success` + excluded.`success`,
		`fail` = `fail` + excluded.`fail`, `unevaluated` = `unevaluated` + excluded.`unevaluated`,
		`engaged` = `engaged` + excluded.`engaged`;
END;--> statement-breakpoint
CREATE TRIGGER `calls_update` AFTER UPDATE OF `created_at`, `evaluation`, `is_engaged`, `status`, `duration`, `ended_reason`, `source`, `agent_id` ON `calls`
WHEN (old.`created_at`, old.`evaluation`, old.`is_engaged`, old.`status`, old.`ended_reason`, old.`source`, old.`agent_id`, old.`duration` * (old.`status` = 'completed'))
	IS NOT (new.`created_at`, new.`evaluation`, new.`is_engaged`, new.`status`, new.`ended_reason`, new.`source`, new.`agent_id`, new.`duration` * (new.`status` = 'completed')) BEGIN
	INSERT INTO `call_counts`
	SELECT `project_id`, `until`, `name`, `value`, 1, `evaluation` IS 'success', `evaluation` IS 'fail',
		`evaluation` IS NULL, `is_engaged`, `entry` IS NOT NULL
	FROM `counted_calls` WHERE `seq` = new.`seq`
	ON CONFLICT DO UPDATE SET `calls` = `calls` + 1, `success` = `success` + excluded.`success`,
		`fail` = `fail` + excluded.`fail`, `unevaluated` = `unevaluated` + excluded.`unevaluated`,
		`engaged` = `engaged` + excluded.`engaged`, `is_few` = CASE WHEN `is_few`
			THEN `calls` < 1000 + (SELECT `calls` FROM `projects` WHERE `id` = excluded.`project_id`) / 100 ELSE false END;
	INSERT INTO `call_values`
	SELECT `counted`.`project_id`, `entry`, `created_at`, `seq` FROM `counted_calls` AS `counted`
	CROSS JOIN `call_counts` AS `few` USING (`project_id`, `until`, `name`, `value`)
	WHERE `seq` = new.`seq` AND `entry` IS NOT NULL AND `is_few`;
END;--> statement-breakpoint
-- These keep `call_values`, which src/calls/finding/call-values.ts explains.
CREATE TRIGGER `calls_insert_values` AFTER INSERT ON `calls` WHEN new.`value_list` IS NOT NULL BEGIN
	INSERT INTO `call_values` (`project_id`, `value`, `created_at`, `seq`)
	SELECT new.`project_id`, `value`, new.`created_at`, new.`seq` FROM json_each(new.`value_list`);
END;--> statement-breakpoint
CREATE TRIGGER `calls_update_values` AFTER UPDATE OF `value_list`, `created_at` ON `calls`
WHEN old.`value_list` IS NOT new.`value_list` OR old.`created_at` <> new.`created_at` BEGIN
	DELETE FROM `call_values` WHERE `project_id` = old.`project_id` AND `created_at` = old.`created_at`
		AND `seq` = old.`seq` AND `value` IN (SELECT `value` FROM json_each(old.`value_list`));
	INSERT INTO `call_values` (`project_id`, `value`, `created_at`, `seq`)
	SELECT new.`project_id`, `value`, new.`created_at`, new.`seq` FROM json_each(new.`value_list`);
END;--> statement-breakpoint
CREATE TRIGGER `calls_delete_values` AFTER DELETE ON `calls` WHEN old.`value_list` IS NOT NULL BEGIN
	DELETE FROM `call_values` WHERE `project_id` = old.`project_id` AND `created_at` = old.`created_at`
		AND `seq` = old.`seq` AND `value` IN (SELECT `value` FROM json_each(old.`value_list`));
END;--> statement-breakpoint
-- The words of deleted records are removed from their segments later: see src/erasure/word-erasure.ts.
CREATE TRIGGER `calls_delete_words` AFTER DELETE ON `calls`
WHEN EXISTS (SELECT 1 FROM `call_segments` WHERE `project_id` = old.`project_id` AND `segment` = old.`seq` >> 13) BEGIN
	INSERT INTO `word_removals` (`kind`, `segment`, `record`, `project_id`)
	VALUES ('call', old.`seq` >> 13, old.`seq`, old.`project_id`);
END;--> statement-breakpoint
CREATE TRIGGER `chunks_insert_words` AFTER INSERT ON `chunks` BEGIN
	INSERT INTO `chunk_segments` VALUES (new.`project_id`, new.`segment`, 1, new.`word_count`, new.`label`, new.`label`)
	ON CONFLICT DO UPDATE SET `chunks` = `chunks` + 1, `words` = `words` + excluded.`words`, `last_label` = excluded.`last_label`;
END;--> statement-breakpoint
CREATE TRIGGER `chunks_delete_words` AFTER DELETE ON `chunks` BEGIN
	UPDATE `chunk_segments` SET `chunks` = `chunks` - 1, `words` = `words` - old.`word_count`
	WHERE `project_id` = old.`project_id` AND `segment` = old.`segment`;
	DELETE FROM `chunk_segments` WHERE `project_id` = old.`project_id` AND `segment` = old.`segment` AND `chunks` = 0;
	INSERT INTO `word_removals` (`kind`, `segment`, `record`, `project_id`)
	VALUES ('chunk', old.`segment`, old.`label`, old.`project_id`);
END;--> statement-breakpoint
-- What sources keep of a call, and what was asked in it, is erased with the call.
CREATE TRIGGER `calls_delete_source_data` AFTER DELETE ON `calls` BEGIN
	DELETE FROM `call_sessions` WHERE `project_id` = old.`project_id` AND `call_id` = old.`id`;
	DELETE FROM `source_failures` WHERE `project_id` = old.`project_id` AND `call_id` = old.`id`;
	DELETE FROM `questions` WHERE `project_id` = old.`project_id` AND `call_id` = old.`id`;
	DELETE FROM `golden_questions` WHERE `project_id` = old.`project_id` AND `call_id` = old.`id`;
END;--> statement-breakpoint
CREATE TRIGGER `questions_delete` AFTER DELETE ON `questions`
WHEN NOT EXISTS (SELECT 1 FROM `questions` WHERE `project_id` = old.`project_id` AND `wording` = old.`wording`) BEGIN
	DELETE FROM `question_states` WHERE `project_id` = old.`project_id` AND `wording` = old.`wording`;
END;--> statement-breakpoint
-- The file of a recording outlasts its row until the next erasure: see src/recordings/removed-files.ts.
CREATE TRIGGER `recordings_delete` AFTER DELETE ON `recordings` BEGIN
	INSERT OR IGNORE INTO `recording_removals` VALUES (old.`file`);
END;--> statement-breakpoint
CREATE TRIGGER `recordings_update` AFTER UPDATE OF `file` ON `recordings` WHEN old.`file` <> new.`file` BEGIN
	INSERT OR IGNORE INTO `recording_removals` VALUES (old.`file`);
END;--> statement-breakpoint
-- Before the row goes, so that even a server that keeps deleted pages keeps no key.
CREATE TRIGGER `calls_delete_recording` BEFORE DELETE ON `calls` BEGIN
	UPDATE `recordings` SET `key` = zeroblob(32) WHERE `seq` = old.`seq`;
END;--> statement-breakpoint
-- What endpoints have answered about a record goes with it, and with the text that an item had.
CREATE TRIGGER `calls_delete_answers` AFTER DELETE ON `calls` BEGIN
	UPDATE `webhook_attempts` SET `answer` = NULL WHERE `record` = old.`seq` AND `kind` = 'call' AND `answer` IS NOT NULL;
END;--> statement-breakpoint
CREATE TRIGGER `items_update_answers` AFTER UPDATE OF `change_seq` ON `knowledge_items` BEGIN
	UPDATE `webhook_attempts` SET `answer` = NULL WHERE `record` = old.`seq` AND `kind` = 'item' AND `answer` IS NOT NULL;
END;--> statement-breakpoint
CREATE TRIGGER `items_delete_answers` AFTER DELETE ON `knowledge_items` BEGIN
	UPDATE `webhook_attempts` SET `answer` = NULL WHERE `record` = old.`seq` AND `kind` = 'item' AND `answer` IS NOT NULL;
END;--> statement-breakpoint
CREATE TRIGGER `alerts_delete_answers` AFTER DELETE ON `alerts` BEGIN
	UPDATE `webhook_attempts` SET `answer` = NULL WHERE `record` = old.`seq` AND `kind` = 'alert' AND `answer` IS NOT NULL;
END;--> statement-breakpoint
-- These write `webhook_queue`, which src/webhooks/queue.ts explains, in the transaction that makes the change.
CREATE TRIGGER `calls_insert_events` AFTER INSERT ON `calls`
WHEN EXISTS (SELECT 1 FROM `webhooks` WHERE `project_id` = new.`project_id` AND `disabled_at` IS NULL) BEGIN
	INSERT INTO `webhook_queue` (`webhook_id`, `kind`, `record`, `event`, `seq`)
	SELECT `id`, 'call', new.`seq`, CASE new.`status` WHEN 'live' THEN 'call.started' ELSE 'call.completed' END,
		new.`change_seq`
	FROM `webhooks` WHERE `project_id` = new.`project_id` AND `disabled_at` IS NULL
		AND instr(`events`, CASE new.`status` WHEN 'live' THEN '"call.started"' ELSE '"call.completed"' END) > 0;
END;--> statement-breakpoint
-- What waits of a live call's changes is joined: into the next change, and into its completion.
CREATE TRIGGER `calls_update_events` AFTER UPDATE OF `change_seq` ON `calls`
WHEN old.`change_seq` <> new.`change_seq`
	AND EXISTS (SELECT 1 FROM `webhooks` WHERE `project_id` = new.`project_id` AND `disabled_at` IS NULL) BEGIN
	UPDATE `webhook_queue` SET `seq` = new.`change_seq`, `at` = CAST(unixepoch('subsec') * 1000 AS INTEGER),
		`is_sent` = 0, `attempts` = 0
	WHERE `record` = new.`seq` AND `kind` = 'call' AND `event` = 'call.changed' AND new.`status` = 'live';
	DELETE FROM `webhook_queue`
	WHERE `record` = new.`seq` AND `kind` = 'call' AND `event` = 'call.changed' AND `attempts` = 0
		AND old.`status` = 'live' AND new.`status` = 'completed'
		AND `webhook_id` IN (SELECT `id` FROM `webhooks` WHERE `project_id` = new.`project_id`
			AND instr(`events`, '"call.completed"') > 0);
	INSERT INTO `webhook_queue` (`webhook_id`, `kind`, `record`, `event`, `seq`)
	SELECT `id`, 'call', new.`seq`, CASE WHEN old.`status` = new.`status` THEN 'call.changed' ELSE 'call.completed' END,
		new.`change_seq`
	FROM `webhooks` WHERE `project_id` = new.`project_id` AND `disabled_at` IS NULL
		AND instr(`events`, CASE WHEN old.`status` = new.`status` THEN '"call.changed"' ELSE '"call.completed"' END) > 0
		AND NOT (new.`status` = 'live' AND EXISTS (SELECT 1 FROM `webhook_queue` AS `q` WHERE `q`.`record` = new.`seq`
			AND `q`.`kind` = 'call' AND `q`.`webhook_id` = `webhooks`.`id` AND `q`.`event` = 'call.changed'));
END;--> statement-breakpoint
CREATE TRIGGER `items_insert_events` AFTER INSERT ON `knowledge_items`
WHEN EXISTS (SELECT 1 FROM `webhooks` WHERE `project_id` = new.`project_id` AND `disabled_at` IS NULL) BEGIN
	INSERT INTO `webhook_queue` (`webhook_id`, `kind`, `record`, `event`, `seq`)
	SELECT `id`, 'item', new.`seq`, 'knowledge.changed', new.`change_seq`
	FROM `webhooks` WHERE `project_id` = new.`project_id` AND `disabled_at` IS NULL
		AND instr(`events`, '"knowledge.changed"') > 0;
END;--> statement-breakpoint
CREATE TRIGGER `items_update_events` AFTER UPDATE OF `change_seq` ON `knowledge_items`
WHEN old.`change_seq` <> new.`change_seq`
	AND EXISTS (SELECT 1 FROM `webhooks` WHERE `project_id` = new.`project_id` AND `disabled_at` IS NULL) BEGIN
	INSERT INTO `webhook_queue` (`webhook_id`, `kind`, `record`, `event`, `seq`)
	SELECT `id`, 'item', new.`seq`, 'knowledge.changed', new.`change_seq`
	FROM `webhooks` WHERE `project_id` = new.`project_id` AND `disabled_at` IS NULL
		AND instr(`events`, '"knowledge.changed"') > 0;
	INSERT INTO `webhook_queue` (`webhook_id`, `kind`, `record`, `event`, `seq`)
	SELECT `id`, 'item', new.`seq`, 'knowledge.ready', new.`change_seq`
	FROM `webhooks` WHERE `project_id` = new.`project_id` AND `disabled_at` IS NULL
		AND instr(`events`, '"knowledge.ready"') > 0
		AND NOT EXISTS (SELECT 1 FROM `chunks` WHERE `item_seq` = new.`seq` AND `embedding_space` IS NULL);
END;--> statement-breakpoint
CREATE TRIGGER `chunks_update_events` AFTER UPDATE OF `embedding_space` ON `chunks`
WHEN old.`embedding_space` IS NULL AND new.`embedding_space` IS NOT NULL
	AND EXISTS (SELECT 1 FROM `webhooks` WHERE `project_id` = new.`project_id` AND `disabled_at` IS NULL)
	AND NOT EXISTS (SELECT 1 FROM `chunks` WHERE `item_seq` = new.`item_seq` AND `embedding_space` IS NULL) BEGIN
	INSERT INTO `webhook_queue` (`webhook_id`, `kind`, `record`, `event`, `seq`)
	SELECT `webhooks`.`id`, 'item', `items`.`seq`, 'knowledge.ready', `items`.`change_seq`
	FROM `knowledge_items` AS `items` CROSS JOIN `webhooks`
	WHERE `items`.`seq` = new.`item_seq` AND `webhooks`.`project_id` = new.`project_id`
		AND `webhooks`.`disabled_at` IS NULL AND instr(`webhooks`.`events`, '"knowledge.ready"') > 0;
END;--> statement-breakpoint
-- From here on, what waits of the record is sent as deleted.
CREATE TRIGGER `erasures_insert_events` AFTER INSERT ON `erasures`
WHEN new.`kind` IN ('call', 'item')
	AND EXISTS (SELECT 1 FROM `webhooks` WHERE `project_id` = new.`project_id` AND `disabled_at` IS NULL) BEGIN
	UPDATE `webhook_queue` SET `ref` = new.`id_hash` WHERE `record` = new.`record` AND `kind` = new.`kind`;
	INSERT INTO `webhook_queue` (`webhook_id`, `kind`, `record`, `ref`, `event`, `seq`)
	SELECT `id`, new.`kind`, new.`record`, new.`id_hash`,
		CASE new.`kind` WHEN 'call' THEN 'call.deleted' ELSE 'knowledge.deleted' END,
		new.`change_seq`
	FROM `webhooks` WHERE `project_id` = new.`project_id` AND `disabled_at` IS NULL
		AND instr(`events`, CASE new.`kind` WHEN 'call' THEN '"call.deleted"' ELSE '"knowledge.deleted"' END) > 0;
END;--> statement-breakpoint
-- Of one record at one endpoint, only the earliest event has a due time. An erasure has no record.
CREATE TRIGGER `webhook_queue_insert` AFTER INSERT ON `webhook_queue`
WHEN EXISTS (SELECT 1 FROM `webhook_queue` AS `q` WHERE `q`.`record` = new.`record`
	AND `q`.`kind` = new.`kind` AND `q`.`webhook_id` = new.`webhook_id` AND `q`.`id` < new.`id` AND NOT `q`.`is_sent`) BEGIN
	UPDATE `webhook_queue` SET `due_at` = NULL WHERE `id` = new.`id`;
END;--> statement-breakpoint
CREATE TRIGGER `webhook_queue_delete` AFTER DELETE ON `webhook_queue` BEGIN
	UPDATE `webhook_queue` SET `due_at` = 0
	WHERE `due_at` IS NULL AND `id` = (SELECT min(`q`.`id`) FROM `webhook_queue` AS `q` WHERE `q`.`record` = old.`record`
		AND `q`.`kind` = old.`kind` AND `q`.`webhook_id` = old.`webhook_id` AND NOT `q`.`is_sent`);
END;
