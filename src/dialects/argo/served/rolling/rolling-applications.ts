// Tested by src/dialects/argo/served/rolling/rolling-sync.sim.test.ts
/** The Applications of a set with RollingSync, as far as the hub has delivered them. */
import { digestOfJson } from '../../../../core/crypto/digest.ts'
import { findCondition } from '../../../../core/conditions.ts'
import { Bundle } from '../../../../kinds/native/bundle.ts'
import type { Application, ApplicationSet } from '../../kinds.ts'
import { rollingStrategy, turnOf } from '../../sync/rolling-sync.ts'
import type { RollingApplication, RollingStrategy, Turn } from '../../sync/rolling-sync.ts'
import { STARTED } from '../ports.ts'
import type { ArgoPorts } from '../ports.ts'

/** Label of a Bundle with the digest of the spec of its Application: an older one delivers an older spec. */
export const SPEC_LABEL = 'argocd.argoproj.io/spec'

/** A set with RollingSync. */
export interface RollingSet {
  readonly set: ApplicationSet
  readonly strategy: RollingStrategy
}

type RollingPorts = Pick<ArgoPorts, 'applicationsOf' | 'madeFor' | 'sourceOf' | 'rolloutOf' | 'setFor'>

const digests = new WeakMap<object, string>()

/** The value of the label. */
export function specKey({ spec }: Pick<Application, 'spec'>): string {
  const known = digests.get(spec) ?? digestOfJson(spec).slice(7, 47)
  digests.set(spec, known)
  return known
}

/** The set of an Application, if it has RollingSync. */
export function rollingSetOf(app: Application, ports: Pick<RollingPorts, 'setFor'>): RollingSet | undefined {
  const set = ports.setFor(app)
  const strategy = set && rollingStrategy(set.spec)
  return strategy && { set, strategy }
}

/** What an Application has of its newest content. */
export function rollingApplication(
  app: Application,
  ports: RollingPorts,
  isStarting: (name: string) => boolean = () => false,
): RollingApplication {
  const { name, namespace = '', uid = '', labels = {} } = app.metadata
  const key = specKey(app)
  const bundles = ports.madeFor(uid).flatMap(({ kind, object }) => (kind === Bundle ? [object as Bundle] : []))
  const isDone = ({ metadata, status, spec }: Bundle): boolean => {
    const ready = findCondition(status?.conditions, 'Ready')
    const artifact = ports.sourceOf(namespace, spec.source?.name ?? '')?.status?.artifact
    return (
      metadata.labels?.[SPEC_LABEL] === key &&
      status?.observedGeneration === metadata.generation &&
      status?.artifact === artifact?.digest &&
      ready?.status === 'True' &&
      ready.reason === 'RolledOut'
    )
  }
  if (bundles.length > 0 && bundles.every(isDone)) return { name, labels, state: 'Done' }
  const isStarted = (bundle: Bundle): boolean => {
    const rollout = ports.rolloutOf(bundle)
    if (!rollout || isDone(bundle)) return false
    return !rollout.spec.paused || rollout.metadata.annotations?.[STARTED] !== undefined
  }
  return { name, labels, state: isStarting(name) || bundles.some(isStarted) ? 'Started' : 'Waiting' }
}

/** Gives turns to Applications; a turn that was given counts before the caches show it. */
export function createTurns(ports: RollingPorts): (app: Application, rolling: RollingSet, rollout: string) => Turn {
  const given = new Map<string, Map<string, string>>()
  return (app, { set, strategy }, rollout) => {
    const { uid = '' } = set.metadata
    const own = given.get(uid) ?? new Map<string, string>()
    given.set(uid, own)
    const all = ports.applicationsOf(uid).filter(({ metadata }) => !metadata.deletionTimestamp)
    const names = new Set(all.map(({ metadata }) => metadata.name))
    for (const name of own.keys()) if (!names.has(name)) own.delete(name)
    const isWritten = findCondition(set.status?.conditions, 'ResourcesUpToDate') !== undefined
    if (!isWritten) return { isOpen: false, message: 'The ApplicationSet has not made all of its Applications yet' }
    const others = lazily(all, (one) => {
      const waiting = own.get(one.metadata.name)
      const state = rollingApplication(one, ports, (name) => isPending(one, own.get(name), ports))
      if (waiting !== undefined && state.state !== 'Started') own.delete(one.metadata.name)
      return state
    })
    const turn = turnOf({ name: app.metadata.name, labels: app.metadata.labels ?? {} }, others, strategy)
    if (turn.isOpen) own.set(app.metadata.name, rollout)
    return turn
  }
}

/** Whether a given turn is not in the caches yet: the Rollout still waits there. */
function isPending({ metadata }: Application, rollout: string | undefined, ports: RollingPorts): boolean {
  if (rollout === undefined) return false
  return ports.madeFor(metadata.uid ?? '').some(({ kind, object }) => {
    const found = kind === Bundle ? ports.rolloutOf(object as Bundle) : undefined
    return found?.metadata.name === rollout && found.spec.paused && found.metadata.annotations?.[STARTED] === undefined
  })
}

function* lazily<T, U>(items: Iterable<T>, map: (item: T) => U): Generator<U> {
  for (const item of items) yield map(item)
}
