import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import type { Static, TObject } from '@sinclair/typebox'
import { AppError } from '../errors.ts'
import type { KeyScope } from '../identity.ts'
import { compileCheck } from '../validation.ts'

/** A tool of models. All tools only read a project. */
export interface McpTool {
  readonly definition: Tool
  /** The scope that a key needs for this tool. */
  readonly scope: KeyScope
  /**
   * A mistake of the model becomes a result that explains it, so that the model can try again.
   * @param callId the id of the phone call in which the model asks, if the request has it
   * @throws errors that are not the caller's fault
   */
  call(projectId: number, input: unknown, callId: string | null): Promise<CallToolResult>
}

interface ToolOptions<Input extends TObject, Output extends TObject> {
  name: string
  scope: KeyScope
  title: string
  description: string
  input: Input
  output: Output
  run: (projectId: number, input: Static<Input>, callId: string | null) => Promise<Static<Output>>
  /** The answer as text for the model. */
  toTexts: (answer: Static<Output>) => string[]
}

/** Makes a tool of its schemas and of the function behind it. */
export function toolOf<Input extends TObject, Output extends TObject>(
  options: ToolOptions<Input, Output>,
): McpTool {
  const { name, scope, title, description, input, output, run, toTexts } = options
  const check = compileCheck(input)
  return {
    scope,
    definition: {
      name,
      title,
      description,
      inputSchema: toJsonSchema(input),
      outputSchema: toJsonSchema(output),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async call(projectId, value, callId) {
      try {
        const answer = await run(projectId, onlyNamed(input, check(value)), callId)
        return { content: toTexts(answer).map(toBlock), structuredContent: answer }
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return { content: [toBlock(toSentence(error))], isError: true }
      }
    },
  }
}

/** Without arguments that the tool does not name, which nobody has checked. */
function onlyNamed<Input extends TObject>(input: Input, value: Static<Input>): Static<Input> {
  return Object.fromEntries(Object.entries(value).filter(([name]) => Object.hasOwn(input.properties, name)))
}

/** Converts an OpenAPI 3.0 schema to plain JSON Schema (2020-12). */
function toJsonSchema(schema: TObject): Tool['inputSchema'] {
  return JSON.parse(JSON.stringify(schema), (_, part) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    // The keywords that differ. No property has one of these names.
    const { nullable, example, title, 'x-message': message, 'x-documented': more, ...shared } = part
    if (nullable) shared.type = [shared.type, 'null']
    if (example !== undefined) shared.examples = [example]
    return shared
  })
}

function toBlock(text: string): { type: 'text'; text: string } {
  return { type: 'text', text }
}

function toSentence({ title, errors }: AppError): string {
  if (!errors) return title
  return `Invalid arguments: ${errors.map(({ field, message }) => `${field} ${message}`).join('; ')}`
}
