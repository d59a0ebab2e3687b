import { type Static, Type } from '@sinclair/typebox'
import { CallIds } from '../calls/review/schemas.ts'
import { type KeyScope, keyScopes, type Role, roles } from '../identity.ts'
import type { QuestionState } from '../knowledge/questions/question-groups.ts'
import { NewItem, SearchRequest, Tags } from '../knowledge/schemas.ts'
import { SettingsChange } from '../projects/schemas.ts'

// Request bodies and queries of the console's API. The functions that take them validate the rest.

const Text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const filter = Type.Optional(Type.String({ maxLength: 500 }))
const RoleName = Type.Unsafe<Role>({ type: 'string', enum: roles })
const Kind = Type.Unsafe<'live' | 'ingest'>({ type: 'string', enum: ['live', 'ingest'] })

export const NewName = Type.Object({ name: Text(200) })

/** `confirm` is the project's name, typed by hand. */
export const DeleteProject = Type.Object({ confirm: Text(200) })

/** A phone number, in a body since addresses are logged. */
export const NumberToFind = Type.Object({ number: Text(200) })

/** A request to delete many calls. */
export const CallsToDelete = Type.Object({ ids: CallIds })

/** A new item; without `keepsBoth`, it is not stored if an item has the same text. */
export const AddedItem = Type.Object({ ...NewItem.properties, keepsBoth: Type.Optional(Type.Boolean()) })
export type AddedItem = Static<typeof AddedItem>

/** A request to delete many knowledge items. */
export const ItemsToDelete = Type.Object({
  ids: Type.Array(Text(128), { minItems: 1, maxItems: 200 }),
})

/** Tags that many items gain or lose. */
export const ItemsToTag = Type.Object({
  ...ItemsToDelete.properties,
  add: Type.Optional(Tags),
  remove: Type.Optional(Tags),
})

/** `changeSeq` is the change number of the item when it was read. */
export const EditedItem = Type.Object({ ...NewItem.properties, changeSeq: Type.Integer() })

/** Questions of a state, optionally those assigned to a person, or to `none`. */
export const AskedRequest = Type.Object({
  state: Type.Unsafe<QuestionState>({ type: 'string', enum: ['gap', 'answered', 'dismissed'] }),
  assignee: filter,
})

/** What a person says of a question; absent members stay, null takes back. */
export const MarkedQuestion = Type.Object({
  mark: Type.Optional(
    Type.Unsafe<'answered' | 'not_answered' | 'dismissed' | null>({
      type: 'string',
      nullable: true,
      enum: ['answered', 'not_answered', 'dismissed', null],
    }),
  ),
  /** The id of a person of the project. */
  assignee: Type.Optional(Type.Unsafe<string | null>({ type: 'string', nullable: true, maxLength: 128 })),
})

/** A golden question: see knowledge/questions/golden-questions.ts. */
export const KeptGolden = Type.Object({
  query: SearchRequest.properties.query,
  itemId: Text(128),
  callId: Type.Optional(Text(128)),
  keepsWordsOfCall: Type.Optional(Type.Boolean()),
  replaces: Type.Optional(Text(128)),
  /** As in the question: see tags.ts. */
  tags: Type.Optional(Type.Array(Tags, { maxItems: 40 })),
})

export const NewKey = Type.Object({
  name: Type.String(),
  kind: Kind,
  /** Only for API keys; `full` by default. */
  scope: Type.Optional(Type.Unsafe<KeyScope>({ type: 'string', enum: keyScopes })),
  allowedIps: Type.Array(Type.String(), { maxItems: 1_000 }),
  allowedOrigins: Type.Optional(Type.Array(Type.String({ maxLength: 300 }), { maxItems: 100 })),
  tags: Type.Optional(Tags),
  /** ISO 8601; null for a key that does not expire. */
  expiresAt: Type.Unsafe<string | null>({ type: 'string', nullable: true }),
})

/** Absent members stay as they are. */
export const EditedKey = Type.Partial(
  Type.Pick(NewKey, ['name', 'allowedIps', 'allowedOrigins', 'tags', 'expiresAt']),
)

/** How long the old key keeps working; 24 hours by default. */
export const RotatedKey = Type.Object({ overlapHours: Type.Optional(Type.Number()) })

/** Either a call or a number. */
export const NewHold = Type.Object({
  callId: Type.Optional(Text(128)),
  number: Type.Optional(Text(200)),
  reason: Text(500),
})

export const AddressToCheck = Type.Object({
  allowedIps: Type.Array(Type.String(), { maxItems: 1_000 }),
  address: Type.Optional(Type.String({ maxLength: 100 })),
})

export const ChangedTwoFactorRule = Type.Object({ isOn: Type.Boolean() })

export const NewRole = Type.Object({ role: RoleName })

/** `confirm` is how many calls a shorter retention deletes, typed by hand. */
export const ChangedSettings = Type.Object({
  ...SettingsChange.properties,
  confirm: Type.Optional(Type.Integer()),
})

/** For how many days calls would be kept; the current setting if absent. */
export const DueRequest = Type.Object({
  days: Type.Optional(
    Type.String({ pattern: '^[1-9][0-9]{0,4}$', 'x-message': 'must be a whole number of days' }),
  ),
})

/** An address of the list of calls, or of a chart, to keep under a name. */
export const NewView = Type.Object({
  name: Text(100),
  /** `calls` by default. */
  page: Type.Optional(Type.Unsafe<'calls' | 'chart'>({ type: 'string', enum: ['calls', 'chart'] })),
  query: Type.String({ maxLength: 2_000 }),
  isShared: Type.Boolean(),
})
export type NewView = Static<typeof NewView>

const Ids = Type.Array(Text(100), { maxItems: 1_000 })

/** How a person arranges views: what is left out stays. */
export const ArrangedViews = Type.Partial(
  Type.Object({
    /** The ids of the views of the list of calls in order, and of the one that it begins with. */
    order: Ids,
    first: Type.Unsafe<string | null>({ type: 'string', maxLength: 100, nullable: true }),
    /** The ids of the charts of the overview in order, and of those that are not shown. */
    overview: Type.Object({ order: Ids, hidden: Ids }),
  }),
)
export type ArrangedViews = Static<typeof ArrangedViews>

/** Entries of the audit trail: `who` is the id of a person or a key, or `commandLine`, `service` or `stranger`; `call` the id of a call. */
export const AuditRequest = Type.Object({
  who: filter,
  action: filter,
  from: filter,
  to: filter,
  call: filter,
  cursor: filter,
  limit: filter,
})

/** A page of knowledge items; `name` is part of an item's name, `tags` has spaces between them, since Elysia makes a list of what has commas. */
export const ItemsRequest = Type.Object({ name: filter, tags: filter, cursor: filter, limit: filter })
