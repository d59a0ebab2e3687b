import { useLocation, useParams, useSearch } from '@tanstack/react-router'
import { copyAndSay } from '../../components/code.tsx'
import { asDuration } from '../../components/figures.ts'
import { stringifySearch } from '../../search-params.ts'
import { readOpenTab } from './chosen-filters.ts'

/** `#turn-12` of an address names the twelfth turn. Indexes of turns count from 0. */
export function turnOfHash(hash: string): number | null {
  const [, index] = /^#?turn-(\d{1,5})$/.exec(hash) ?? []
  return index === undefined || Number(index) === 0 ? null : Number(index) - 1
}

export function hashOfTurn(index: number): string {
  return `turn-${index + 1}`
}

/** Copies a link to the open call or, if they are given, to a turn or a moment of it. */
export function useCopyLink() {
  const { project = '', call = '' } = useParams({ strict: false })
  return ({ turn, t }: { turn?: number; t?: number } = {}) => {
    const path = `/console/p/${project}/calls/${encodeURIComponent(call)}${stringifySearch({ t })}`
    const hash = turn === undefined ? '' : `#${hashOfTurn(turn)}`
    void copyAndSay(`${location.origin}${path}${hash}`, 'Link copied')
  }
}

/** What can be linked to of the open call: itself, and the turn and the moment that the address names. */
export function useCallLinks(): { label: string; copy: () => void }[] {
  const { call } = useParams({ strict: false })
  const { t } = readOpenTab(useSearch({ strict: false }))
  const turn = turnOfHash(useLocation({ select: ({ hash }) => hash }))
  const copyLink = useCopyLink()
  if (call === undefined) return []
  return [
    { label: 'Copy link to this call', copy: () => copyLink() },
    ...(turn === null ? [] : [{ label: `Copy link to turn ${turn + 1}`, copy: () => copyLink({ turn }) }]),
    ...(t === undefined ? [] : [{ label: `Copy link to ${asDuration(t)}`, copy: () => copyLink({ t }) }]),
  ]
}
