/** Prints windows and freezes. */
import { settleAll } from '../../core/async/settle-all.ts'
import type { Client } from '../../client/client.ts'
import { timeWithDistance } from './print-time.ts'
import type { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import type { Window } from '../../kinds/native/window.ts'
import { spanAt } from '../../plan/windows/window.ts'
import { compileWindow } from '../../plan/windows/window-rules.ts'
import { readIfAllowed } from '../api/read-if-allowed.ts'
import { CLUSTER_WINDOWS, listAll, WINDOWS } from '../api/flotilla-resources.ts'

/** Windows and freezes, with the kinds that the caller may not list. */
export interface ListedWindows {
  readonly windows: readonly (Window | ClusterWindow)[]
  readonly refused: readonly string[]
}

/** All windows, or the windows of a namespace. */
export async function listWindows(client: Pick<Client, 'list'>, namespace?: string): Promise<ListedWindows> {
  const own = readIfAllowed<Window | ClusterWindow>(
    'windows',
    listAll(client, WINDOWS, namespace === undefined ? {} : { namespace }),
  )
  const lists =
    namespace === undefined
      ? await settleAll([
          readIfAllowed<Window | ClusterWindow>('clusterwindows', listAll(client, CLUSTER_WINDOWS)),
          own,
        ])
      : [await own]
  return {
    windows: lists.flatMap(({ items }) => items),
    refused: lists.flatMap(({ refused }) => refused ?? []),
  }
}

/** The state of a window now, in its own zone or UTC, with its place in a list. */
export function windowStateText(
  object: Window | ClusterWindow,
  nowMs: number,
): { readonly text: string; readonly order: number; readonly isIn: boolean; readonly nextMs?: number } {
  const { spans } = compileWindow(object)
  const states = spans.map((span) => spanAt(span, object.spec.zone ?? 'UTC', nowMs))
  const within = states.flatMap((state) => (state.isIn ? [state.untilMs] : []))
  if (within.length > 0) {
    const until = Math.max(...within)
    return { text: `active until ${timeWithDistance(until, nowMs)}`, order: 0, isIn: true }
  }
  const nexts = states.flatMap((state) => (!state.isIn && state.nextMs !== undefined ? [state.nextMs] : []))
  if (nexts.length === 0) return { text: 'over', order: Infinity, isIn: false }
  const next = Math.min(...nexts)
  return { text: `from ${timeWithDistance(next, nowMs)}`, order: next, isIn: false, nextMs: next }
}

/** The exceptions: `role=incident-commander`. */
export function exceptionsText({ spec }: Window | ClusterWindow): string {
  return (spec.exceptions ?? [])
    .flatMap(({ subjects = [], bundles = [], releases = [] }) => [
      ...subjects.map(({ kind, name }) => `${kind.toLowerCase()}=${name}`),
      ...bundles.map((name) => `bundle=${name}`),
      ...releases.map((name) => `release=${name}`),
    ])
    .join(' ')
}
