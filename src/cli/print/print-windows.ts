/** Prints windows and freezes. */
import type { Client } from '../../client/client.ts'
import { isApiError } from '../../core/errors.ts'
import { timeWithDistance } from './print-time.ts'
import type { ClusterWindow } from '../../kinds/native/cluster-window.ts'
import type { Window } from '../../kinds/native/window.ts'
import { spanAt } from '../../plan/windows/window.ts'
import { compileWindow } from '../../plan/windows/window-rules.ts'
import { CLUSTER_WINDOWS, listAll, WINDOWS } from '../api/flotilla-resources.ts'

/** All windows, or the windows of a namespace. A caller who may not list windows sees none. */
export async function listWindows(
  client: Pick<Client, 'list'>,
  namespace?: string,
): Promise<(Window | ClusterWindow)[]> {
  const quietly = async <T>(list: Promise<T[]>): Promise<T[]> => {
    try {
      return await list
    } catch (caught) {
      if (isApiError(caught, 'NotFound') || isApiError(caught, 'Forbidden')) return []
      throw caught
    }
  }
  const own = quietly(listAll(client, WINDOWS, namespace === undefined ? {} : { namespace }))
  if (namespace !== undefined) return await own
  const clusterWide = quietly(listAll(client, CLUSTER_WINDOWS))
  return [...(await clusterWide), ...(await own)]
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
