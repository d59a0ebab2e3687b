import type { Role } from '../../../../identity.ts'

/** From least to most. */
export const roles: readonly Role[] = ['viewer', 'member', 'owner']

/** What a role is called. */
export const roleLabels: Record<Role, string> = { owner: 'Owner', member: 'Member', viewer: 'Viewer' }

/** What a role may do in a project. */
export function describeRole(role: Role, membersMayDelete: boolean): string {
  if (role === 'viewer') return 'Can see calls and knowledge and use the playground, but change nothing.'
  if (role === 'owner')
    return 'Can do everything, including manage keys, people and settings, and delete the project.'
  const deletion = membersMayDelete ? 'including deleting them' : 'but delete nothing'
  return `Can see and change calls and knowledge, ${deletion}. Cannot see keys, people, settings or the audit trail.`
}
