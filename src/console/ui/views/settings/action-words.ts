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
  project_created: 'Project created',
  project_renamed: 'Project renamed',
  project_deleted: 'Project deleted',
  call_deleted: 'Call deleted',
  item_deleted: 'Knowledge item deleted',
}
