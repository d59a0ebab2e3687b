import { benchAlerts } from './alerts.ts'
import { benchAnalyses } from './analyses.ts'
import { benchConsole } from './console.ts'
import { benchFind } from './find.ts'
import { benchMetrics } from './metrics.ts'
import { benchOverview } from './overview.ts'
import { benchPlayer } from './player.ts'
import { benchRecordings } from './recordings.ts'
import { benchRedaction } from './redaction.ts'
import { runSuite } from './runner.ts'
import { benchWebhooks } from './webhooks.ts'

await runSuite({
  command: 'bench',
  title: 'Calls and the console',
  about:
    'the real service, with a browser that opens the console, an endpoint that takes webhooks, and projects with and ' +
    'without redaction. `--all` finds calls among a million, and counts them. Reading and writing calls is measured by `bench:peers`.',
  cases: [
    { name: 'console', run: benchConsole },
    { name: 'recordings', run: benchRecordings },
    { name: 'analyses', run: benchAnalyses },
    { name: 'alerts', run: benchAlerts, isLarge: true },
    { name: 'player', run: benchPlayer, isLarge: true },
    { name: 'webhooks', run: benchWebhooks },
    { name: 'redaction', run: benchRedaction },
    { name: 'find', run: benchFind, isLarge: true },
    { name: 'metrics', run: benchMetrics, isLarge: true },
    { name: 'overview', run: benchOverview, isLarge: true },
  ],
})
