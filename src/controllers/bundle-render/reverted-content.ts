/** Content that was rolled back: the marks on Releases, and the condition Reverted of the Bundle. */
import type { Draft } from '../../engine/reconciler.ts'
import type { Bundle } from '../../kinds/native/bundle.ts'
import { keyOf } from '../../kinds/meta.ts'
import type { Release } from '../../kinds/native/release.ts'
import type { BadRevision } from '../../plan/release/bad-revisions.ts'
import { existingOf } from '../../plan/release/decide-release.ts'
import type { BundleRenderPorts } from './ports.ts'

/** The mark of a Bundle on a Release. */
export function badRevisionsIn(release: Release, bundle: string): BadRevision[] {
  const mark = release.status?.bad?.find((one) => one.bundle === bundle)
  return mark ? [{ release: existingOf(release, bundle), clusters: mark.clusters }] : []
}

/** Whether a Release is still marked bad for a Bundle. */
export function isMarkedBad(name: string, bundle: Bundle, ports: Pick<BundleRenderPorts, 'releasesOf'>): boolean {
  const release = ports.releasesOf(keyOf(bundle)).find(({ metadata }) => metadata.name === name)
  return release !== undefined && badRevisionsIn(release, bundle.metadata.name).length > 0
}

/** Shows who rolled the Bundle's content back, and how to lift the mark. */
export function showReverted({ conditions, next }: Draft<Bundle>, ports: Pick<BundleRenderPorts, 'releasesOf'>): void {
  const name = next.status?.reverted?.[0]
  const release = ports.releasesOf(keyOf(next)).find(({ metadata }) => metadata.name === name)
  const mark = release?.status?.bad?.find((one) => one.bundle === next.metadata.name)
  if (name === undefined || !mark) {
    conditions.remove('Reverted')
    return
  }
  const where = mark.clusters ? ` on ${mark.clusters.slice(0, 3).join(', ')}` : ''
  const why = mark.reason === undefined ? '.' : `: ${mark.reason.replace(/\.?$/, '.')}`
  const message = `Held back: release ${name} was rolled back${where} by ${mark.by}${why} The hub does not roll out its content again until it changes, or: flotilla release lift ${name} -n ${next.metadata.namespace}`
  conditions.set('Reverted', 'True', 'MarkedBad', message.slice(0, 4096))
}
