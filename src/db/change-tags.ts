import { eq, sql } from 'drizzle-orm'
import { LRUCache } from 'lru-cache'
import type { ReadDatabase } from './reader.ts'
import type { RecordHash } from './record-hash.ts'
import { projects } from './schema.ts'
import { preparedQueries, type StoreOf } from './store.ts'

const projectsMax = 10_000
const prefixChars = 12

interface ChangeTagsOptions {
  store: StoreOf
  recordHash: RecordHash
  /** The database's generation: after a restore, the same number may stand for another change. */
  generation: string
}

const queries = preparedQueries((db) => ({
  changeSeq: db
    .select({ changeSeq: projects.changeSeq })
    .from(projects)
    .where(eq(projects.id, sql.placeholder('projectId')))
    .prepare(),
}))

/** Strong entity tags (RFC 9110, 8.8.3) from the numbers of changes, so that no document is read for them. */
export class ChangeTags {
  readonly #options: ChangeTagsOptions
  readonly #prefixes = new LRUCache<number, string>({ max: projectsMax })

  constructor(options: ChangeTagsOptions) {
    this.#options = options
  }

  /** The tag of a record whose last change has this number. Records of two projects never share a tag. */
  of(projectId: number, changeSeq: number): string {
    let prefix = this.#prefixes.get(projectId)
    if (prefix === undefined) {
      const { recordHash, generation } = this.#options
      prefix = recordHash(projectId, 'project', generation).slice(0, prefixChars)
      this.#prefixes.set(projectId, prefix)
    }
    return `"${prefix}-${changeSeq}"`
  }

  /**
   * The tag of a list of a project's records. Read it before the list: if that changes in between, the old tag makes
   * the client ask again.
   */
  async ofProject(projectId: number): Promise<string> {
    return this.of(projectId, await readChangeSeq(this.#options.store(projectId).read, projectId))
  }
}

/** The number of a project's last change. */
export async function readChangeSeq(read: ReadDatabase, projectId: number): Promise<number> {
  return (await queries(read).changeSeq.get({ projectId }))?.changeSeq ?? 0
}
