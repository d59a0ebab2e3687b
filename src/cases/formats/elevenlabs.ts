import type { Message } from '../schemas.ts'
import { argumentsIn, type CaseFormat, jsonLine, withoutTemplates } from './format.ts'

/** Bodies of `POST /v1/convai/agent-testing/create` of ElevenLabs: https://elevenlabs.io/docs/api-reference/tests/create */
export const elevenlabs: CaseFormat = {
  file: 'elevenlabs-tests.jsonl',
  mediaType: 'application/x-ndjson',
  about:
    "Tests the next turn; tools' results before it are part of the history. Tools that the agent calls after it run. One body of `POST /v1/convai/agent-testing/create` a line.",
  head: () => '',
  of({ name, messages, expect, said }) {
    const body = {
      type: 'llm',
      name,
      chat_history: historyOf(messages),
      success_condition: expect,
      failure_examples: [{ type: 'failure', response: said }],
    }
    return jsonLine(withoutTemplates(body))
  },
}

interface Entry {
  role: 'user' | 'agent'
  /** Counts the entries: when something was said is not known. */
  time_in_call_secs: number
  message?: string | null
  tool_calls?: object[]
  tool_results?: object[]
}

/** A tool's result belongs to the entry with its call. */
function historyOf(messages: readonly Message[]): Entry[] {
  const entries: Entry[] = []
  let toolName = ''
  for (const { role, content, tool_calls, tool_call_id } of messages) {
    const time_in_call_secs = entries.length
    if (role === 'tool') {
      const result = { type: 'client', request_id: tool_call_id, tool_name: toolName, result_value: content }
      const last = entries.at(-1)
      if (last) last.tool_results = [{ ...result, is_error: false, tool_has_been_called: true }]
    } else if (tool_calls) {
      toolName = tool_calls[0]?.function.name ?? ''
      const calls = tool_calls.map(({ id, function: called }) => ({
        request_id: id,
        tool_name: called.name,
        params_as_json: JSON.stringify(argumentsIn(called.arguments)),
        tool_has_been_called: true,
      }))
      entries.push({ role: 'agent', time_in_call_secs, tool_calls: calls })
    } else entries.push({ role: role === 'user' ? 'user' : 'agent', message: content, time_in_call_secs })
  }
  return entries
}
