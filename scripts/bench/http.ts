import { benchAppend } from './append.ts'
import { benchChanging } from './changing.ts'
import { benchConsole } from './console.ts'
import { benchDeleting } from './deleting.ts'
import { benchErasures } from './erasures.ts'
import { benchFind } from './find.ts'
import { benchImport } from './importing.ts'
import { benchIndexing } from './indexing.ts'
import { benchPage } from './pages.ts'
import { benchRedaction } from './redaction.ts'
import { runSuite } from './runner.ts'
import { benchSearch } from './search.ts'
import { benchSources } from './sources.ts'
import { benchWebhooks } from './webhooks.ts'

await runSuite({
  command: 'bench',
  title: 'Calls, knowledge and the console over HTTP',
  about:
    'the real server, driven over HTTP. The ceiling is a bare `Bun.serve` over one cached prepared statement on the ' +
    'same rows, without keys, routes or log, measured in turns with the service.',
  cases: [
    { name: 'list-100', run: (texts, options) => benchPage(texts, 100, options) },
    { name: 'list-1000', run: (texts, options) => benchPage(texts, 1_000, options) },
    { name: 'search', run: benchSearch },
    { name: 'indexing', run: benchIndexing },
    { name: 'deleting', run: benchDeleting },
    { name: 'changing', run: benchChanging },
    { name: 'console', run: benchConsole },
    { name: 'append', run: benchAppend },
    { name: 'sources', run: benchSources },
    { name: 'webhooks', run: benchWebhooks },
    { name: 'redaction', run: benchRedaction },
    { name: 'import', run: benchImport },
    { name: 'erasures', run: benchErasures, isLarge: true },
    { name: 'find', run: benchFind, isLarge: true },
  ],
})
