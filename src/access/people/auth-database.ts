import { drizzleAdapter } from 'better-auth/adapters/drizzle'
import type { BetterAuthOptions, DBAdapter, Where } from 'better-auth/types'
import { accounts, people, sessions, twoFactors, verifications } from '../../db/schema.ts'
import type { Store } from '../../db/store.ts'
import { hashToken } from './token.ts'

type Adapter = DBAdapter<BetterAuthOptions>
type Rows = Record<string, unknown>

/**
 * better-auth's adapter to our tables. It reads through the reader, so that checking a session never waits for an
 * import in the writer, and it needs no transactions. A session token is as good as a password, so the table holds
 * only its SHA-256, which is enough for 190 random bits.
 */
export function authDatabase({ read, write }: Store): (options: BetterAuthOptions) => Adapter {
  const drizzle = {
    select: read.select.bind(read),
    insert: write.insert.bind(write),
    update: write.update.bind(write),
    delete: write.delete.bind(write),
  }
  const schema = {
    user: people,
    session: sessions,
    account: accounts,
    verification: verifications,
    twoFactor: twoFactors,
  }
  const open = drizzleAdapter(drizzle, { provider: 'sqlite', schema })
  return (options) => withHashedTokens(open(options))
}

/** Callers of the adapter see session tokens; the database sees their hashes. */
function withHashedTokens(adapter: Adapter): Adapter {
  const hashed: Adapter = {
    ...adapter,
    async create<Row extends Rows, Result = Row>(args: Parameters<typeof adapter.create<Row, Result>>[0]) {
      const token = args.model === 'session' ? args.data.token : undefined
      if (typeof token !== 'string') return await adapter.create<Row, Result>(args)
      const row = await adapter.create<Row, Result>({
        ...args,
        data: { ...args.data, token: hashToken(token) },
      })
      return { ...row, token }
    },
    findOne: async (args) => withToken(await adapter.findOne(hashedWhere(args)), args),
    findMany: (args) => adapter.findMany(hashedWhere(args)),
    count: (args) => adapter.count(hashedWhere(args)),
    update: async (args) => withToken(await adapter.update(hashedWhere(args)), args),
    updateMany: (args) => adapter.updateMany(hashedWhere(args)),
    delete: (args) => adapter.delete(hashedWhere(args)),
    deleteMany: (args) => adapter.deleteMany(hashedWhere(args)),
    consumeOne: async (args) => withToken(await adapter.consumeOne(hashedWhere(args)), args),
    transaction: (work) => work(hashed),
  }
  return hashed
}

interface Conditions {
  model: string
  where?: Where[] | undefined
}

function hashedWhere<Args extends Conditions>(args: Args): Args {
  if (args.model !== 'session') return args
  return { ...args, where: args.where?.map((one) => (one.field === 'token' ? withHash(one) : one)) }
}

function withHash(condition: Where): Where {
  const { value } = condition
  const hash = (token: unknown) => hashToken(String(token))
  return { ...condition, value: Array.isArray(value) ? value.map(hash) : hash(value) }
}

/** Puts the token back into a session that was looked up by it: better-auth renews the cookie from it. */
function withToken<Row>(row: Row | null, { model, where }: Conditions): Row | null {
  const token = model === 'session' ? where?.find(({ field }) => field === 'token')?.value : undefined
  return row !== null && typeof token === 'string' ? { ...row, token } : row
}
