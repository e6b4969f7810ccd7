/** Creates and lifts freezes, with the same objects as `flotilla freeze`. */
import { parseTime } from '../../../src/core/time/time.ts'
import { subdomainProblems } from '../../../src/core/text/name-validation.ts'
import { parseSelector } from '../../../src/core/text/label-selector.ts'
import type { WindowObject } from '../../../src/plan/windows/window-rules.ts'
import { listPath, objectPath } from '../data/paths.ts'
import { timeText } from './action.ts'
import type { Action } from './action.ts'

/** What a person wrote for a freeze. */
export interface FreezeWish {
  readonly name: string
  /** RFC 3339; empty: not given yet. */
  readonly until: string
  /** Labels as in `-l`; empty: all clusters. */
  readonly selector: string
  /** Role that may use an exception; empty: none. */
  readonly role: string
}

/** The ClusterWindow of a wish; undefined while the wish is not complete. */
export function freezeOf(
  { name, until, selector, role }: FreezeWish,
  { nowMs, reason }: { readonly nowMs: number; readonly reason: string },
): (WindowObject & { readonly apiVersion: string; readonly kind: string }) | undefined {
  const untilMs = parseTime(until)
  const requirements = requirementsIn(selector)
  if (name === '' || untilMs === undefined || requirements === undefined) return undefined
  return {
    apiVersion: 'flotilla.dev/v1alpha1',
    kind: 'ClusterWindow',
    metadata: { name },
    spec: {
      mode: 'Freeze',
      times: [{ from: timeText(nowMs), until: timeText(untilMs) }],
      reason,
      ...(requirements.length > 0 && { clusterSelector: { matchExpressions: requirements } }),
      ...(role !== '' && {
        exceptions: [
          {
            name: `role-${role}`.replaceAll(/[^A-Za-z0-9-]+/g, '-').slice(0, 63),
            subjects: [{ kind: 'Role', name: role }],
          },
        ],
      }),
    },
  }
}

type Requirements = NonNullable<NonNullable<WindowObject['spec']['clusterSelector']>['matchExpressions']>

/** Undefined for a selector that cannot be read. */
function requirementsIn(selector: string): Requirements | undefined {
  if (selector.trim() === '') return []
  try {
    return parseSelector(selector)
  } catch {
    return undefined
  }
}

function problemOf({ name, until, selector }: FreezeWish, nowMs: number): string | undefined {
  if (name === '') return 'Give the freeze a name.'
  const [nameProblem] = subdomainProblems(name)
  if (nameProblem !== undefined) return `The name is not valid: ${nameProblem}.`
  const untilMs = parseTime(until)
  if (untilMs === undefined) return 'Say when the freeze ends.'
  if (untilMs <= nowMs) return 'The end is in the past.'
  if (requirementsIn(selector) === undefined) return 'The labels are not valid: write them as tier=store,region!=north.'
  return undefined
}

/** Freezes clusters from now on. */
export function freezeAction(
  wish: FreezeWish,
  { nowMs, count }: { readonly nowMs: number; readonly count: number },
): Action {
  const { name, until, selector, role } = wish
  const flags = [
    `--until ${until === '' ? 'TIME' : until}`,
    ...(selector.trim() === '' ? [] : [`-l '${selector.trim().replaceAll("'", "'\\''")}'`]),
    ...(role === '' ? [] : [`--except '${`role=${role}`.replaceAll("'", "'\\''")}'`]),
  ]
  return {
    title: 'Freeze…',
    look: 'plain',
    effect: `No change starts on ${count} ${count === 1 ? 'cluster' : 'clusters'} until the end. Changes that were started finish.`,
    command: `flotilla freeze create ${name === '' ? 'NAME' : name} ${flags.join(' ')}`,
    right: { verb: 'create', resource: 'clusterwindows' },
    problem: problemOf(wish, nowMs),
    asks: 'requiredReason',
    change: ({ reason, nowMs: atMs }) => ({
      path: `${listPath('clusterwindows')}?fieldManager=flotilla-console`,
      method: 'POST',
      body: freezeOf(wish, { nowMs: atMs, reason: reason.trim() }),
    }),
  }
}

/** Lifts a freeze, or deletes a maintenance window. */
export function liftAction(
  { metadata: { name, namespace, uid }, spec }: WindowObject & { readonly metadata: { readonly uid?: string } },
  count: number,
): Action {
  const plural = namespace === undefined ? 'clusterwindows' : 'windows'
  const isFreeze = spec.mode === 'Freeze'
  const kind = namespace === undefined ? 'clusterwindow' : 'window'
  const where = namespace === undefined ? '' : ` -n ${namespace}`
  return {
    title: isFreeze ? 'Lift' : 'Delete',
    look: 'danger',
    effect: isFreeze
      ? `Changes that wait for freeze "${name}" start on up to ${count} ${count === 1 ? 'cluster' : 'clusters'}. Other windows and freezes still apply.`
      : `Window "${name}" no longer limits when changes start on up to ${count} ${count === 1 ? 'cluster' : 'clusters'}.`,
    command: isFreeze ? `flotilla freeze lift ${name}${where}` : `flotilla delete ${kind} ${name}${where}`,
    right: { verb: 'delete', resource: plural, namespace, name },
    asks: 'reason',
    change: () => ({
      path: objectPath(plural, name, namespace),
      method: 'DELETE',
      body: { apiVersion: 'v1', kind: 'DeleteOptions', ...(uid && { preconditions: { uid } }) },
    }),
  }
}
