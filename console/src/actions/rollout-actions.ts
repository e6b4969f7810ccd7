/** Actions on a rollout, with the same writes as `flotilla rollout`, `retry` and `rollback`. */
import type { Rollout } from '../../../src/kinds/native/rollout.ts'
import { objectPath, listPath } from '../data/paths.ts'
import { mergePatch, timeText } from './action.ts'
import type { Action, Asking, Change } from './action.ts'

/** Annotation with the reason of the last pause, resume or abort. */
const REASON = 'flotilla.dev/reason'
const MAX_ACTS = 100

type Ring = Rollout['spec']['rings'][number]
type Act = NonNullable<Rollout['spec']['acts']>[number]

interface Place {
  readonly name: string
  readonly namespace: string
  readonly path: string
}

function placeOf({ metadata: { name, namespace = 'default' } }: Rollout): Place {
  return { name, namespace, path: objectPath('rollouts', name, namespace) }
}

function onRollout({ namespace, name }: Place): Action['right'] {
  return { verb: 'patch', resource: 'rollouts', namespace, name }
}

/** The resourceVersion makes the API refuse a change of an object that changed since it was read. */
function specPatch(rollout: Rollout, spec: object, { reason }: Asking): Change {
  const { resourceVersion } = rollout.metadata
  const annotations = { [REASON]: reason.trim() === '' ? null : reason.trim() }
  return mergePatch(placeOf(rollout).path, { metadata: { resourceVersion, annotations }, spec })
}

/** The actions of a rollout as it is now. */
export function rolloutActions(rollout: Rollout): readonly Action[] {
  const phase = rollout.status?.phase ?? 'Pending'
  const isOver = phase === 'Superseded' || phase === 'Aborted'
  if (isOver) return []
  const failed = rollout.status?.counts?.failed ?? 0
  return [
    ...(rollout.spec.paused ? [resume(rollout)] : phase === 'Completed' ? [] : [pause(rollout)]),
    ...(failed > 0 && phase !== 'Completed' ? [retry(rollout, failed)] : []),
    ...(phase === 'Completed' ? [] : [abort(rollout)]),
  ]
}

function pause(rollout: Rollout): Action {
  const place = placeOf(rollout)
  return {
    title: 'Pause',
    look: 'plain',
    effect: 'No further clusters are admitted. Clusters that were already admitted continue.',
    command: `flotilla rollout pause ${place.name} -n ${place.namespace}`,
    right: onRollout(place),
    asks: 'reason',
    change: (asking) => specPatch(rollout, { paused: true }, asking),
    again: { path: place.path, of: pause },
  }
}

function resume(rollout: Rollout): Action {
  const place = placeOf(rollout)
  return {
    title: 'Resume',
    look: 'main',
    effect: 'The rollout admits clusters again, within the budgets of its rings.',
    command: `flotilla rollout resume ${place.name} -n ${place.namespace}`,
    right: onRollout(place),
    asks: 'reason',
    change: (asking) => {
      const startedBy = [...new Set([...(rollout.spec.startedBy ?? []), asking.username])]
      return specPatch(rollout, { paused: false, startedBy }, asking)
    },
    again: { path: place.path, of: resume },
  }
}

function abort(rollout: Rollout): Action {
  const place = placeOf(rollout)
  const { ready = 0, total = 0 } = rollout.status?.counts ?? {}
  return {
    title: 'Abort…',
    look: 'danger',
    effect: `The rollout ends and cannot be resumed. ${ready} of ${total} clusters have the release and keep it.`,
    command: `flotilla rollout abort ${place.name} -n ${place.namespace}`,
    right: onRollout(place),
    asks: 'reason',
    typed: place.name,
    change: (asking) => specPatch(rollout, { aborted: true }, asking),
    again: { path: place.path, of: abort },
  }
}

function retry(rollout: Rollout, failed: number): Action {
  const place = placeOf(rollout)
  return {
    title: 'Retry',
    look: 'main',
    effect: `${failed} failed ${failed === 1 ? 'cluster is' : 'clusters are'} admitted again, within the budgets of the rings.`,
    command: `flotilla retry ${place.name} -n ${place.namespace}`,
    right: onRollout(place),
    asks: 'reason',
    change: (asking) => actPatch(rollout, { verb: 'Retry' }, asking),
    again: { path: place.path, of: (latest: Rollout) => retry(latest, failed) },
  }
}

/** What is rolled back; all clusters if neither is given. */
export type RollBackScope = Pick<Act, 'ring' | 'clusters'>

/** The action that rolls a rollout back; the caller shows its plan first. */
export function rollBackAction(
  rollout: Rollout,
  effect: string,
  { problem, scope = {} }: { readonly problem: string | undefined; readonly scope?: RollBackScope },
): Action {
  const place = placeOf(rollout)
  const flags = [
    ...(scope.ring === undefined ? [] : [`--ring ${scope.ring}`]),
    ...(scope.clusters ?? []).map((name) => `--cluster ${name}`),
  ]
  return {
    title: 'Roll back…',
    look: 'danger',
    effect,
    command: [`flotilla rollback ${place.name} -n ${place.namespace}`, ...flags].join(' '),
    right: onRollout(place),
    problem,
    asks: 'reason',
    change: (asking) => actPatch(rollout, { verb: 'RollBack', ...scope }, asking),
    again: { path: place.path, of: (latest: Rollout) => rollBackAction(latest, effect, { problem, scope }) },
  }
}

function actPatch(
  rollout: Rollout,
  act: Pick<Act, 'verb'> & RollBackScope,
  { username, reason, nowMs }: Asking,
): Change {
  const acts = rollout.spec.acts ?? []
  const n = Math.max(0, ...acts.map((one) => one.n)) + 1
  const text = reason.trim()
  const one: Act = { n, by: username, at: timeText(nowMs), ...act, ...(text !== '' && { reason: text }) }
  const { resourceVersion } = rollout.metadata
  return mergePatch(placeOf(rollout).path, {
    metadata: { resourceVersion },
    spec: { acts: [...acts, one].slice(-MAX_ACTS) },
  })
}

/** The ring that waits for an approval; undefined if none does. */
export function ringToApprove({ spec, status }: Rollout): Ring | undefined {
  const isOpen = ({ name }: Ring) => status?.rings?.find((ring) => ring.name === name)?.openedAt !== undefined
  return spec.rings.find((ring) => ring.approvals !== undefined && !isOpen(ring))
}

/** Whether a rollout waits for an approval now. */
export function waitsForApproval({ status }: Rollout): boolean {
  const held = status?.conditions?.find(({ type, status: is }) => type === 'Held' && is !== 'Unknown')
  return held?.reason === 'ApprovalPending' || held?.reason === 'ApprovalRejected'
}

/** Why an approval of this user would not count; undefined if it counts. */
function uncounted(rollout: Rollout, { approvals }: Ring, { username, groups }: Omit<Asking, 'reason' | 'nowMs'>) {
  if (approvals?.groups && !approvals.groups.some((group) => groups.includes(group))) {
    return `The ring needs an approval by a member of group ${approvals.groups.join(' or ')}.`
  }
  if (approvals?.noSelfApproval && rollout.spec.startedBy?.includes(username)) {
    return 'You started the rollout, and the ring needs an approval by another user.'
  }
  return undefined
}

/** Approves or rejects a ring, as `flotilla rollout approve` does. */
export function approvalAction(
  rollout: Rollout,
  ring: Ring,
  decision: 'Approve' | 'Reject',
  user: Omit<Asking, 'reason' | 'nowMs'>,
): Action {
  const { name, namespace } = placeOf(rollout)
  const isReject = decision === 'Reject'
  return {
    title: decision,
    look: isReject ? 'danger' : 'main',
    effect: isReject
      ? `Ring "${ring.name}" stays closed until the rejection is deleted.`
      : `Ring "${ring.name}" opens once enough people approved it. An approval cannot be withdrawn.`,
    command: `flotilla rollout approve ${name} -n ${namespace} --ring ${ring.name}${isReject ? ' --reject' : ''}`,
    right: { verb: 'create', resource: 'approvals', namespace },
    problem: isReject ? undefined : uncounted(rollout, ring, user),
    asks: 'reason',
    change: ({ username, groups, reason }) => {
      const speaksFor = (ring.approvals?.groups ?? []).filter((group) => groups.includes(group))
      const { uid } = rollout.metadata
      return {
        path: `${listPath('approvals', { namespace })}?fieldManager=flotilla-console`,
        method: 'POST',
        body: {
          apiVersion: 'flotilla.dev/v1alpha1',
          kind: 'Approval',
          metadata: {
            generateName: `${name}-${ring.name}-`,
            namespace,
            ...(uid && { ownerReferences: [{ apiVersion: rollout.apiVersion, kind: 'Rollout', name, uid }] }),
          },
          spec: {
            rollout: name,
            ...(rollout.spec.plan !== undefined && { plan: rollout.spec.plan }),
            ring: ring.name,
            decision,
            ...(reason.trim() !== '' && { reason: reason.trim() }),
            author: username,
            ...(speaksFor.length > 0 && { groups: speaksFor }),
          },
        },
      }
    },
  }
}
