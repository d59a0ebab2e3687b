import { Type } from '@sinclair/typebox'
import { type McpTool, toolOf } from '../../mcp/tool.ts'
import { filterNames } from '../filters.ts'
import { queryOfGiven, readGivenFilters } from '../finding/given-filters.ts'
import type { Figures } from './figures.ts'
import { groupings } from './figures-request.ts'
import { CallFigures } from './schemas.ts'

const linesMax = 100
const text = (description: string, example: string) =>
  Type.Optional(Type.String({ maxLength: 500, description, example }))

const FiguresRequest = Type.Object({
  of: text(
    'calls (default), duration (seconds), costUsd, latencyMs, of what is heard responseMs, responseMaxMs, deadAirSeconds, talkOverSeconds, agentShare or interruptions, analysis.KEY, success or criterion.ID.',
    'success',
  ),
  show: text(
    'count of calls; share of success and criterion.ID; else sum, avg, min, max, p50 or p95, which is required.',
    'share',
  ),
  by: text(
    `Groups by ${groupings.join(', ')}, analysis.KEY, metadata.KEY or criterion.ID, or by two of these with a comma. Without it, all calls are one.`,
    'day',
  ),
  timeZone: text("Of days and hours; by default the project's.", 'Europe/Berlin'),
  filters: Type.Optional(
    Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      additionalProperties: true,
      description: 'The filters of list_calls.',
      example: { from: '2026-01-30', to: '2026-01-31' },
    }),
  ),
})

/** The tool that reads figures of a project's calls. */
export function figureTool(figures: Pick<Figures, 'read'>): McpTool {
  return toolOf({
    name: 'get_metrics',
    permission: 'read',
    title: 'Get figures of calls',
    description:
      "Counts the calls that the organization's voice agents handled, or shows how long, how expensive or how successful " +
      "they were. Use it for questions such as how yesterday's calls went, and list_calls with the same filters to see them.",
    input: FiguresRequest,
    members: { filters: filterNames },
    output: CallFigures,
    run: async (projectId, { filters = {}, ...asked }) => {
      readGivenFilters(filters, 'filters')
      return await figures.read(projectId, { ...queryOfGiven(filters, []), ...asked })
    },
    toTexts: ({ of, show, data, total }) => [
      [
        `${show} of ${of}; ${total} calls match.`,
        ...data
          .slice(0, linesMax)
          .map(
            ({ key, keys, value, calls }) =>
              `- ${keys?.join(', ') ?? key ?? 'all'}: ${value} (${calls} calls)`,
          ),
        ...(data.length > linesMax ? [`(and ${data.length - linesMax} more groups)`] : []),
      ].join('\n'),
    ],
  })
}
