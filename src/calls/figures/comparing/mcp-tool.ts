import { Type } from '@sinclair/typebox'
import { type McpTool, toolOf } from '../../../mcp/tool.ts'
import { escapeValue } from '../../../text/values.ts'
import { filterNames } from '../../filters.ts'
import { type GivenFilters, queryOfGiven, readGivenFilters } from '../../finding/given-filters.ts'
import { comparedBy, figuresMax } from './compare-request.ts'
import type { Comparing } from './comparing.ts'
import { Comparison } from './schemas.ts'

const filters = (description: string, example: Record<string, unknown>) =>
  Type.Optional(
    Type.Unsafe<GivenFilters>({ type: 'object', additionalProperties: true, description, example }),
  )
const text = (description: string, example: string) =>
  Type.Optional(Type.String({ minLength: 1, maxLength: 500, description, example }))

const CompareRequest = Type.Object({
  a: filters('The filters of list_calls that find the calls of a. With b, and without by.', {
    agentVersion: 'v13',
  }),
  b: filters('Those that find the calls of b.', { agentVersion: 'v14' }),
  filters: filters('Filters that hold for all.', { from: '2026-01-30' }),
  by: text(
    `Instead of a and b: compares the calls of each value of ${comparedBy.join(', ')}.`,
    'agentVersion',
  ),
  against: text('With by: the value that the others are compared with.', 'v13'),
  of: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 500 }), {
      minItems: 1,
      maxItems: figuresMax,
      description:
        'success, isEngaged, criterion.ID, or a number of get_metrics with .avg, .p50 or .p95. The first one is the question.',
      example: ['success', 'latencyMs.p95'],
    }),
  ),
})

/** The tool that compares groups of a project's calls. */
export function compareTool(comparing: Pick<Comparing, 'read'>): McpTool {
  return toolOf({
    name: 'compare_calls',
    permission: 'read',
    title: 'Compare two groups of calls',
    description:
      "Says whether two groups of calls, such as those of an agent's two versions, differ in success, speed or cost, or whether that is " +
      'not sure yet. What else changed in between is in the differences, too. Do not ask again until something is found: that finds ' +
      'differences that are not there.',
    input: CompareRequest,
    members: { filters: filterNames, a: filterNames, b: filterNames },
    output: Comparison,
    run: async (projectId, { a = {}, b = {}, filters: common = {}, of, ...asked }) => {
      const query: Record<string, string[]> = {}
      for (const [member, given] of Object.entries({ filters: common, a, b })) {
        readGivenFilters(given, member)
        const prefix = member === 'filters' ? '' : `${member}.`
        for (const [name, texts] of Object.entries(queryOfGiven(given, []))) query[prefix + name] = texts
      }
      return await comparing.read(projectId, { ...query, ...asked, ...(of && { of: of.map(escapeValue) }) })
    },
    toTexts: ({ a, comparisons }) =>
      comparisons.map(({ key, b, metrics }) =>
        [
          `b${key === null ? '' : ` (${key})`}: ${b.calls} calls, a: ${a.calls} calls.`,
          ...metrics.map(
            ({ of, a, b, low, high, verdict, reason, moreCalls }) =>
              `- ${of}: ${a.value} → ${b.value}, ${verdict}${reason ? ` (${reason})` : ''}` +
              `${low === null ? '' : `, difference from ${low} to ${high}`}${moreCalls === null ? '' : `, about ${moreCalls} more calls`}`,
          ),
        ].join('\n'),
      ),
  })
}
