/** Actions on what waits for a person: changes that a guard stopped, marks on releases, sources. */
import { ALLOW_DROP_ANNOTATION } from '../../../src/kinds/native/placement.ts'
import type { Bundle } from '../../../src/kinds/native/bundle.ts'
import type { Placement } from '../../../src/kinds/native/placement.ts'
import type { Release } from '../../../src/kinds/native/release.ts'
import type { Source } from '../../../src/kinds/native/source.ts'
import { objectPath } from '../data/paths.ts'
import { mergePatch, timeText } from './action.ts'
import type { Action } from './action.ts'

/** Lets exactly the change through that the guard stopped; undefined if none waits. */
export function releaseChangeAction(
  kind: 'placement' | 'bundle',
  { metadata: { name, namespace = 'default' }, status }: Placement | Bundle,
): Action | undefined {
  const held = status?.held
  if (!held) return undefined
  const plural = `${kind}s`
  return {
    title: 'Release…',
    look: 'danger',
    effect: held.message ?? 'The change that the guard stopped goes through, ring by ring.',
    command: `flotilla guard release ${kind} ${name} -n ${namespace}`,
    right: { verb: 'patch', resource: plural, namespace, name },
    asks: 'reason',
    typed: name,
    // The token is that of this change: a later change waits again.
    change: () =>
      mergePatch(objectPath(plural, name, namespace), {
        metadata: { annotations: { [ALLOW_DROP_ANNOTATION]: held.token } },
      }),
  }
}

/** Lifts the mark of a release that was rolled back; undefined if the release has none for the bundle. */
export function liftMarkAction(release: Release, bundle: string): Action | undefined {
  const { name, namespace = 'default', resourceVersion } = release.metadata
  const marks = release.status?.bad ?? []
  if (marks.every((mark) => mark.bundle !== bundle)) return undefined
  const rest = marks.filter((mark) => mark.bundle !== bundle)
  const path = objectPath('releases', name, namespace)
  return {
    title: 'Lift the mark…',
    look: 'plain',
    effect: `The content of release ${name} can be rolled out again: the hub starts a rollout of ${bundle} if it is still the newest.`,
    command: `flotilla release lift ${name} -n ${namespace} --bundle ${bundle}`,
    right: { verb: 'patch', resource: 'releases/status', namespace, name },
    asks: 'reason',
    change: () => mergePatch(`${path}/status`, { metadata: { resourceVersion }, status: { bad: rest } }),
    again: { path, of: (latest: Release) => liftMarkAction(latest, bundle) },
  }
}

/** Accepts the revision of a held source, or fetches the source again. */
export function sourceAction(source: Source): Action {
  const { name, namespace = 'default', resourceVersion } = source.metadata
  const path = objectPath('sources', name, namespace)
  const right = { verb: 'patch', resource: 'sources', namespace, name }
  const { held, artifact } = source.status ?? {}
  if (held) {
    return {
      title: 'Accept…',
      look: 'danger',
      effect: `Revision ${held.revision} does not descend from ${artifact?.revision ?? 'an earlier revision'}. Its bundles change to it, ring by ring.`,
      command: `flotilla source accept ${name} -n ${namespace}`,
      right,
      asks: 'reason',
      typed: name,
      // The resourceVersion makes sure that exactly the shown revision is accepted.
      change: () => mergePatch(path, { metadata: { resourceVersion }, spec: { accept: held.accept } }),
    }
  }
  return {
    title: 'Fetch now',
    look: 'plain',
    effect: 'The hub fetches the source now, without waiting for its interval.',
    command: `flotilla source poll ${name} -n ${namespace}`,
    right,
    asks: 'reason',
    change: ({ nowMs }) =>
      mergePatch(path, { metadata: { annotations: { 'flotilla.dev/poll': `console ${timeText(nowMs)} ${nowMs}` } } }),
  }
}
