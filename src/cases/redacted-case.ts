import type { RedactText } from '../redaction/settings.ts'
import type { Work } from '../threads/time-slices.ts'
import { argumentsOf, argumentsText } from './cut.ts'
import type { CaseContent, Message, Mock } from './schemas.ts'

const nameCharsDefault = 80

/**
 * A case as a project may show it. Its members are written one by one, so that a new one does not compile until
 * somebody says whether it is redacted.
 */
export function* redactedCase(stored: CaseContent, redact: RedactText): Work<CaseContent> {
  const text = (value: string) => redact(value, '', {})
  const messages: Message[] = []
  for (const message of stored.messages) messages.push(yield* redactMessage(message, text))
  const mocks: Mock[] = []
  for (const mock of stored.mocks) mocks.push(yield* redactMock(mock, text))
  const expect = yield* text(stored.expect)
  return {
    // Of the redacted text, since half of a number would not be recognized.
    name:
      stored.name === '' ? [...expect.trim()].slice(0, nameCharsDefault).join('') : yield* text(stored.name),
    messages,
    said: yield* text(stored.said),
    mocks,
    omitted: stored.omitted,
    expect,
    criterion: stored.criterion,
  }
}

type Redact = (value: string) => Work<string>

function* redactMessage({ content, tool_calls, ...message }: Message, text: Redact): Work<Message> {
  const redacted: Message = { ...message, content: content === null ? null : yield* text(content) }
  if (!tool_calls) return redacted
  const calls: typeof tool_calls = []
  for (const { id, type, function: called } of tool_calls) {
    const name = yield* text(called.name)
    calls.push({
      id,
      type,
      function: { name, arguments: argumentsText(yield* text(argumentsText(called.arguments))) },
    })
  }
  return { ...redacted, tool_calls: calls }
}

function* redactMock({ name, arguments: given, result }: Mock, text: Redact): Work<Mock> {
  return {
    name: yield* text(name),
    arguments: given && argumentsOf(yield* text(JSON.stringify(given))),
    result: result === null ? null : yield* text(result),
  }
}
