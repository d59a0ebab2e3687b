import { benchAppend } from './append.ts'
import { benchById } from './by-id.ts'
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
import { benchHour, benchScale } from './scale.ts'
import { benchSearch } from './search.ts'
import { benchSources } from './sources.ts'
import { benchStart } from './starting.ts'
import { benchWebhooks } from './webhooks.ts'
import { benchWriting } from './writing.ts'

await runSuite({
  command: 'bench',
  title: 'Calls, knowledge and the console over HTTP',
  about:
    'the real server, driven over HTTP. The ceiling is a bare `Bun.serve` over one cached prepared statement on the ' +
    'same rows, without keys, routes or log, measured in turns with the service.',
  cases: [
    { name: 'by-id', run: benchById },
    { name: 'list-100', run: (texts, options) => benchPage(texts, 100, options) },
    { name: 'list-1000', run: (texts, options) => benchPage(texts, 1_000, options) },
    { name: 'search', run: benchSearch },
    { name: 'indexing', run: benchIndexing },
    { name: 'deleting', run: benchDeleting },
    { name: 'changing', run: benchChanging },
    { name: 'console', run: benchConsole },
    { name: 'writing', run: benchWriting },
    { name: 'append', run: benchAppend },
    { name: 'sources', run: benchSources },
    { name: 'webhooks', run: benchWebhooks },
    { name: 'redaction', run: benchRedaction },
    { name: 'import', run: benchImport },
    { name: 'start', run: benchStart },
    { name: 'erasures', run: benchErasures, isLarge: true },
    { name: 'scale', run: benchScale, isLarge: true },
    { name: 'hour', run: benchHour, isLarge: true },
    { name: 'find', run: benchFind, isLarge: true },
  ],
})
