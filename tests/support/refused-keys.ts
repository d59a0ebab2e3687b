import { randomBytes } from 'node:crypto'
import type { TestProject, TestService } from './service.ts'

/** A key that every route must refuse, and the answer to it. */
export interface RefusedKey {
  when: string
  key: (of: { service: TestService; project: TestProject; clock: { ms: number } }) => Promise<string>
  status: 401 | 403
  title: string
}

/** Every kind of invalid key, in the order of the checks. The clock is the service's. */
export const refusedKeys: RefusedKey[] = [
  {
    when: 'the prefix is none of ours',
    key: async () => 'sk_live_00',
    status: 401,
    title: 'Invalid API key format',
  },
  {
    when: 'the key is an ingest key',
    key: async ({ project }) => project.ingestKey,
    status: 401,
    title: 'Invalid API key format',
  },
  {
    when: 'the key is unknown',
    key: async () => `ck_live_${randomBytes(30).toString('hex')}`,
    status: 401,
    title: 'Invalid API key',
  },
  {
    when: 'the key is revoked',
    async key({ service, project }) {
      const made = await make(service, project, {})
      await service.services.keys.revoke(project.projectId, made.id)
      return made.key
    },
    status: 401,
    title: 'Invalid API key',
  },
  {
    when: 'the key has expired',
    async key({ service, project, clock }) {
      const made = await make(service, project, { expiresAt: clock.ms + 1 })
      clock.ms += 1
      return made.key
    },
    status: 401,
    title: 'API key has expired',
  },
  {
    when: 'the address is not on its list',
    key: async ({ service, project }) => (await make(service, project, { allowedIps: ['10.0.0.0/8'] })).key,
    status: 403,
    title: 'IP address not allowed',
  },
]

function make(
  service: TestService,
  project: TestProject,
  rules: { allowedIps?: string[]; expiresAt?: number },
): Promise<{ id: string; key: string }> {
  return service.services.keys.create(project.projectId, {
    name: 'refused',
    kind: 'live',
    allowedIps: [],
    expiresAt: null,
    ...rules,
  })
}
