import { argumentsIn, type CaseFormat, jsonLine, withoutTemplates } from './format.ts'

const nameCharsMax = 80

/** Bodies of `POST /eval` of Vapi: https://docs.vapi.ai/observability/evals-quickstart */
export const vapi: CaseFormat = {
  file: 'vapi-evals.jsonl',
  mediaType: 'application/x-ndjson',
  about:
    "Tests the next turn; tools' results before it are part of the conversation. Tools that the agent calls after it run. One body of `POST /eval` a line.",
  head: () => '',
  of({ id, name, messages, expect }) {
    const conversation = messages.map(({ role, content, tool_calls }) =>
      tool_calls
        ? {
            role,
            toolCalls: tool_calls.map(({ function: called }) => ({
              name: called.name,
              arguments: argumentsIn(called.arguments),
            })),
          }
        : { role, content },
    )
    const harmless = withoutTemplates({ name, messages: conversation, expect })
    return jsonLine({
      type: 'chat.mockConversation',
      name: [...harmless.name].slice(0, nameCharsMax).join(''),
      description: `Callbook ${id}`,
      messages: [...harmless.messages, { role: 'assistant', judgePlan: judgePlan(harmless.expect) }],
    })
  },
}

/** Vapi fills in the conversation. */
function judgePlan(expect: string) {
  const content = `Judge only the last assistant message of this conversation: {{messages}}\nAnswer "pass" if this holds of it, else "fail": ${expect}`
  return {
    type: 'ai',
    model: { provider: 'openai', model: 'gpt-4.1', temperature: 0, messages: [{ role: 'system', content }] },
  }
}
