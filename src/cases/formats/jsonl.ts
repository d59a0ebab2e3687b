import { type CaseFormat, jsonLine } from './format.ts'

/** Cases as the API shows them, which `callbook check` reads. */
export const jsonl: CaseFormat = {
  file: 'cases.jsonl',
  mediaType: 'application/x-ndjson',
  about:
    'Tests the next turn: `callbook check` asks any agent behind the OpenAI chat API, and answers its tools from the call. It lacks the voice.',
  head: () => '',
  of: jsonLine,
}
