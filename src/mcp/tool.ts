import type { CallToolResult, Tool } from '@modelcontextprotocol/sdk/types.js'
import type { Static, TObject } from '@sinclair/typebox'
import { AppError, type FieldError, invalidRequest } from '../errors.ts'
import type { Permission } from '../identity.ts'
import { isNamed, nearestName, unknownName } from '../names.ts'
import type { TagFilter } from '../text/tags.ts'
import { compileCheck } from '../validation.ts'

/** What a tool is called with, beside its arguments. */
export interface ToolContext {
  /** The id of the phone call in which the model asks, if the request has it. */
  callId: string | null
  /** The tags of the key and of the address, which limit what is known. */
  tags: TagFilter
  /** Called before a large document is read. @throws unavailable if there is no room for it */
  admit: (bytes: number) => void
}

/** The most unknown arguments that an answer names. */
const unknownMax = 20

/** A tool of models. All tools only read a project. */
export interface McpTool {
  readonly definition: Tool
  /** The permission that a key needs for this tool. */
  readonly permission: Permission
  /**
   * A mistake of the model becomes a result that explains it, so that the model can try again.
   * @throws errors that are not the caller's fault
   */
  call(projectId: number, input: unknown, context: ToolContext): Promise<CallToolResult>
}

interface ToolOptions<Input extends TObject, Output extends TObject> {
  name: string
  permission: Permission
  title: string
  description: string
  input: Input
  /** The members that an argument can have, by its name; one such as `analysis.KEY` has many names. */
  members?: Readonly<Record<string, readonly string[]>>
  output: Output
  run: (projectId: number, input: Static<Input>, context: ToolContext) => Promise<Static<Output>>
  /** The answer as text for the model. */
  toTexts: (answer: Static<Output>) => string[]
}

/** Makes a tool of its schemas and of the function behind it. */
export function toolOf<Input extends TObject, Output extends TObject>(
  options: ToolOptions<Input, Output>,
): McpTool {
  const { name, permission, title, description, input, members, output, run, toTexts } = options
  const unknown = (value: object) => unknownArguments(Object.keys(input.properties), members ?? {}, value)
  const check = compileCheck(input, unknown)
  return {
    permission,
    definition: {
      name,
      title,
      description,
      inputSchema: toJsonSchema(input),
      outputSchema: toJsonSchema(output),
      annotations: { readOnlyHint: true, openWorldHint: false },
    },
    async call(projectId, value, context) {
      try {
        const checkedInput = check(value)
        const errors = unknown(checkedInput)
        if (errors.length > 0) throw invalidRequest(errors)
        const answer = await run(projectId, checkedInput, context)
        return { content: toTexts(answer).map(toBlock), structuredContent: answer }
      } catch (error) {
        if (!(error instanceof AppError)) throw error
        return { content: [toBlock(toSentence(error))], isError: true }
      }
    },
  }
}

/** The arguments that the tool does not have, and members that these cannot have, each with the nearest place. */
function unknownArguments(
  names: readonly string[],
  members: Readonly<Record<string, readonly string[]>>,
  value: object,
): FieldError[] {
  const places = new Map(names.map((name) => [name, name]))
  const unknown = new Map(Object.keys(value).flatMap((name) => (places.has(name) ? [] : [[name, name]])))
  for (const [argument, memberNames] of Object.entries(members)) {
    for (const name of memberNames) places.set(name, `${argument}.${name}`)
    for (const name of Object.keys(Object(Reflect.get(value, argument))))
      if (!memberNames.some((one) => isNamed(name, one))) unknown.set(`${argument}.${name}`, name)
  }
  return [...unknown].slice(0, unknownMax).map(([field, name]) => {
    const nearest =
      [...places.keys()].find((place) => isNamed(name, place)) ?? nearestName(name, [...places.keys()])
    return { field, message: unknownName(places.get(nearest ?? '')) }
  })
}

/** Converts an OpenAPI 3.0 schema to plain JSON Schema (2020-12). */
function toJsonSchema(schema: TObject): Tool['inputSchema'] {
  return JSON.parse(JSON.stringify(schema), (_, part) => {
    if (typeof part !== 'object' || part === null || Array.isArray(part)) return part
    // The keywords that differ. No property has one of these names.
    const { nullable, example, title, 'x-message': message, 'x-documented': more, ...keywords } = part
    if (nullable) keywords.type = [keywords.type, 'null']
    if (example !== undefined) keywords.examples = [example]
    return keywords
  })
}

function toBlock(text: string): { type: 'text'; text: string } {
  return { type: 'text', text }
}

function toSentence({ status, title, detail, errors }: AppError): string {
  if (!errors) return status < 500 ? title : `${title}: ${detail}`
  return `Invalid arguments: ${errors.map(({ field, message }) => `${field} ${message}`).join('; ')}`
}
