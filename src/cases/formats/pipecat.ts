import { type CaseFormat, jsonText, upToCaller } from './format.ts'

const withoutSystem =
  "# A scenario's context replaces that of the bot, its system message too: export with --system FILE to have it in each.\n"

/** Scenarios of Pipecat's evals (1.14). Flow collections as JSON has them are YAML 1.2, and PyYAML reads them, too. */
export const pipecat: CaseFormat = {
  file: 'callbook_scenarios.yaml',
  mediaType: 'text/plain',
  about:
    "Tests the next turn. It has no mocks: the bot's own tools run, and a conversation that ends with a tool's result is cut at what the caller said last.",
  head: ({ system }) => `${system === undefined ? withoutSystem : ''}name: callbook\nscenarios:\n`,
  of({ id, messages, expect }, { system }) {
    const conversation = upToCaller(messages)
    if (!conversation) return `  # ${id} is left out, since no caller speaks in it.\n`
    const { before, user } = conversation
    const context = [...(system === undefined ? [] : [{ role: 'system', content: system }]), ...before]
    return [
      `  - name: ${jsonText(id)}`,
      context.length === 0 ? '    context: []' : '    context:',
      ...context.map((message) => `      - ${jsonText(message)}`),
      '    turns:',
      `      - user: ${jsonText(user)}`,
      `        expect: [{event: response, eval: ${jsonText(expect)}}]`,
      '',
    ].join('\n')
  },
}
