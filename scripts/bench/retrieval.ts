import { benchDeadline } from './retrieval/deadline.ts'
import { benchIndexing } from './retrieval/indexing.ts'
import { benchItems } from './retrieval/items.ts'
import { benchLatency } from './retrieval/latency.ts'
import { benchQuality } from './retrieval/quality.ts'
import { runSuite } from './runner.ts'

await runSuite({
  command: 'bench:retrieval',
  title: 'Retrieval',
  about:
    'how well and how fast the service finds, over HTTP. Plain BM25 is FTS5 with all words OR-ed. With HF_TOKEN or ' +
    'EMBEDDING_ENDPOINT set, the quality is also measured with Hugging Face.',
  cases: [
    { name: 'quality', run: benchQuality },
    { name: 'latency', run: benchLatency },
    { name: 'items', run: benchItems },
    { name: 'indexing', run: benchIndexing },
    { name: 'deadline', run: benchDeadline },
  ],
})
