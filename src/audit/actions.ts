/** What the target of an entry can be. */
export type TargetKind =
  | 'alert'
  | 'call'
  | 'erasure'
  | 'hold'
  | 'item'
  | 'key'
  | 'person'
  | 'source'
  | 'webhook'

/** Every action that the audit trail records, and what it is done to, if that has an address. */
export const targetKinds = {
  console_set_up: null,
  signed_in: null,
  sign_in_failed: null,
  signed_out: null,
  signed_out_everywhere: null,
  session_ended: null,
  password_changed: null,
  password_link_created: 'person',
  password_reset: null,
  two_factor_enabled: null,
  two_factor_disabled: null,
  two_factor_reset: 'person',
  backup_codes_renewed: null,
  invitation_created: null,
  invitation_revoked: null,
  invitation_accepted: 'person',
  role_changed: 'person',
  person_removed: 'person',
  person_renamed: null,
  person_deleted: null,
  key_created: 'key',
  key_changed: 'key',
  key_rotated: 'key',
  key_revoked: 'key',
  source_created: 'source',
  source_changed: 'source',
  source_rotated: 'source',
  source_deleted: 'source',
  project_created: null,
  project_renamed: null,
  project_deleted: null,
  settings_changed: null,
  call_opened: 'call',
  calls_exported: null,
  call_deleted: 'call',
  recording_played: 'call',
  recording_deleted: 'call',
  recordings_expired: null,
  erasure_requested: 'erasure',
  erasure_done: 'erasure',
  hold_set: 'hold',
  hold_lifted: 'hold',
  calls_expired: null,
  calls_ended: null,
  audit_expired: null,
  questions_expired: null,
  call_evaluated: 'call',
  call_noted: 'call',
  call_labelled: 'call',
  call_reviewed: 'call',
  turn_flagged: 'call',
  rubric_changed: null,
  rubric_tried: 'call',
  call_analyzed: 'call',
  analyses_started: null,
  analyses_stopped: null,
  item_created: 'item',
  item_changed: 'item',
  item_deleted: 'item',
  alert_created: 'alert',
  alert_changed: 'alert',
  alert_tested: 'alert',
  alert_deleted: 'alert',
  webhook_created: 'webhook',
  webhook_secret_rotated: 'webhook',
  webhook_deleted: 'webhook',
  webhook_enabled: 'webhook',
  webhook_switched_off: 'webhook',
  webhook_replayed: 'webhook',
  webhook_resent: 'webhook',
  webhook_tested: 'webhook',
} as const satisfies Record<string, TargetKind | null>

export type AuditAction = keyof typeof targetKinds
