import { generateKey, isKey, type KeyKind } from '../access/keys/token.ts'
import { normalizeEmail, passesAsEmail, passwordProblem } from '../access/people/credentials.ts'
import { type Config, ConfigError } from '../config.ts'
import type { Services } from '../services/services.ts'
import { nameProblem } from '../validation.ts'

/** What a start makes on a new database and shows once. What the environment gives is not shown. */
export interface FirstStart {
  /** Null when the database has had a project, or the environment gives a key. */
  firstKey: { projectName: string; key: string } | null
  /** Opens the console's set-up page, once; null when there is a link already, or an owner. */
  setupToken: string | null
}

/**
 * Makes the first project, its keys, and the console's owner or the set-up link. Of several processes that start at once,
 * one makes them.
 * @throws ConfigError naming each bad variable, unless the database has had a project
 */
export async function bootstrap({ projects, keys, console, config }: Services): Promise<FirstStart> {
  const { project: projectName, apiKey, ingestKey, ownerEmail, ownerPassword } = config.init
  const shownKey = apiKey || ingestKey ? null : generateKey('live')
  const project = await projects.createFirst(projectName, async (projectId) => {
    refuseBad(config.init)
    const live = { name: 'First key', kind: 'live' as const, allowedIps: [], expiresAt: null }
    const ingest = { ...live, name: 'First ingest key', kind: 'ingest' as const }
    return [
      // Whoever gives a key runs the service, so it may do everything.
      ...(apiKey ? keys.insertion(projectId, { ...live, scope: 'manage' }, apiKey).statements : []),
      ...(ingestKey ? keys.insertion(projectId, ingest, ingestKey).statements : []),
      ...(shownKey ? keys.insertion(projectId, live, shownKey).statements : []),
      ...(ownerEmail && ownerPassword ? await console.links.ownerInsertion(ownerEmail, ownerPassword) : []),
    ]
  })
  const setupToken = await console.people.createSetUpLink()
  return { firstKey: project && shownKey ? { projectName, key: shownKey } : null, setupToken }
}

function refuseBad({ project, apiKey, ingestKey, ownerEmail, ownerPassword }: Config['init']): void {
  const hasOwner = ownerEmail !== null || ownerPassword !== null
  const isEmail = passesAsEmail(normalizeEmail(ownerEmail ?? ''))
  const problems = {
    PROJECT: nameProblem(project),
    API_KEY: keyProblem('live', apiKey),
    INGEST_KEY: keyProblem('ingest', ingestKey),
    OWNER_EMAIL: hasOwner && !isEmail && 'must be an email address, such as ada@example.com',
    OWNER_PASSWORD: hasOwner && passwordProblem(ownerPassword ?? ''),
  }
  const sentences = Object.entries(problems).flatMap(([name, problem]) =>
    problem ? [`CALLBOOK_INIT_${name} ${problem}`] : [],
  )
  if (sentences.length > 0) throw new ConfigError(sentences)
}

function keyProblem(kind: KeyKind, key: string | null): string | null {
  return key === null || isKey(key, kind) ? null : `must be ck_${kind}_ and 60 characters of 0-9 and a-f`
}
