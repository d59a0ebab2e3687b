import { Elysia } from 'elysia'
import { callerContext } from '../http/caller.ts'
import { jsonAnswer, protocolAnswers } from '../http/openapi.ts'
import type { Protocol } from '../http/surface.ts'
import type { ItemHead } from '../knowledge/item-rows.ts'
import type { Knowledge } from '../knowledge/knowledge.ts'
import type { RecordedSearch } from '../knowledge/questions/recorded-search.ts'
import type { Projects } from '../projects/projects.ts'
import { bodyOf } from '../validation.ts'
import { limitOf, toErrorBody, toRecords, UnknownKnowledge } from './dify.ts'
import { itemFilterOf } from './dify-conditions.ts'
import { DifyAnswer, DifyError, DifyRequest } from './dify-schemas.ts'
import { toQuery } from './query-text.ts'

interface DifyRoutesOptions {
  search: Pick<RecordedSearch, 'search'>
  knowledge: Pick<Knowledge, 'head' | 'heads'>
  /** Gives the id and the name of the caller's project. */
  projects: Pick<Projects, 'get'>
}

const prefix = '/integrations/dify'

export const difyProtocol: Protocol = { prefix, errorBody: toErrorBody }

/** /integrations/dify: serves a project's knowledge as an external knowledge base. */
export function difyRoutes(options: DifyRoutesOptions) {
  return new Elysia({ prefix })
    .use(callerContext())
    .post('/retrieval', ({ caller, body }) => retrieve(options, caller.projectId, body), {
      parse: 'json',
      body: bodyOf(DifyRequest),
      detail: {
        tags: ['Integrations'],
        security: [{ apiKey: [] }],
        operationId: 'retrieveForDify',
        summary: 'Serve as an external knowledge base of Dify',
        responses: protocolAnswers(
          { 200: jsonAnswer('Passages, best first.', DifyAnswer) },
          ['invalid_request', 'not_found', 'payload_too_large', 'unsupported_media_type'],
          DifyError,
        ),
      },
    })
}

async function retrieve(
  options: DifyRoutesOptions,
  projectId: number,
  { knowledge_id, query, retrieval_setting, metadata_condition }: DifyRequest,
): Promise<DifyAnswer> {
  const filter = itemFilterOf(metadata_condition)
  const item = await findItem(options, projectId, knowledge_id)
  const items = item ? [item] : filter && (await options.knowledge.heads(projectId))
  const itemIds = items?.filter(filter ?? (() => true)).map(({ id }) => id)
  const request = { query: toQuery(query), limit: limitOf(retrieval_setting), itemIds }
  const { answer, coverages } = await options.search.search(projectId, request)
  return { records: toRecords(answer.data, coverages, retrieval_setting) }
}

/** The item with this id; null for the whole project. @throws UnknownKnowledge */
async function findItem(
  { knowledge, projects }: DifyRoutesOptions,
  projectId: number,
  knowledgeId: string,
): Promise<ItemHead | null> {
  const { id, name } = await projects.get(projectId)
  if (knowledgeId === id || knowledgeId === name) return null
  const item = await knowledge.head(projectId, knowledgeId)
  if (item) return item
  throw new UnknownKnowledge()
}
