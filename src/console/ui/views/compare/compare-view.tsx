import { Group, SegmentedControl, Select, Skeleton, Stack } from '@mantine/core'
import { IconArrowsLeftRight } from '@tabler/icons-react'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { noValue } from '../../../../calls/filters.ts'
import { read } from '../../api.ts'
import { Empty } from '../../components/empty.tsx'
import { ZoneNote } from '../../components/instant.tsx'
import { Labelled, Loaded, Page } from '../../components/page.tsx'
import { toQuery } from '../../search-params.ts'
import { useProject } from '../../session.ts'
import { CallFilters } from '../calls/call-filters.tsx'
import { facetCountsQuery, facetsQuery } from '../calls/call-queries.ts'
import { faultsOf, isFiltered } from '../calls/chosen-filters.ts'
import { useResolvedFilters } from '../calls/filter-fields.tsx'
import classes from './compare.module.css'
import { type CompareSearch, toFilters, toText } from './compare-search.ts'
import { Compared, howOftenWrong } from './compared.tsx'

const ways = [
  { value: 'versions', label: 'Versions of the agent' },
  { value: 'filters', label: 'Two groups of calls' },
]

/** Whether two groups of calls differ, or whether that is not sure yet. */
export function CompareView() {
  const search = useSearch({ from: '/p/$project/overview/compare' })
  const go = useGo()
  return (
    <div className={classes.compare}>
      <Page
        title="Compare"
        description={
          <>
            How much completed calls differ, and whether that may be chance.{' '}
            <a href="/docs/guide/comparing">How to read it</a>
            <ZoneNote />
          </>
        }
      >
        <Stack>
          <SegmentedControl
            aria-label="What is compared"
            data={ways}
            value={search.by ?? 'versions'}
            onChange={(way) => go(way === 'filters' ? { by: 'filters' } : {})}
            style={{ alignSelf: 'flex-start' }}
          />
          {search.by === 'filters' ? <Groups search={search} /> : <Versions search={search} />}
        </Stack>
      </Page>
    </div>
  )
}

function useGo() {
  const navigate = useNavigate()
  const { id: project } = useProject()
  return (search: CompareSearch, replace = false) =>
    void navigate({
      to: '/p/$project/overview/compare',
      params: { project },
      search,
      replace,
      resetScroll: false,
    })
}

/** Each other version of an agent against one. */
function Versions({ search }: { search: CompareSearch }) {
  const { id: project } = useProject()
  const go = useGo()
  const { data: facets } = useQuery(facetsQuery(project))
  const agents = (facets?.agentId ?? []).filter(({ value }) => value !== noValue)
  const agentId = search.agentId ?? agents[0]?.value
  const ofAgent = agentId === undefined ? {} : { agentId }
  const counts = useQuery({
    ...facetCountsQuery(project, 'agentVersion', { ...ofAgent, status: 'completed' }),
    enabled: facets !== undefined,
  })
  const versions = Object.keys(counts.data?.counts ?? {})
    .filter((version) => version !== noValue)
    .sort((a, b) => b.localeCompare(a, undefined, { numeric: true }))
  const against = search.against ?? versions[1]
  const { of } = search
  return (
    <Loaded query={counts} what="The versions">
      {() =>
        against === undefined ? (
          <Empty icon={<IconArrowsLeftRight size={24} />} title="No two versions yet">
            Calls tell the version of their agent as <code>details.agent.version</code>; most platforms send
            it. You can compare any two groups of calls meanwhile.
          </Empty>
        ) : (
          <>
            <Group align="end">
              {agents.length > 1 && (
                <Select
                  label="Agent"
                  allowDeselect={false}
                  value={agentId ?? null}
                  data={agents.map(({ value, label = value }) => ({ value, label }))}
                  onChange={(value) => value && go({ ...(of && { of }), agentId: value })}
                />
              )}
              <Select
                label="Compared with"
                allowDeselect={false}
                value={against}
                data={[...new Set([...versions, against])]}
                onChange={(value) => value && go({ ...search, against: value })}
              />
            </Group>
            <Comparisons query={{ by: 'agentVersion', against, of, ...ofAgent }} nameOfA={against} />
          </>
        )
      }
    </Loaded>
  )
}

/** Two groups, each of which filters find. */
function Groups({ search }: { search: CompareSearch }) {
  const go = useGo()
  const [a, b] = [toFilters(search.a), toFilters(search.b)]
  const [ofA, ofB] = [useResolvedFilters(a), useResolvedFilters(b)]
  const isReady = isFiltered(a) && isFiltered(b) && [a, b].every((filters) => faultsOf(filters).length === 0)
  return (
    <>
      {Object.entries({ a, b }).map(([name, filters]) => (
        <Labelled key={name} label={`Calls of ${name.toUpperCase()}`}>
          <CallFilters
            label={`Filter the calls of ${name.toUpperCase()}`}
            filters={filters}
            faults={faultsOf(filters)}
            foundBy={null}
            omitted={['status', 'text']}
            onChange={(change, isTyping) =>
              go({ ...search, [name]: toText({ ...filters, ...change }) }, isTyping)
            }
            onClear={() => go({ ...search, [name]: undefined })}
          />
        </Labelled>
      ))}
      {isReady ? (
        <Comparisons query={{ ...prefixed('a.', ofA), ...prefixed('b.', ofB), of: search.of }} nameOfA="A" />
      ) : (
        <p className="cb-dimmed">Choose a filter for A and one for B, such as two periods or two sources.</p>
      )}
    </>
  )
}

function prefixed(prefix: string, filters: object): Record<string, string[]> {
  return Object.fromEntries(Object.entries(toQuery(filters)).map(([name, texts]) => [prefix + name, texts]))
}

/** It is not loaded again while calls arrive: who looks until something is found, finds what is not there. */
function Comparisons({ query, nameOfA }: { query: object; nameOfA: string }) {
  const { of } = useProject()
  const comparison = useQuery({
    ...read(of.compare, toQuery(query)),
    placeholderData: keepPreviousData,
    refetchOnWindowFocus: false,
  })
  return (
    <Loaded query={comparison} what="The comparison" waiting={<Skeleton height={320} />}>
      {({ a, comparisons }) => (
        <Stack data-stale={comparison.isPlaceholderData || undefined}>
          {comparisons
            .toSorted((one, other) => ((one.b.from ?? '') < (other.b.from ?? '') ? 1 : -1))
            .map((compared) => (
              <Compared key={compared.key} a={a} nameOfA={nameOfA} compared={compared} />
            ))}
          <p className="cb-dimmed">{howOftenWrong(comparisons[0]?.metrics[0]?.moreCalls ?? null)}</p>
        </Stack>
      )}
    </Loaded>
  )
}
