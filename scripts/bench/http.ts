import { afterWrites } from './after-writes.ts'
import { benchAnalyses } from './analyses.ts'
import { benchComparing, benchComparingCost } from './comparing.ts'
import { benchConsole } from './console.ts'
import { benchHistory } from './history.ts'
import { benchQuestions, questions } from './questions.ts'
import { benchRecordings } from './recordings.ts'
import { benchRedaction } from './redaction.ts'
import { type Options, runSuite } from './runner.ts'
import { benchWebhooks } from './webhooks.ts'

await runSuite({
  command: 'bench',
  title: 'Calls and the console',
  about:
    'the real service, with a browser that opens the console, recordings, a model, an endpoint that takes webhooks, and ' +
    'redaction. `--all` finds calls among a million, counts them, and imports the past calls of a platform. Reading and writing calls is measured by `bench:peers`.',
  cases: [
    { name: 'console', run: benchConsole },
    { name: 'recordings', run: benchRecordings },
    { name: 'analyses', run: benchAnalyses },
    { name: 'webhooks', run: benchWebhooks },
    { name: 'redaction', run: benchRedaction },
    { name: 'comparing', run: benchComparing, isLarge: true },
    { name: 'comparing-cost', run: benchComparingCost, isLarge: true },
    { name: 'history', run: benchHistory, isLarge: true },
    ...Object.entries(questions).map(([name, asked]) => ({
      name,
      run: (options: Options) => benchQuestions(asked, options),
      isLarge: true,
    })),
    ...Object.entries(afterWrites).map(([name, run]) => ({ name, run, isLarge: true })),
  ],
})
