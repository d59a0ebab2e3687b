import { type CaseFormat, jsonLine, withoutTemplates } from './format.ts'

/** Bodies of `create-test-case-definition` of Retell: https://docs.retellai.com/api-references/create-test-case-definition */
export const retell: CaseFormat = {
  file: 'retell-test-cases.jsonl',
  mediaType: 'application/x-ndjson',
  about:
    'An approximation: a simulated caller says what the caller said, from the start, and the whole call is judged. It has mocks. One body a line, in which you name your agent for `llm_REPLACE`; agents with a custom LLM cannot be tested.',
  head: () => '',
  of({ name, messages, mocks, expect }) {
    const said = messages
      .filter(({ role }) => role === 'user')
      .map(({ content }, at) => `${at + 1}. ${content}`)
    if (said.length === 0) return ''
    const toolMocks = mocks.flatMap(({ name, arguments: args, result }) =>
      result === null
        ? []
        : [
            {
              tool_name: name,
              input_match_rule: args ? { type: 'partial_match', args } : { type: 'any' },
              output: result,
            },
          ],
    )
    const body = {
      name,
      response_engine: { type: 'retell-llm', llm_id: 'llm_REPLACE' },
      user_prompt: `You are the caller. Say these sentences in this order, one a turn, and nothing else:\n${said.join('\n')}`,
      metrics: [expect],
      tool_mocks: toolMocks,
    }
    return jsonLine(withoutTemplates(body))
  },
}
