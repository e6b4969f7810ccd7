/** Actions on a cluster, with the same writes as `flotilla cluster`. */
import type { Cluster } from '../../../src/kinds/native/cluster.ts'
import { objectPath } from '../data/paths.ts'
import { mergePatch, timeText } from './action.ts'
import type { Action } from './action.ts'

/** Accepts a cluster that waits. */
export function acceptAction(name: string): Action {
  return {
    title: 'Accept',
    look: 'main',
    effect: 'The agent of the cluster gets a certificate at its next request, and the cluster receives its bundles.',
    command: `flotilla cluster accept ${name}`,
    right: { verb: 'accept', resource: 'clusters', name },
    asks: 'reason',
    change: () => mergePatch(objectPath('clusters', name), { spec: { accepted: true, refused: null } }),
  }
}

/** Rejects a cluster that waits. */
export function rejectAction(name: string): Action {
  return {
    title: 'Reject',
    look: 'danger',
    effect: 'The hub no longer accepts the key of the cluster. The name stays in use until the Cluster is deleted.',
    command: `flotilla cluster reject ${name}`,
    right: { verb: 'patch', resource: 'clusters', name },
    asks: 'reason',
    change: ({ reason, nowMs }) => {
      const text = reason.trim()
      const refused = { verdict: 'Rejected', at: timeText(nowMs), ...(text !== '' && { reason: text }) }
      return mergePatch(objectPath('clusters', name), { spec: { accepted: false, refused } })
    },
  }
}

const STOPS = {
  hold: {
    title: 'Hold',
    back: 'Release',
    undo: 'release',
    effect: 'No change starts on the cluster. Its bundles continue to run, and drift is repaired.',
    undone: 'Changes that wait for the cluster start.',
  },
  cordon: {
    title: 'Cordon',
    back: 'Uncordon',
    undo: 'uncordon',
    effect: 'No change starts on the cluster, and Placements do not select it anew. Its bundles continue to run.',
    undone: 'Changes that wait for the cluster start, and Placements may select it.',
  },
} as const

/** The actions of a cluster as it is now. */
export function clusterActions({ metadata: { name }, spec }: Cluster): readonly Action[] {
  if (spec.refused) return []
  if (!spec.accepted) return [acceptAction(name), rejectAction(name)]
  return (['hold', 'cordon'] as const).map((field) => (spec[field] ? release(name, field) : stop(name, field)))
}

function stop(name: string, field: keyof typeof STOPS): Action {
  const { title, effect } = STOPS[field]
  return {
    title,
    look: 'plain',
    effect,
    command: `flotilla cluster ${field} ${name}`,
    right: { verb: 'patch', resource: 'clusters', name },
    asks: 'requiredReason',
    change: ({ username, reason, nowMs }) =>
      mergePatch(objectPath('clusters', name), {
        spec: { [field]: { reason: reason.trim(), since: timeText(nowMs), by: username } },
      }),
  }
}

function release(name: string, field: keyof typeof STOPS): Action {
  const { back, undo, undone } = STOPS[field]
  return {
    title: back,
    look: 'main',
    effect: undone,
    command: `flotilla cluster ${undo} ${name}`,
    right: { verb: 'patch', resource: 'clusters', name },
    asks: 'none',
    change: () => mergePatch(objectPath('clusters', name), { spec: { [field]: null } }),
  }
}
