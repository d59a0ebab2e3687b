import type { Model } from '../analysis/budget.ts'
import type { AskModel } from '../analysis/call-judge.ts'
import { judge } from '../analysis/judge.ts'
import type { Config } from '../config.ts'
import { createLimit } from '../threads/limit.ts'

/** What analyzes calls, and how it is asked. */
export interface ConfiguredModel extends Model {
  requestsAtOnce: number
  /** A document with more characters is longer than its context, whatever the language. */
  charsMax: number
  ask: AskModel
  /** Asks for one word. @throws ModelUnavailable or RequestRefused */
  probe(signal: AbortSignal): Promise<unknown>
}

const charsPerTokenMax = 16

/** The model that the configuration names; null for none. */
export async function createChatModel(analysis: Config['analysis']): Promise<ConfiguredModel | null> {
  if (!analysis) return null
  const { contextTokens, requestsAtOnce, requestsPerMinute } = analysis
  // Loaded only when it is used: Hugging Face's client is large.
  const { ChatModel } = await import('../analysis/chat-model.ts')
  const model = new ChatModel(analysis)
  const limit = createLimit({ atOnce: requestsAtOnce, perMinute: requestsPerMinute })
  return {
    name: model.model,
    destination: model.destination,
    requestsAtOnce,
    charsMax: contextTokens * charsPerTokenMax,
    probe: (signal) =>
      model.ask({ messages: [{ role: 'user', content: 'Say yes.' }], schema: null, tokensMax: 8 }, signal),
    ask: (projectId, asked, signal) => {
      const limitedModel: Pick<typeof model, 'ask'> = {
        ask: (request, signal) => limit(projectId, () => model.ask(request, signal), signal),
      }
      return judge({ ...asked, model: limitedModel, contextTokens, signal })
    },
  }
}
