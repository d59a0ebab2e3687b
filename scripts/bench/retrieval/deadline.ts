import { latencyOf } from '../paced.ts'
import { addItems, createProject } from '../project.ts'
import type { Options } from '../runner.ts'
import { formatLatency, type Row } from '../table.ts'
import type { Texts } from '../texts.ts'
import { corpusOf } from './corpus.ts'
import { readQuestions } from './questions.ts'
import { startSearching } from './searching.ts'
import { startSlowEmbeddings } from './slow-embeddings.ts'

const chunksCount = 1_000
const timeoutMs = 100
const embeddingMs = 2_000
const atOnce = 100
const rounds = 10
const warmUpRounds = 3
const p99MsMax = 150

/** Whether searches meet their deadline when the embedder does not. */
export async function benchDeadline(texts: Texts, { main, start, data }: Options): Promise<Row[]> {
  const project = await createProject(main)
  const embeddings = startSlowEmbeddings()
  try {
    const environment = { EMBEDDING_PROVIDER: 'huggingface', EMBEDDING_ENDPOINT: embeddings.url }
    const service = await start(project, environment)
    await addItems(service, project, [...corpusOf(texts, chunksCount)])
    const searches = readQuestions(data, texts).map((query) => ({ query, timeoutMs }))
    const roundOf = (round: number) => searches.slice(round * atOnce, (round + 1) * atOnce)
    embeddings.delayQueries(embeddingMs)
    const result = await startSearching({
      url: service.url,
      key: project.key,
      // Over the same number of connections, so that neither connecting nor JIT compilation is measured.
      warmUp: searches.slice(rounds * atOnce, (rounds + warmUpRounds) * atOnce),
      rounds: Array.from({ length: rounds }, (_, round) => roundOf(round)),
      concurrency: atOnce,
    }).done
    const latency = latencyOf([result])
    const byKeyword = result.modes.keyword ?? 0
    return [
      {
        what: `search, timeoutMs ${timeoutMs}, ${atOnce} at once, embedder takes ${embeddingMs / 1_000} s`,
        measured: `${formatLatency(latency)}; ${byKeyword} of ${rounds * atOnce} answered by keyword`,
        target: `all, p99 ≤ ${p99MsMax} ms`,
        isMet: byKeyword === rounds * atOnce && latency.p99 <= p99MsMax,
      },
    ]
  } finally {
    await embeddings.stop()
  }
}
