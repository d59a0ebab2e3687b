import type { AuditAction } from '../../../../audit/audit-trail.ts'

/** The name of each action in the audit trail. */
export const actionWords: Record<AuditAction, string> = {
  console_set_up: 'Console set up',
  signed_in: 'Signed in',
  sign_in_failed: 'Sign-in failed',
  signed_out: 'Signed out',
  signed_out_everywhere: 'Signed out everywhere',
  session_ended: 'Session ended',
  password_changed: 'Password changed',
  password_link_created: 'Password link created',
  password_reset: 'Password reset',
  invitation_created: 'Invitation created',
  invitation_revoked: 'Invitation revoked',
  invitation_accepted: 'Invitation accepted',
  role_changed: 'Role changed',
  person_removed: 'Person removed',
  person_renamed: 'Person renamed',
  person_deleted: 'Person deleted',
  key_created: 'Key created',
  key_revoked: 'Key revoked',
  source_created: 'Source created',
  source_rotated: 'Secret of a source rotated',
  source_deleted: 'Source deleted',
  project_created: 'Project created',
  project_renamed: 'Project renamed',
  project_deleted: 'Project deleted',
  settings_changed: 'Settings changed',
  call_opened: 'Call opened',
  calls_exported: 'Calls exported',
  call_deleted: 'Call deleted',
  calls_expired: 'Calls deleted by retention',
  audit_expired: 'Old entries deleted',
  call_evaluated: 'Call evaluated',
  call_noted: 'Note on a call changed',
  call_labelled: 'Labels of a call changed',
  call_reviewed: 'Call marked as reviewed or not',
  turn_flagged: 'Turn of a call flagged or not',
  item_deleted: 'Knowledge item deleted',
  webhook_created: 'Webhook created',
  webhook_secret_rotated: 'Webhook secret rotated',
  webhook_removed: 'Webhook removed',
  webhook_enabled: 'Webhook switched on',
  webhook_switched_off: 'Webhook switched off',
  webhook_replayed: 'Webhook replayed',
}

/** Who acts where no person and no key does. */
export function nobodyWords(action: AuditAction): string {
  return action.endsWith('_expired') ? 'Callbook itself' : 'Command line'
}
