/** Actions on the drift of a bundle on a cluster, with the same Override as `flotilla drift accept` and `revert`. */
import { DRIFT_MANAGER, driftOverride } from '../../../src/plan/drift/drift-override.ts'
import type { DriftedBundle } from '../../../src/plan/drift/drift-override.ts'
import { objectPath } from '../data/paths.ts'
import { mergePatch, timeText } from './action.ts'
import type { Action } from './action.ts'

/** Revert and accept; an accept that no Override can express is off, and says why. */
export function driftActions(cluster: string, row: Pick<DriftedBundle, 'bundle' | 'drift'>): readonly Action[] {
  if ((row.drift ?? []).length === 0) return []
  return [decide('revert', cluster, row), decide('accept', cluster, row)]
}

const WORDS = {
  revert: {
    title: 'Revert',
    effect: 'The agent writes the fields as the hub delivered them, and corrects drift of these objects for 1 hour.',
  },
  accept: {
    title: 'Accept',
    effect:
      'The changed fields are left to the field managers that changed them, on this cluster, until the Override is deleted.',
  },
} as const

function decide(verb: keyof typeof WORDS, cluster: string, row: Pick<DriftedBundle, 'bundle' | 'drift'>): Action {
  const [namespace = '', bundle = ''] = row.bundle.split('/')
  const made = driftOverride(row, { verb, cluster, owner: '', reason: '', nowMs: 0 })
  const unnameable = 'unnameable' in made ? made.unnameable : undefined
  return {
    ...WORDS[verb],
    look: verb === 'revert' ? 'main' : 'plain',
    command: `flotilla drift ${verb} ${cluster} --bundle ${bundle}`,
    right: { verb: 'create', resource: 'overrides', namespace },
    problem:
      unnameable === undefined
        ? undefined
        : `The field ${unnameable} cannot be accepted: the object was deleted, or the name has blanks or commas.`,
    asks: 'requiredReason',
    change: ({ username, reason, nowMs }) => {
      const override = driftOverride(row, { verb, cluster, owner: username, reason: reason.trim(), nowMs })
      const name = 'metadata' in override ? override.metadata.name : ''
      return {
        path: `${objectPath('overrides', name, namespace)}?fieldManager=${DRIFT_MANAGER}&force=true`,
        method: 'PATCH',
        contentType: 'application/apply-patch+yaml',
        body: override,
      }
    },
  }
}

/** Asks the agent for the values of the drifted fields, sealed to a key of this browser. */
export function revealAction(
  cluster: string,
  bundle: string,
  { key, mayAsk }: { readonly key: string; readonly mayAsk: boolean },
): Action {
  const [namespace = ''] = bundle.split('/')
  return {
    title: 'Show values…',
    look: 'plain',
    effect:
      'The agent sends the delivered and the live values of the changed fields at its next contact. Only this browser can read them. Values of Secrets are never sent.',
    command: `flotilla drift show ${cluster} --bundle ${bundle} --values`,
    // Both rights are needed; the button names the first that is missing.
    right: mayAsk ? { verb: 'reveal', resource: 'bundlestates', namespace } : { verb: 'patch', resource: 'clusters' },
    asks: 'reason',
    change: ({ nowMs }) =>
      mergePatch(objectPath('clusters', cluster), { spec: { valuesAsked: { at: timeText(nowMs), bundle, key } } }),
  }
}
