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
export function clusterActions({ metadata: { name, resourceVersion }, spec }: Cluster): readonly Action[] {
  if (spec.refused) return []
  if (!spec.accepted) return [acceptAction(name), rejectAction(name)]
  if (spec.decommission) return [stay(name, resourceVersion)]
  return (['hold', 'cordon'] as const).map((field) =>
    spec[field] ? releaseAction(name, field) : stopAction(name, field),
  )
}

const ENDINGS = {
  keep: {
    title: 'They stay, and the hub waits for the agent',
    effect: 'The objects of all bundles stay in the cluster. Then the access of the agent is revoked.',
    policy: 'Orphan',
    flags: '--orphan',
  },
  remove: {
    title: 'The agent removes them',
    effect:
      'The agent removes the objects of all bundles; namespaces, CRDs and volumes are kept unless the Bundle says otherwise. Then its access is revoked.',
    policy: 'Remove',
    flags: '--remove',
  },
  abandon: {
    title: 'They stay, and the hub does not wait for the agent',
    effect:
      'The access of the agent is revoked at once, and the status lists the objects that are left. An agent that returns keeps running what it has.',
    policy: 'Orphan',
    flags: '--orphan --force-unreachable',
  },
} as const

/** The ways to decommission a cluster as it is now; a cluster that is away can be given up without its agent. */
export function decommissionActions({ metadata: { name, resourceVersion }, spec, status }: Cluster): readonly Action[] {
  if (spec.refused || !spec.accepted || spec.decommission) return []
  const isAway = status?.conditions?.some(({ type, status: is }) => type === 'Available' && is === 'False') ?? false
  const waits = isAway ? ' The cluster is offline: the hub waits until it is back.' : ''
  return (['keep', 'remove', ...(isAway ? (['abandon'] as const) : [])] as const).map((ending) => {
    const { title, effect, policy, flags } = ENDINGS[ending]
    return {
      title,
      look: 'danger',
      effect: ending === 'abandon' ? effect : `${effect}${waits}`,
      command: `flotilla cluster decommission ${name} ${flags}`,
      right: { verb: 'patch', resource: 'clusters', name },
      asks: 'reason',
      typed: name,
      again: {
        path: objectPath('clusters', name),
        of: (latest: Cluster) => decommissionActions(latest).find((one) => one.title === title),
      },
      change: ({ reason, nowMs }) => {
        const text = reason.trim()
        const decommission = {
          policy,
          at: timeText(nowMs),
          ...(ending === 'abandon' && { forceUnreachable: true }),
          ...(text !== '' && { reason: text }),
        }
        return mergePatch(objectPath('clusters', name), { metadata: { resourceVersion }, spec: { decommission } })
      },
    }
  })
}

/** Refused when the cluster changed meanwhile: its access may be revoked already. */
function stay(name: string, resourceVersion: string | undefined): Action {
  return {
    title: 'Cancel the decommissioning',
    look: 'main',
    effect: 'The cluster stays. Placements select it again, and removed bundles are delivered again.',
    command: `flotilla cluster decommission ${name} --undo`,
    right: { verb: 'patch', resource: 'clusters', name },
    asks: 'none',
    change: () =>
      mergePatch(objectPath('clusters', name), { metadata: { resourceVersion }, spec: { decommission: null } }),
  }
}

/** Holds or cordons a cluster. */
export function stopAction(name: string, field: keyof typeof STOPS): Action {
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

/** Ends a hold or cordon. */
export function releaseAction(name: string, field: keyof typeof STOPS): Action {
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
