/** Actions on the drift of a bundle on a cluster, with the same Override as `flotilla drift accept` and `revert`. */
import { DRIFT_MANAGER, driftOverride } from '../../../src/plan/drift/drift-override.ts'
import type { DriftedBundle } from '../../../src/plan/drift/drift-override.ts'
import { objectPath } from '../data/paths.ts'
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
